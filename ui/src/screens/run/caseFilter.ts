// The language that cases are filtered by: `outcome:failed,error or flaky`, `changed:worse`, `trajectory<0.8`, `tag:x`, words.
import { codeParts } from "../../components/text/markdown";
import type { CaseRow } from "../../data/types";
import { scoreOf } from "./columns/metricScore";

/** What there is to filter by in one run. */
export interface FilterTerms {
  metrics: readonly string[];
  sets: readonly string[];
  tags: readonly string[];
  tools?: readonly string[];
  /** In the messages; undefined: there is no server to search them. */
  said?: Search | undefined;
  /** In the complete reasons; undefined: the rows have them, or there is no server. */
  reasons?: Search | undefined;
}

/** What a server found for the texts of a filter. */
export interface Search {
  /** By text (in small letters) the positions of the cases that contain it, as far as it was searched. */
  positions: ReadonlyMap<string, ReadonlySet<number>>;
  /** Why nothing was searched; empty: it was, or is being searched. */
  failure: string;
}

export interface Filter {
  /** Whether a case matches the filter; a filter with a problem matches every case. */
  takes: (row: CaseRow) => boolean;
  /** What cannot be read: what came, and what was expected. Empty when all is well. */
  problem: string;
}

type Test = (row: CaseRow) => boolean;

const ALL: Test = () => true;
const OUTCOMES = ["passed", "failed", "error", "inconclusive", "not_run", "skipped"];
export const CHANGES = ["worse", "missing", "better", "no_longer_in_error", "within_noise"];
const FLAGS: Record<string, Test> = {
  flaky: (row) => row.flaky,
  changed: (row) => row.change !== null,
  ...Object.fromEntries(CHANGES.map((change): [string, Test] => [change, (row) => row.change === change])),
  played: (row) => row.played,
  new: (row) => row.was === null,
};
const NUMBERS: Record<string, (row: CaseRow) => number | null> = {
  cost: (row) => row.cost,
  seconds: (row) => row.seconds,
  tokens: (row) => row.tokens,
  trials: (row) => row.strip.length,
  passed: (row) => (row.strip ? row.strip.split("p").length - 1 : null),
};
const FIELDS = ["outcome", "changed", "was", "tag", "tool", "said", "set", "case", "why", "cause", "missed", "error"];
const COMPARE: Record<string, (one: number, other: number) => boolean> = {
  "<": (one, other) => one < other,
  "<=": (one, other) => one <= other,
  ">": (one, other) => one > other,
  ">=": (one, other) => one >= other,
  "=": (one, other) => one === other,
  "!=": (one, other) => one !== other,
};

class FilterError extends Error {}

/** Read a filter. It is never a program: reading takes time linear in its length. */
export function readFilter(text: string, words: FilterTerms): Filter {
  try {
    const reader = new Reader(tokens(text), words);
    return { takes: reader.all(), problem: "" };
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return { takes: ALL, problem: error.message };
  }
}

// --- words -----------------------------------------------------------------------------------------------------------

interface Token {
  kind: "word" | "text" | "(" | ")";
  text: string;
  /** The value behind the colon is in quotation marks: a comma in it separates nothing. */
  quoted?: true;
}

