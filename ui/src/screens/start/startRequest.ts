// What the page "start a run" requests: it is kept in the address, so that a reload or a link restores it.
import type { StartProblem } from "../../data/types";

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

/** Read the address; what is not a run to be asked for is nothing. */
export function readStartRequest(query: URLSearchParams): StartRequest {
  const failed = query.get("failed_of");
  const base: StartRequest = failed ? { ...EMPTY, failed_of: failed } : EMPTY;
  try {
    const found: unknown = JSON.parse(query.get("ask") ?? "null");
    return found !== null && typeof found === "object" && !Array.isArray(found) ? { ...base, ...(found as Partial<StartRequest>) } : base;
  } catch {
    return base;
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
  const sets = eval_sets.map(({ path, cases }) => (cases === null ? `all cases of ${path}` : cases.length === 1 ? `case ${cases[0]} of ${path}` : `${cases.length} cases of ${path}`));
  const parts = [
    failed_of && !sets.length ? `the cases that did not pass in run ${failed_of.slice(0, 6)}` : sets.join(", "),
    num_runs ? `${num_runs} ${num_runs === 1 ? "trial" : "trials"} per case` : "",
    criteria ? `metrics: ${Object.keys(criteria).join(", ")}` : config ? `config ${config}` : "",
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

const WHOLE = ["limit", "num_runs", "concurrency", "retry_errors", "max_judge_calls", "max_tokens", "max_failures"];
const ABOVE_0 = ["timeout", "max_cost", "max_time"];

/** The names of the numeric fields whose value is not valid: an error is shown at each, and the value is not sent. */
export function invalidNumbers(request: StartRequest): string[] {
  const values = request as unknown as Record<string, unknown>;
  const isSet = (name: string) => values[name] !== undefined && values[name] !== null && values[name] !== "";
  const whole = WHOLE.filter((name) => isSet(name) && !(Number.isInteger(values[name]) && Number(values[name]) >= (name === "retry_errors" ? 0 : 1)));
  const above = ABOVE_0.filter((name) => isSet(name) && !(typeof values[name] === "number" && Number.isFinite(values[name]) && values[name] > 0));
  return [...whole, ...above];
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
