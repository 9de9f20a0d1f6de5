// What the page "start a run" requests: it is kept in the address, so that a reload or a link restores it.
import type { StartProblem } from "../../data/types";
import { numText } from "../../components/text/numberFormats";

export interface ChosenSet {
  path: string;
  cases: string[] | null;
}

export type Options = Record<string, unknown>;

/** The request as the API takes it (StartRun); values that are not stated are left out. */
export interface StartRequest {
  agent: string;
  eval_sets: ChosenSet[];
  failed_of?: string;
  /** The run whose options apply that have no field here. */
  options_of?: string | undefined;
  tags?: string[];
  limit?: number;
  config?: string;
  criteria?: Record<string, Options>;
  judge?: string;
  no_judge?: boolean;
  allow_unasserted?: boolean;
  allow_unknown_keys?: boolean;
  warnings_as_errors?: boolean;
  num_runs?: number;
  concurrency?: number;
  timeout?: number;
  retry_errors?: number;
  max_cost?: number;
  max_judge_calls?: number;
  max_tokens?: number;
  max_time?: number;
  max_failures?: number;
}

export const EMPTY: StartRequest = { agent: "", eval_sets: [] };

/** The request in the address, or an empty one and why the address has none. */
export function readStartRequest(query: URLSearchParams): { request: StartRequest; problem: string | null } {
  const failed = query.get("failed_of");
  const base: StartRequest = failed ? { ...EMPTY, failed_of: failed } : EMPTY;
  const ask = query.get("ask");
  if (!ask) return { request: base, problem: null };
  const fields = parseJson(ask);
  const problems = isObject(fields) ? fieldProblems(fields) : [`expected a JSON object, got ${startOf(ask)}`];
  if (problems.length === 0) return { request: { ...base, ...(fields as Partial<StartRequest>) }, problem: null };
  return { request: base, problem: `The request in this address is invalid: ${problems.join("; ")}. Proctor ignores it: fill in the form, or correct the address.` };
}

type Check = readonly [expected: string, holds: (value: unknown) => boolean];

const isText = (value: unknown): boolean => typeof value === "string";
const isObject = (value: unknown): value is Options => typeof value === "object" && value !== null && !Array.isArray(value);
const isListOf = (holds: Check[1]) => (value: unknown): boolean => Array.isArray(value) && value.every(holds);
const isSet = (value: unknown): boolean => isObject(value) && isText(value["path"]) && (value["cases"] === null || isListOf(isText)(value["cases"]));

const TEXT: Check = ["a text", isText];
const TEXTS: Check = ["a list of texts", isListOf(isText)];
const YES: Check = ["true or false", (value) => typeof value === "boolean"];
const NUMBER: Check = ["a number", (value) => typeof value === "number" || isText(value)]; // its field shows what is wrong with a text
const SETS: Check = ['a list of {"path": …, "cases": null or ids}', isListOf(isSet)];
const CRITERIA: Check = ["an object with the options of each metric", (value) => isObject(value) && Object.values(value).every(isObject)];

/** What a field of the request may be; `metrics` has no field in the form, but a repeated run may have it. */
const FIELDS: Record<Exclude<keyof StartRequest, NumberName> | "metrics", Check> = {
  agent: TEXT,
  eval_sets: SETS,
  failed_of: TEXT,
  options_of: TEXT,
  tags: TEXTS,
  config: TEXT,
  criteria: CRITERIA,
  metrics: TEXTS,
  judge: TEXT,
  no_judge: YES,
  allow_unasserted: YES,
  allow_unknown_keys: YES,
  warnings_as_errors: YES,
};

function fieldProblems(fields: Options): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const check = Object.hasOwn(NUMBERS, name) ? NUMBER : Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof typeof FIELDS] : null;
    if (check === null) return [`unknown field ${startOf(name)}`];
    const [expected, holds] = check;
    return holds(value) ? [] : [`${name}: expected ${expected}, got ${startOf(JSON.stringify(value))}`];
  });
}