const TOKEN = /\s*(?:([()])|([\w.-]*:)?"([^"\\]*(?:\\.[^"\\]*)*)("?)|([^\s()"]+))/sy;

/** A value as it is written in a filter: in quotes if it must be, where a backslash is before a quote and a backslash. */
export function filterValue(text: string): string {
  return /[\s()",]/.test(text) ? `"${text.replace(/["\\]/g, "\\$&")}"` : text;
}

export function tokens(text: string): Token[] {
  const result: Token[] = [];
  const rest = text.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < rest.length) {
    const at = TOKEN.exec(rest);
    if (!at) throw new FilterError(`cannot read ${rest}.`);
    const [, bracket, key, quoted, closing, word] = at;
    if (bracket) result.push({ kind: bracket as "(" | ")", text: bracket });
    else if (quoted !== undefined) {
      if (!closing) throw new FilterError(`a quotation mark is open: ${at[0].trim()}.`);
      const value = quoted.replace(/\\(["\\])/g, "$1");
      result.push(key ? { kind: "word", text: `${key}${value}`, quoted: true } : { kind: "text", text: value });
    } else result.push({ kind: "word", text: word ?? "" });
  }
  return result;
}

// --- or, and, not, brackets ------------------------------------------------------------------------------------------

const DEEPEST = 50;

class Reader {
  private at = 0;
  private depth = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly words: FilterTerms,
  ) {}

  all(): Test {
    if (!this.tokens.length) return ALL;
    const found = this.either();
    if (this.at < this.tokens.length) throw new FilterError("a bracket is closed that was not opened.");
    return found;
  }

  private either(): Test {
    const parts = [this.both()];
    while (this.acceptWord("or")) parts.push(this.both());
    return parts.length === 1 ? (parts[0] ?? ALL) : (row) => parts.some((part) => part(row));
  }

  private both(): Test {
    const parts: Test[] = [];
    do {
      this.acceptWord("and");
      parts.push(this.one());
    } while (this.at < this.tokens.length && !this.isWord("or") && this.tokens[this.at]?.kind !== ")");
    return parts.length === 1 ? (parts[0] ?? ALL) : (row) => parts.every((part) => part(row));
  }

  private one(): Test {
    const token = this.tokens[this.at];
    if (!token || token.kind === ")" || this.isWord("or")) throw new FilterError(this.missing());
    this.at += 1;
    if (token.kind === "(") return this.inBrackets();
    if (token.kind === "text") return containsText(token.text);
    if (token.text.toLowerCase() === "not") return not(this.deeper(() => this.one()));
    if (token.text.startsWith("-") && token.text.length > 1) return not(atom({ ...token, text: token.text.slice(1) }, this.words));
    return atom(token, this.words);
  }

  private inBrackets(): Test {
    const found = this.deeper(() => this.either());
    if (this.tokens[this.at]?.kind !== ")") throw new FilterError("a bracket is open: close it with ).");
    this.at += 1;
    return found;
  }

  private deeper(read: () => Test): Test {
    this.depth += 1;
    if (this.depth > DEEPEST) throw new FilterError(`more than ${DEEPEST} brackets in one another.`);
    const found = read();
    this.depth -= 1;
    return found;
  }

  private missing(): string {
    const before = this.tokens[this.at - 1]?.text;
    return before ? `something is missing after ${before}.` : "something is missing before or.";
  }

  private isWord(word: string): boolean {
    const token = this.tokens[this.at];
    return token?.kind === "word" && token.text.toLowerCase() === word;
  }

  private acceptWord(word: string): boolean {
    const is = this.isWord(word);
    if (is) this.at += 1;
    return is;
  }
}

const not =
  (test: Test): Test =>
  (row) =>
    !test(row);

// --- one condition ---------------------------------------------------------------------------------------------------

const COMPARISON = /^([^<>=!:]+)(<=|>=|!=|<|>|=)(.*)$/;

function atom(token: Token, words: FilterTerms): Test {
  const { text } = token;
  const compared = COMPARISON.exec(text);
  if (compared) return comparison(compared[1] ?? "", compared[2] ?? "", compared[3] ?? "", words);
  const colon = text.indexOf(":");
  if (colon > 0) return field(text.slice(0, colon).toLowerCase(), text.slice(colon + 1), token, words);
  return FLAGS[text.toLowerCase()] ?? containsText(text);
}

function comparison(name: string, sign: string, value: string, words: FilterTerms): Test {
  const compare = COMPARE[sign];
  const limit = numberOf(value);
  if (!compare || limit === null) {
    throw new FilterError(`${name}${sign} takes a number, as in ${name}${sign}0.8${value ? `, and not ${value}` : ""}.`);
  }
  const read = NUMBERS[name.toLowerCase()] ?? scoreNamed(name, words.metrics);
  return (row) => {
    const found = read(row);
    return found !== null && compare(found, limit);
  };
}

function numberOf(text: string): number | null {
  const number = text.replace(/^\$/, "");
  return /^-?(\d+\.?\d*|\.\d+)(e-?\d+)?$/i.test(number) ? Number(number) : null;
}

/** A metric by its name, or by a part that only one has. */
function scoreNamed(name: string, metrics: readonly string[]): (row: CaseRow) => number | null {
  const low = name.toLowerCase();
  const exact = metrics.find((one) => one.toLowerCase() === low);
  const near = exact ? [exact] : metrics.filter((one) => one.toLowerCase().includes(low));
  const [metric, ...others] = near;
  if (metric === undefined) throw new FilterError(`no metric ${name}${suggestion(name, [...metrics, ...Object.keys(NUMBERS)])}`);
  if (others.length) throw new FilterError(`${name} may be ${near.join(" or ")}: write more of its name.`);
  return (row) => scoreOf(row, metric) ?? null;
}

function field(key: string, value: string, { text, quoted }: Token, words: FilterTerms): Test {
  const values = quoted || WHOLE.has(key) ? [value].filter(Boolean) : value.split(",").filter(Boolean);
  if (!FIELDS.includes(key)) throw new FilterError(`no field ${key}${suggestion(key, FIELDS)} For the words themselves, write "${text}".`);
  if (!values.length) throw new FilterError(`${key}: takes a value, as in ${key}:${EXAMPLES[key] ?? "x"}.`);
  switch (key) {
    case "outcome":
      return oneOf(values, OUTCOMES, key, (row) => row.outcome);
    case "was":
      return oneOf(values, OUTCOMES, key, (row) => row.was);
    case "changed":
      return oneOf(values, CHANGES, key, (row) => row.change);
    case "tag":
      return (row) => row.tags.some((tag) => values.includes(tag));
    case "tool":
      return (row) => row.tools.some((tool) => values.some((part) => holds(tool, part)));
    case "said":
      return isSaid(value, words);
    case "cause":
      return hasCause(value, words);
    case "set":
      return (row) => values.some((part) => holds(row.eval_set_id, part));
    case "case":
      return (row) => values.some((part) => holds(row.eval_id, part));
    case "error":
      return (row) => row.errors.some((metric) => values.some((part) => holds(metric, part)));
    case "missed":
      return (row) => row.missed.some((metric) => values.some((part) => holds(metric, part)));
    default:
      return (row) => values.some((part) => holds(searchText(row.why), part));
  }
}

const WHOLE = new Set(["said", "cause"]); // fields whose value is one text, with its commas

/** Cases by a text of their messages: the server searches, and until it has answered every case matches. */
function isSaid(text: string, { said }: FilterTerms): Test {
  if (!said) throw new FilterError("said: needs a server: start proctor web.");
  if (said.failure) throw new FilterError(said.failure);
  const positions = said.positions.get(text.toLowerCase());
  return positions ? (row) => positions.has(row.position) : ALL;
}

/** Cases by a text of their cause, which leaves out what differs from case to case, or of their reason. */
function hasCause(text: string, { reasons }: FilterTerms): Test {
  if (reasons?.failure) throw new FilterError(reasons.failure);
  const positions = reasons?.positions.get(text.toLowerCase());
  return (row) => positions?.has(row.position) || [row.cause, row.why].some((sentence) => holds(searchText(sentence), text));
}

/** Whether a row has only the beginning of its reason. */
export function isReasonCut({ why }: CaseRow): boolean {
  return /…[ `]*$/.test(why);
}

const NEEDS_EVIDENCE = /tag|tool|cost/; // columns that the rows get later

/** Whether a filter or an order needs what is read from the evidence of the cases. */
export function needsEvidence(text: string, sort: string): boolean {
  return NEEDS_EVIDENCE.test(`${text} ${sort}`);
}

const MOST_SEARCHED = 5; // texts that a server searches at once
const SEARCHED = { said: "messages", cause: "complete reasons" } as const;
export type SearchedField = keyof typeof SEARCHED;

/** Why the texts of a field were not searched; empty if they can be. */
export function searchFailure(field: SearchedField, texts: readonly string[], error: { message: string } | null): string {
  if (texts.length > MOST_SEARCHED) return `${field}: at most ${MOST_SEARCHED} texts are searched at once, and not ${texts.length}.`;
  return error ? `${field}: the ${SEARCHED[field]} were not searched: ${error.message.replace(/[.\s]*$/, "")}.` : "";
}

/** The texts that a filter looks for in messages or reasons. */
export function searchedTexts(field: SearchedField, filter: string): string[] {
  try {
    const value = new RegExp(`^-?${field}:(.+)`, "is");
    const texts = tokens(filter).flatMap(({ kind, text }) => (kind === "word" ? (value.exec(text)?.[1]?.toLowerCase() ?? []) : []));
    return [...new Set(texts)];
  } catch {
    return []; // a quotation mark is open: it is still being typed
  }
}

const EXAMPLES: Record<string, string> = { outcome: "failed,error", changed: "worse", was: "passed", missed: "response", error: "response", tool: "get_order", said: "refund", cause: "get_order" };

function oneOf(values: readonly string[], known: readonly string[], key: string, read: (row: CaseRow) => string | null): Test {
  const names = values.map((one) => one.toLowerCase().replace("-", "_"));
  const unknown = names.find((one) => !known.includes(one));
  if (unknown !== undefined) throw new FilterError(`${key}: no ${unknown}${suggestion(unknown, known)} There is: ${known.join(", ")}.`);
  return (row) => names.includes(read(row) ?? "");
}

const searchTexts = new WeakMap<CaseRow, string>();

/** Words look at what a row shows: set, case and reason. */
function containsText(text: string): Test {
  const values = text.toLowerCase();
  return (row) => {
    let shown = searchTexts.get(row);
    if (shown === undefined) {
      shown = `${row.eval_set_id}/${row.eval_id}\n${searchText(row.why)}`.toLowerCase();
      searchTexts.set(row, shown);
    }
    return shown.includes(values);
  };
}

/** A sentence to search: as it is stored, and as it is shown, without its code marks. */
function searchText(sentence: string): string {
  return sentence.includes("`") ? `${sentence}\n${codeParts(sentence).join("")}` : sentence;
}

function holds(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

// --- suggestions for misspelt words ---------------------------------------------------------------------------------------

function suggestion(word: string, known: readonly string[]): string {
  const near = known.map((one): [number, string] => [distance(word.toLowerCase(), one.toLowerCase()), one]).sort(([a], [b]) => a - b)[0];
  return near && near[0] <= Math.max(1, Math.floor(word.length / 3)) ? `: did you mean ${near[1]}?` : ".";
}

/** How many letters apart two words are (Levenshtein); of long words only the beginning counts. */
export function distance(one: string, other: string): number {
  const [a, b] = [one.slice(0, 40), other.slice(0, 40)];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + same));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

const MOST_OFFERED = 6;

/** What the word that is being typed may become: whole filters to press. */
export function suggestions(text: string, words: FilterTerms): string[] {
  const last = /[^\s()]*$/.exec(text)?.[0] ?? "";
  if (!last || last.includes('"')) return [];
  const before = text.slice(0, text.length - last.length);
  const low = last.toLowerCase();
  const made = candidates(words).filter((one) => bare(one).startsWith(low) && bare(one) !== low);
  return made.slice(0, MOST_OFFERED).map((one) => before + one);
}

function candidates({ metrics, sets, tags, tools = [] }: FilterTerms): string[] {
  return [
    ...OUTCOMES.map((one) => `outcome:${one}`),
    ...CHANGES.map((one) => `changed:${one}`),
    ...Object.keys(FLAGS),
    ...OUTCOMES.map((one) => `was:${one}`),
    ...tags.map((one) => `tag:${filterValue(one)}`),
    ...tools.map((one) => `tool:${filterValue(one)}`),
    ...(sets.length > 1 ? sets.map((one) => `set:${filterValue(one)}`) : []),
    ...metrics.map((one) => `missed:${one}`),
    ...metrics.map((one) => `error:${one}`),
    ...metrics.map((one) => `${one}<`),
    ...Object.keys(NUMBERS).map((one) => `${one}>`),
  ];
}

function bare(text: string): string {
  return text.toLowerCase().replaceAll('"', "");
}

// --- the order in which cases are worth looking at -------------------------------------------------------------------

const RANKS: Record<string, number> = { failed: 1, error: 2, inconclusive: 3, passed: 6, skipped: 7, not_run: 8 };

/** What changed comes first: regressions (those that fail first) and missing verdicts, then failures, then what could not be scored, then flaky, then the rest. */
export function rank(row: CaseRow): number {
  const outcome = RANKS[row.outcome] ?? 9;
  if (row.change === "worse") return outcome - 10; // before every other
  if (row.change === "missing") return 0;
  if (row.outcome === "passed" && row.flaky) return 4;
  if (row.change === "better") return 5;
  return outcome;
}

/** The cases in the order of their ranks; of one rank, those with the lowest share of passed trials first. */
export function sortWorstFirst(rows: readonly CaseRow[]): CaseRow[] {
  const ranked = rows.map((row): [number, number, CaseRow] => [rank(row), passedShare(row.strip), row]);
  return ranked.sort(([rank1, share1, a], [rank2, share2, b]) => rank1 - rank2 || share1 - share2 || a.position - b.position).map(([, , row]) => row);
}

function passedShare(strip: string): number {
  return strip.length > 1 ? [...strip].filter((letter) => letter === "p").length / strip.length : 0;
}

/** Whether a row is worth a stop on the way through the table. */
export function needsAttention(row: CaseRow): boolean {
  return rank(row) < 5;
}
