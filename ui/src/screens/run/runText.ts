import type { BaselinesPage, CaseRow, LiveProgress, RunManagement, RunPage } from "../../data/types";
import { outcomeWord, shownOutcome } from "../../components/charts/Outcome";
import { CHANGE_WORDS } from "../../components/terms/caseWords";
import { stripText } from "../../components/charts/TrialStrip";
import { mdCode, mdProse, mdTable, mdText } from "../../components/text/markdown";
import { costText, moneyText, numText, percentText, secondsText } from "../../components/text/numberFormats";
import { needsEvidence } from "./caseFilter";
import { columnName, metricText } from "./columns/metricScore";

/** What is run against what: `travel_agent on booking, refunds`. */
export function titleOf(page: RunPage): string {
  const names = page.sets.map(({ name }) => name);
  const sets = names.length > 3 ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} more sets` : names.join(", ");
  return sets ? `${page.agent} on ${sets}` : page.agent;
}

/** `1 case`, `1,200 cases`. */
export function countOf(count: number, what: string): string {
  return `${numText(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** What is lost if a run is deleted, and what remains. */
export function deletionText({ cases }: Pick<RunPage, "cases">, { trials, scorings, labels }: RunManagement): string {
  const lost = [countOf(cases, "case"), `${countOf(trials, "trial")} with all evidence`, countOf(scorings, "scoring"), labels ? countOf(labels, "label") : ""];
  const listed = lost.filter(Boolean).join(", ");
  return `Deletes ${listed}. History, trends and comparisons then omit this run. Eval sets, other runs and calibrations of judges remain. It cannot be undone.`;
}

/** What the file of a run that is not finished lacks; empty for a finished one. */
export function partialExportText({ state, counts, cases }: Pick<RunPage, "state" | "counts" | "cases">): string {
  if (state === "running") return "This run is in progress: a file contains only what is decided when you export it. Export it again at the end.";
  const left = counts.not_run ?? 0;
  return state === "unfinished" && left ? `This run is not finished: in a file, ${numText(left)} of ${numText(cases)} cases are not run.` : "";
}

/** Why no case matches a filter: what it looks for may be read only at the end of the run. */
export function noMatchText(text: string, running: boolean): string {
  return running && needsEvidence(text, "") ? "Tags, tools and costs of the cases are read when the run has ended." : "Nothing matches the filter.";
}

/** The run that now is the baseline of this name, if that is another one. */
export function replacedBaseline(known: BaselinesPage["items"], name: string, run: string): string | null {
  return known.find((one) => one.name === name && one.run_id !== run)?.run_id ?? null;
}

/** What a person must know before this run becomes a baseline. */
export function baselineWarnings({ outcome, sets }: Pick<RunPage, "outcome" | "sets">): string[] {
  const unread = sets.filter(({ failure }) => failure).map(({ eval_set_id, failure }) => `${eval_set_id} could not be run: its verdicts are missing in every comparison (${failure}).`);
  return [...(outcome === "passed" ? [] : ["This run did not pass: a run that is not better shows no regression."]), ...unread];
}

/** The sets that could not be run, each with the cause in one line. */
export function unreadSetTexts({ sets }: Pick<RunPage, "sets">): string[] {
  return sets.filter(({ failure }) => failure).map(({ eval_set_id, failure }) => `${eval_set_id} could not be run: ${failure.replace(/\s+/g, " ")}`);
}

/** Why the table of a run has no cases. */
export function noCasesText({ sets }: Pick<RunPage, "sets">, running: boolean): string {
  if (sets.length && sets.every(({ failure }) => failure)) return "No set of this run could be run.";
  return running ? "Cases appear as they are planned." : "This run has none.";
}

/** The sentence without the outcome, which is next to the heading. */
export function sentenceOf(page: RunPage): string {
  const sentence = page.sentence.replace(/^[a-z ]+: /, "");
  return sentence.charAt(0).toUpperCase() + sentence.slice(1) + (/[.!?]$/.test(sentence) ? "" : ".");
}

/** The changes of a case since the run before: the words behind a number of one and of several. */
const CHANGES = {
  worse: ["worse", "worse"],
  better: ["better", "better"],
  missing: CHANGE_WORDS.missing,
  no_longer_in_error: CHANGE_WORDS.no_longer_in_error,
  within_noise: CHANGE_WORDS.within_noise,
} as const;

/** What changed against the run before, in words; empty where there is none. */
export function comparisonText({ against }: RunPage): string {
  if (!against) return "";
  if (against.same === null) return "compared with"; // the cases are being read
  const names = Object.keys(CHANGES) as (keyof typeof CHANGES)[];
  const counts = names.map((name) => ({ name, count: against[name] ?? 0 })).filter(({ count }) => count);
  if (!counts.length && !against.same) return "no case can be compared with";
  if (!counts.length) return against.not_run ? "no case that was run changed since" : "no case changed since";
  const texts = counts.map(({ name, count }, index) => `${index ? numText(count) : countOf(count, "case")} ${CHANGES[name][count === 1 ? 0 : 1]}`);
  return counts.every(({ name }) => name === "worse" || name === "better") ? `${texts.join(", ")} than` : [...texts, "compared with"].join(", ");
}

/** How far a run is: `132 of 400 trials · 8 in flight · 3.2 a second · about 1 m 24 s left · $0.12 so far`. */
export function progressTexts(progress: LiveProgress): string[] {
  const { trials, trials_planned, in_flight, lost_workers, rate, seconds_left, spent, spent_of, done } = progress;
  return [
    `${numText(trials)} of ${numText(trials_planned)} trials`,
    in_flight ? `${numText(in_flight)} in flight` : "",
    rate === null ? "" : `${numText(rate, rate < 10 ? 1 : 0)} a second`,
    seconds_left === null ? "" : `about ${secondsText(Math.max(1, Math.round(seconds_left)))} left`,
    spent === null ? "" : `${moneyText(spent)} so far${spent_of < done ? ` (of ${numText(spent_of)} cases)` : ""}`,
    lost_workers,
  ].filter(Boolean);
}

const STOPPED: Readonly<Record<string, string>> = { "Ctrl-C": "Cancelled", fail_fast: "Stopped at the first case that did not pass (--fail-fast)" };

/** Why a run has not come to its end, and what there is of it. */
export function unfinishedText({ failure, stopped_by, interrupted, counts, cases }: RunPage): string {
  const stopped = stopped_by ? (STOPPED[stopped_by] ?? `Stopped by ${stopped_by}`) : interrupted ? "It was interrupted" : "The process of the run has ended";
  const left = counts.not_run ?? 0;
  const others = left === cases ? "No case was run." : `${numText(left)} of ${numText(cases)} cases ${left === 1 ? "was" : "were"} not run; the others are stored.`;
  return `${failure || stopped}. ${left ? others : "Every case was run."}`;
}

/** `3 of 6`: every share has its denominator. */
export function countOfText({ count, of }: { count: number; of: number }): string {
  return `${numText(count)} of ${numText(of)}`;
}

/** The trials that passed, of those that were scored. */
export function trialCounts({ trials }: Pick<RunPage, "trials">): { count: number; of: number; unscored: number } {
  const count = trials.passed ?? 0;
  return { count, of: count + (trials.failed ?? 0), unscored: trials.error ?? 0 };
}

/** In how many cases a metric needs a look: it was missed, or it is in error. */
export function troubleCount({ missed, errors }: Pick<RunPage["metrics"][number], "missed" | "errors">): number {
  return missed + errors;
}

/** The metrics that decide; of many, as many as there is room for: those missed or in error in most cases. */
export function decidingMetrics({ metrics }: Pick<RunPage, "metrics">, most: number): RunPage["metrics"] {
  return mostMissed(metrics.filter(({ gate }) => gate), most);
}

/** Of these metrics those missed or in error in most cases, in their order. */
export function mostMissed(metrics: RunPage["metrics"], most: number): RunPage["metrics"] {
  const kept = new Set([...metrics].sort((one, other) => troubleCount(other) - troubleCount(one)).slice(0, most));
  return metrics.filter((metric) => kept.has(metric));
}

const MOST_LISTED = 200;

/** The run and its table as it is shown, for an issue or a pull request; without a table if no case is shown. */
export function asMarkdown(page: RunPage, rows: readonly CaseRow[], columns: readonly { id: string }[]): string {
  const cells = columns.map(({ id }) => columnText(page, id));
  const lines = rows.slice(0, MOST_LISTED).map((row) => cells.map(({ text }) => text(row)));
  const part = rows.length < page.cases ? `\n\n${numText(rows.length)} of ${numText(page.cases)} cases:` : "";
  const table = lines.length ? `${part}\n\n${mdTable(cells.map(({ head }) => head), lines)}` : "";
  const more = rows.length > MOST_LISTED ? `\n\nand ${rows.length - MOST_LISTED} more` : "";
  const unread = unreadSetTexts(page).map((text) => `\n\n${mdText(text)}`).join("");
  const { pass_rate } = page;
  const share = pass_rate.rate === null ? "" : ` (${percentText(pass_rate.rate)})`;
  const rate = pass_rate.of ? ` Cases passed: ${countOfText(pass_rate)}${share}.` : "";
  return `**${mdText(titleOf(page))}: ${outcomeWord(page.outcome)}.** ${mdText(sentenceOf(page))}${rate} Run \`${page.run_id}\`.${unread}${table}${more}\n`;
}

interface ColumnText {
  head: string;
  text: (row: CaseRow) => string;
}

const COLUMN_TEXTS: Readonly<Record<string, ColumnText>> = {
  case: { head: "Case", text: ({ eval_set_id, eval_id }) => mdCode(`${eval_set_id}/${eval_id}`) },
  outcome: { head: "Outcome", text: ({ outcome, strip }) => outcomeWord(shownOutcome(outcome, strip.length)) },
  trials: { head: "Trials", text: ({ strip }) => stripText(strip) },
  why: { head: "Why", text: ({ why }) => mdProse(why) },
  cost: { head: "Cost", text: costText },
};

/** A column of the table in Markdown; a column without a text here is a metric. */
function columnText({ metrics }: Pick<RunPage, "metrics">, id: string): ColumnText {
  const metric = metrics.find(({ name }) => columnName(name) === id);
  return COLUMN_TEXTS[id] ?? { head: mdText(metric?.short ?? id), text: (row) => metricText(row, metric?.name ?? id) };
}