function startOf(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The request that repeats a run: only what may be one. */
export function readRepeated(request: Record<string, unknown>): StartRequest {
  return { ...EMPTY, ...(request as Partial<StartRequest>) };
}

/** The form with this request. */
export function startAddress(request: StartRequest): string {
  return `/start?ask=${encodeURIComponent(writeStartRequest(request) ?? "")}`;
}

/** What is run, in words: the cases, the trials and the criteria. */
export function requestText({ eval_sets, failed_of, num_runs, config, criteria, judge }: StartRequest): string {
  const sets = eval_sets.map(({ path, cases }) => (cases === null ? `all cases of ${path}` : cases.length === 1 ? `case ${cases[0]} of ${path}` : `${numText(cases.length)} cases of ${path}`));
  const parts = [
    failed_of && !sets.length ? `the cases that did not pass in run ${failed_of.slice(0, 6)}` : sets.join(", "),
    num_runs ? `${num_runs} ${num_runs === 1 ? "trial" : "trials"} per case` : "",
    criteria ? `metrics: ${Object.keys(criteria).join(", ")}` : config ? `criteria: ${config}` : "",
    judge ? `judge ${judge}` : "",
  ];
  const text = parts.filter(Boolean).join(" · ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The request for the address; empty by default. */
export function writeStartRequest(request: StartRequest): string | null {
  const entries = Object.entries(request).filter(([, value]) => !isEmpty(value));
  return entries.length ? JSON.stringify(Object.fromEntries(entries)) : null;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "" || value === false || (Array.isArray(value) && value.length === 0);
}

/** The range of the whole numbers, as the server takes them; null: a number above 0. */
const NUMBERS = {
  limit: [1, 1_000_000],
  num_runs: [1, 1_000_000],
  concurrency: [1, 1_000],
  timeout: null,
  retry_errors: [0, 100],
  max_cost: null,
  max_judge_calls: [1, 1_000_000],
  max_tokens: [1, 1_000_000_000],
  max_time: null,
  max_failures: [1, 1_000_000],
} satisfies Partial<Record<keyof StartRequest, [least: number, most: number] | null>>;
export type NumberName = keyof typeof NUMBERS;

export function isWhole(name: NumberName): boolean {
  return NUMBERS[name] !== null;
}

/** What a numeric field must be, if its value is not; null if it is. */
export function numberProblem(request: StartRequest, name: NumberName): string | null {
  const value: unknown = request[name];
  if (value === undefined || value === null || value === "") return null;
  const number = typeof value === "number" ? value : NaN;
  const range = NUMBERS[name];
  if (!range) return number > 0 && number < Infinity ? null : "A number above 0";
  const [least, most] = range;
  return Number.isInteger(number) && number >= least && number <= most ? null : `A whole number from ${least} to ${numText(most)}`;
}

/** The names of the numeric fields whose value is not valid: an error is shown at each, and the value is not sent. */
export function invalidNumbers(request: StartRequest): string[] {
  return (Object.keys(NUMBERS) as NumberName[]).filter((name) => numberProblem(request, name) !== null);
}

/** The body of the request: a criterion with only a threshold is that number, as in a config. */
export function requestBody(request: StartRequest): unknown {
  const { criteria, ...rest } = request;
  const wrong = invalidNumbers(request);
  const isSent = ([name, value]: [string, unknown]) => name === "eval_sets" || name === "agent" || (!isEmpty(value) && !wrong.includes(name));
  const sent = Object.fromEntries(Object.entries(rest).filter(isSent));
  return criteria ? { ...sent, criteria: Object.fromEntries(Object.entries(criteria).map(([name, options]) => [name, criterion(options)])) } : sent;
}

function criterion(options: Options): unknown {
  const values = Object.entries(options).filter(([, value]) => value !== undefined && value !== "");
  const [only] = values;
  return values.length === 1 && only?.[0] === "threshold" ? only[1] : Object.fromEntries(values);
}

/** Whether enough is stated to request an estimate. */
export function isComplete(request: StartRequest): boolean {
  return request.agent !== "" && (request.eval_sets.length > 0 || Boolean(request.failed_of));
}

export function problemsOf(problems: readonly StartProblem[], ...fields: string[]): string | null {
  const messages = problems.filter(({ field, metric }) => fields.includes(field) && !metric).map(({ message }) => message);
  return messages.length ? messages.join("\n") : null;
}

export function problemsOfMetric(problems: readonly StartProblem[], name: string): string | null {
  const messages = problems.filter(({ metric }) => metric === name).map(({ message }) => message);
  return messages.length ? messages.join("\n") : null;
}

/** All that is wrong, out of an answer of the server. */
export function problemsIn(document: unknown): StartProblem[] {
  const found = (document as { problems?: unknown } | null)?.problems;
  return Array.isArray(found) ? (found as StartProblem[]) : [];
}

// --- what an option may be -------------------------------------------------------------------------------------------

interface Shape {
  kind: "yes" | "number" | "choice" | "text" | "texts" | "json";
  choices?: readonly string[];
  whole?: boolean;
}

type Schema = Record<string, unknown>;

/** How an option is filled in, by its JSON Schema; other values are written as JSON. */
export function shapeOf(schema: Schema): Shape {
  const parts = ((schema["anyOf"] as Schema[] | undefined) ?? [schema]).filter(({ type }) => type !== "null");
  const [only] = parts;
  if (parts.length !== 1 || !only) return { kind: "json" };
  if (Array.isArray(only["enum"])) return { kind: "choice", choices: only["enum"].map(String) };
  if (only["const"] !== undefined) return { kind: "choice", choices: [String(only["const"])] };
  const items = only["items"] as Schema | undefined;
  switch (only["type"]) {
    case "boolean":
      return { kind: "yes" };
    case "number":
      return { kind: "number" };
    case "integer":
      return { kind: "number", whole: true };
    case "string":
      return { kind: "text" };
    case "array":
      return items?.["type"] === "string" && !items["enum"] ? { kind: "texts" } : { kind: "json" };
    default:
      return { kind: "json" };
  }
}

/** The typed number; undefined for an empty or invalid text. */
export function parseNumber(text: string): number | undefined {
  const value = Number(text);
  return text.trim() === "" || Number.isNaN(value) ? undefined : value;
}
