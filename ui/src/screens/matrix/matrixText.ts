import type { MatrixCell, MatrixHead, MatrixPage, MatrixRow } from "../../data/types";
import { mdCode, mdTable, mdText } from "../../components/text/markdown";
import { type Expense, expenseOf } from "./paretoFront";
import { outcomeWord } from "../../components/charts/Outcome";
import { afterComma, unreadText } from "../runs/runColumns";
import { countText, numText, percentText, scoreText } from "../../components/text/numberFormats";

/** `12 of 40 cases differ.` */
export function summary({ rows, different, runs }: MatrixPage): string {
  const cases = countText(rows.length, "case");
  if (runs.length < 2) return `${cases}. Add a run to compare it with.`;
  if (!different) return rows.length === 1 ? "The case has the same outcome in every run." : `All ${cases} have the same outcome in every run.`;
  return `${numText(different)} of ${cases} ${different === 1 ? "differs" : "differ"}.`;
}

const UNKNOWN_EXPENSES: Readonly<Record<Expense, string>> = {
  cost: "cost of a trial unknown (the agent reports no usage, or a model has no price)",
  seconds: "duration of a turn unknown",
  tokens: "tokens of a turn unknown (the agent reports no usage)",
};

/** The runs that the picture of quality and expense leaves out, with their cases passed, and why; empty: none. */
export function unplacedText(runs: readonly MatrixHead[], expense: Expense): string {
  const unknown = runs.filter((run) => expenseOf(run, expense) === null);
  const unscored = runs.filter((run) => expenseOf(run, expense) !== null && run.passed.rate === null);
  const parts = [partText(UNKNOWN_EXPENSES[expense], unknown), partText("cases were not run", unscored)].filter(Boolean);
  return parts.length ? `Left out, ${parts.join("; ")}.` : "";
}

function partText(reason: string, runs: readonly MatrixHead[]): string {
  const names = runs.map(({ agent, short, passed }) => `${agent} ${short} (${numText(passed.count)} of ${numText(passed.of)}${afterComma(unreadText(passed.unread_sets))})`);
  return names.length ? `${reason}: ${names.join(", ")}` : "";
}

/** The names in the address, without empty ones and without repeats. */
export function readRunNames(runs: string | null): string[] {
  return [...new Set((runs ?? "").split(",").map((name) => name.trim()).filter(Boolean))];
}

/** The reason without `metric 0.39 < 0.8: `, which the row and the cell show. */
export function whyText(why: string, metric: string): string {
  const rest = why.startsWith(`${metric} `) ? /^[\d.]+ < [\d.]+: (.+)$/s.exec(why.slice(metric.length + 1))?.[1] : undefined;
  return rest ?? why;
}

export function rowMatcher(text: string, onlyDifferent: boolean): (row: MatrixRow) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (row) => {
    if (onlyDifferent && !row.differs) return false;
    const searched = `${row.eval_set_id}/${row.eval_id} ${row.cells.map((cell) => cell?.why ?? "").join(" ")}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  };
}

/** `3 of 4 (75 %)`, or `3 of 3, 1 set could not be run`. */
function passedText({ count, of, rate, unread_sets }: MatrixHead["passed"]): string {
  return `${numText(count)} of ${numText(of)}${rate === null ? afterComma(unreadText(unread_sets)) : ` (${percentText(rate)})`}`;
}

export function asMarkdown(page: MatrixPage, rows: readonly MatrixRow[]): string {
  const heads = ["Case", ...page.runs.map((run) => `${mdText(run.agent)} ${mdCode(run.short)}`)];
  const passed = ["passed", ...page.runs.map(({ passed }) => passedText(passed))];
  return mdTable(heads, [...rows.map(cells), passed]);
}

function cells(row: MatrixRow): string[] {
  return [
    mdCode(`${row.eval_set_id}/${row.eval_id}`),
    ...row.cells.map((cell) => (cell ? `${outcomeWord(cell.outcome)}${scored(cell, row.metric)}` : "–")),
  ];
}

/** ` 0.39`, or `` `other_metric` 0.39`` if the score is not that of the row's metric. */
function scored({ score, metric }: MatrixCell, ofRow: string): string {
  if (score === null) return "";
  return `${metric === ofRow ? "" : ` ${mdCode(metric)}`} ${scoreText(score)}`;
}
