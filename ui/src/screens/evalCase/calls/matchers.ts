// A value or its matcher: the value itself, or a matcher (`{"$match": kind, …}`). The kinds and their options
// are those of the server (`matchers.json`; a test holds the two against each other).
import { ExactNumber, type Json, type JsonObject, isObject, isEqual } from "../editing/exactJson";
import KINDS from "./matchers.json";

/** How an option is written; a list: one of these words. */
export type Form = "any" | "text" | "number" | "flag" | "texts" | "values" | readonly string[];

export const MATCH = "$match";
export const OPTIONS: Readonly<Record<string, Readonly<Record<string, Form>>>> = KINDS as Record<string, Record<string, Form>>;

/** What each kind takes, in words. */
export const KIND_WORDS: Readonly<Record<string, string>> = {
  exact: "equal, as JSON",
  ignore: "anything, or nothing",
  present: "any value that is there",
  subset: "this, and possibly more",
  regex: "a text with a pattern in it",
  number: "approximately this number",
  set: "this list in any order",
  text: "this text, ignoring case and spaces",
  date: "this date or time, however written",
  one_of: "one of several",
  json: "equal, as strict or parsed JSON",
};

export const OPTION_WORDS: Readonly<Record<string, string>> = {
  value: "Value",
  pattern: "Pattern (Python’s re)",
  full: "The whole text has to match",
  ignore_case: "Upper and lower case are the same",
  tolerance: "Absolute tolerance",
  relative: "Relative tolerance (0.01 is 1 %)",
  read_text: "A text such as \"5\" counts as its number",
  repeats: "Each equally often",
  spaces: "White space",
  part: "Only the date, or the time",
  within: "Maximum difference in seconds",
  timezone: "Time zone of texts without one",
  formats: "Formats, such as %d.%m.%Y",
  values: "Values",
  strict: "1 and 1.0 differ",
  parse: "A text that holds JSON counts as its value",
};

/** The kind that a value names: empty for a plain value; it may be an unknown kind. */
export function kindOf(value: Json | undefined): string {
  if (!isObject(value) || !Object.hasOwn(value, MATCH)) return "";
  const kind = value[MATCH];
  return typeof kind === "string" ? kind : "?";
}

/** Whether a value contains a matcher, at any depth. */
export function containsMatcher(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some(containsMatcher);
  return isObject(value) && (Object.hasOwn(value, MATCH) || Object.values(value).some(containsMatcher));
}

/** The same expectation in another kind (empty: as a plain value): what was stated goes along, and so do keys that no kind knows. */
export function convertKind(value: Json | undefined, kind: string): Json {
  if (kind === kindOf(value)) return value ?? null;
  const stated = expectedValue(value);
  if (kind === "") return stated;
  const others = kindOf(value) !== "" && isObject(value) ? Object.entries(value).filter(([key]) => key !== MATCH && !ANY_OPTION.has(key)) : [];
  return { [MATCH]: kind, ...initialOptions(kind, stated), ...(Object.fromEntries(others) as JsonObject) };
}

/** The expectation in other kinds, until the user changes the converted one. */
export interface KindHistory {
  now: Json;
  were: ReadonlyMap<string, Json>;
}

/** An expectation in another kind, or its previous form in that kind: switching kinds and back loses nothing. */
export function switchKind(value: Json | undefined, kind: string, left: KindHistory | null, from = kindOf(value), make = convertKind): KindHistory {
  const were = new Map(left && isEqual(left.now, value) ? left.were : []);
  if (value !== undefined) were.set(from, value);
  return { now: were.has(kind) ? (were.get(kind) ?? null) : make(value, kind), were };
}

const ANY_OPTION = new Set(Object.values(OPTIONS).flatMap((options) => Object.keys(options)));

/** The expected value, if the matcher has one. */
function expectedValue(value: Json | undefined): Json {
  if (kindOf(value) === "" || !isObject(value)) return value === undefined ? "" : value;
  if (Object.hasOwn(value, "value")) return value.value ?? null;
  if (Array.isArray(value.values)) return value.values[0] ?? "";
  return typeof value.pattern === "string" ? value.pattern.replace(/\\([.*+?^${}()|[\]\\])/g, "$1") : "";
}

function initialOptions(kind: string, stated: Json): JsonObject {
  switch (kind) {
    case "regex":
      return { pattern: textIn(stated).replace(/[.*+?^${}()|[\]\\]/g, "\\$&") };
    case "number":
      return { value: typeof stated === "number" || stated instanceof ExactNumber ? stated : 0, tolerance: 0.1 };
    case "set":
      return { value: Array.isArray(stated) ? stated : [stated] };
    case "one_of":
      return { values: [stated] };
    case "text":
    case "date":
      return { value: textIn(stated) };
    default:
      return Object.hasOwn(OPTIONS[kind] ?? {}, "value") ? { value: stated } : {};
  }
}

function textIn(stated: Json): string {
  return typeof stated === "string" ? stated : stated instanceof ExactNumber ? stated.text : typeof stated === "number" ? String(stated) : "";
}
