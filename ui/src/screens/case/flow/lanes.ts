// Where the calls of a turn are in a picture of two lanes: expected left, actual right, what belongs together on one line if it can.
import type { StepPart, TurnPart } from "../../../data/types";
import { mdCode, mdTable, mdText } from "../../../components/text/markdown";
import { safeText } from "../../../components/text/safeText";

export const ROW = 54; // pixels from one call to the next
const RULE = 18; // more for each line of a rule that a call breaks
const MOST_LINES = 3;
const LETTER = 7; // pixels that a letter of a rule takes, about
const SIGN = 8; // letters before a rule
const GAP = 8; // pixels between two calls

/** One call in a lane. */
export interface LaneCall {
  /** Its step in the turn. */
  step: number;
  tool: string;
  args: string;
  kind: StepPart["kind"];
  broken: readonly string[];
  /** Pixels from the top of the lanes. */
  top: number;
  height: number;
}

/** A line between an expected and an actual call, from centre to centre. */
export interface LaneLink {
  step: number;
  kind: NonNullable<StepPart["kind"]>;
  from: number;
  to: number;
}

interface Lanes {
  expected: LaneCall[];
  actual: LaneCall[];
  links: LaneLink[];
  height: number;
}

/** Whether no call of a turn has an expected one: the actual side is then alone. */
export function isLone({ steps }: Pick<TurnPart, "steps">): boolean {
  return steps.every(({ expected }) => expected === null);
}

/** The lanes of a turn; `width`: pixels of one lane. */
export function lanesOf({ steps }: Pick<TurnPart, "steps">, width: number): Lanes {
  const rulesHeight = (rules: readonly string[]) => rules.reduce((sum, rule) => sum + RULE * linesOf(rule, width), 0);
  const expected = laneOrder(steps, "expected_call", ({ expected }) => expected !== null);
  const actual = laneOrder(steps, "call", ({ actual }) => actual !== null);
  const rows = rowsOf(steps, expected, actual);
  const heights = new Map<number, number>();
  for (const step of actual) heights.set(rows.actual.get(step) ?? 0, ROW + rulesHeight(steps[step]?.broken ?? []));
  const tops: number[] = [0];
  for (let row = 0; row < rows.count; row += 1) tops.push((tops[row] ?? 0) + (heights.get(row) ?? ROW));
  const place = (step: number, side: "expected" | "actual"): LaneCall => {
    const row = rows[side].get(step) ?? 0;
    const { kind = null, broken = [], ...part } = steps[step] ?? ({} as Partial<StepPart>);
    const own = side === "actual" ? broken : [];
    return { step, kind, broken: own, ...callText(part[side] ?? null), top: tops[row] ?? 0, height: ROW - GAP + rulesHeight(own) };
  };
  const lanes = { expected: expected.map((step) => place(step, "expected")), actual: actual.map((step) => place(step, "actual")) };
  return { ...lanes, links: linksOf(lanes), height: Math.max(0, (tops[rows.count] ?? 0) - GAP) };
}

function linesOf(rule: string, width: number): number {
  return Math.min(MOST_LINES, Math.ceil(((rule.length + SIGN) * LETTER) / Math.max(1, width)));
}

/** The steps of one side in the order of its calls; if a position is unknown, in the order of the steps. */
function laneOrder(steps: readonly StepPart[], position: "call" | "expected_call", has: (step: StepPart) => boolean): number[] {
  const own = steps.map((_, index) => index).filter((index) => has(steps[index] as StepPart));
  const at = (index: number) => steps[index]?.[position] ?? null;
  return own.some((index) => at(index) === null) ? own : own.sort((one, other) => (at(one) ?? 0) - (at(other) ?? 0));
}

interface Rows {
  expected: Map<number, number>;
  actual: Map<number, number>;
  count: number;
}

/** The row of each call: a pair that is in order has one row, and what is between two pairs comes before the second. */
function rowsOf(steps: readonly StepPart[], expected: readonly number[], actual: readonly number[]): Rows {
  const rows: Rows = { expected: new Map(), actual: new Map(), count: 0 };
  let [left, right] = [0, 0];
  const fill = (lane: readonly number[], from: number, to: number, target: Map<number, number>) => {
    for (let index = from; index < to; index += 1) target.set(lane[index] as number, rows.count + index - from);
    return to - from;
  };
  const step = (toLeft: number, toRight: number) => {
    const depth = Math.max(fill(expected, left, toLeft, rows.expected), fill(actual, right, toRight, rows.actual));
    rows.count += depth;
    [left, right] = [toLeft, toRight];
  };
  actual.forEach((one, at) => {
    const partner = expected.indexOf(one);
    if (partner < left || steps[one]?.kind === "moved") return;
    step(partner, at);
    step(partner + 1, at + 1);
  });
  step(expected.length, actual.length);
  return rows;
}

function linksOf({ expected, actual }: Pick<Lanes, "expected" | "actual">): LaneLink[] {
  const middle = ({ top }: LaneCall) => top + (ROW - GAP) / 2;
  return actual.flatMap((call) => {
    const partner = expected.find(({ step }) => step === call.step);
    return partner && call.kind ? [{ step: call.step, kind: call.kind, from: middle(partner), to: middle(call) }] : [];
  });
}

/** `book_table(covers=2)` in its parts. */
function callText(marked: StepPart["actual"]): { tool: string; args: string } {
  const text = (marked?.pieces ?? []).map((piece) => piece.text).join("");
  const at = text.indexOf("(");
  return at < 0 ? { tool: text, args: "" } : { tool: text.slice(0, at), args: text.slice(at) };
}

const RELATIONS = { same: "as expected", differs: "other arguments", missing: "missing", extra: "not expected", moved: "in another order", allowed: "allowed" } as const;

/** How the two sides of a step relate, in words. */
export function relationText(kind: StepPart["kind"]): string {
  return kind === null ? "" : RELATIONS[kind];
}

/** What the lanes of a turn show, in one line: `2 as expected, 1 missing; 1 rule broken`. */
export function flowText({ steps }: Pick<TurnPart, "steps">): string {
  const kinds = Object.keys(RELATIONS) as NonNullable<StepPart["kind"]>[];
  const counts = kinds.map((kind) => [steps.filter((step) => step.kind === kind).length, RELATIONS[kind]] as const);
  const free = steps.filter(({ kind }) => kind === null).length;
  const rules = new Set(steps.flatMap(({ broken }) => broken)).size;
  const parts = [...counts.filter(([count]) => count).map(([count, words]) => `${count} ${words}`), ...(free ? [`${free} ${free === 1 ? "call" : "calls"}`] : [])];
  return [parts.join(", "), rules ? `${rules} ${rules === 1 ? "rule" : "rules"} broken` : ""].filter(Boolean).join("; ");
}

/** The calls of all turns as a table to copy. */
export function flowMarkdown(turns: readonly TurnPart[]): string {
  const code = (marked: StepPart["actual"]) => (marked ? mdCode(safeText(marked.pieces.map(({ text }) => text).join(""))) : "");
  const rows = turns.flatMap((turn) =>
    turn.steps.map((step) => [String(turn.index + 1), code(step.expected), relationText(step.kind), code(step.actual), mdText(safeText(step.broken.join("; ")))]),
  );
  return `${mdTable(["Turn", "Expected", "Relation", "Actual", "Broken rule"], rows, [0])}\n`;
}
