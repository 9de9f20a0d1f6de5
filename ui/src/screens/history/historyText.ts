import { pathOf } from "../../data/queries";
import type { HistoryCase, HistoryPage, HistoryRunPart, RunChange, Series } from "../../data/types";
import { COURSE_WORDS, capital } from "../../components/terms/caseWords";
import { mdCode, mdTable, mdText } from "../../components/text/markdown";
import { shellWord } from "../run/Details";
import { afterComma, stoppedBy, unreadText } from "../runs/runColumns";
import type { Point } from "./chartPaths";
import { boundsText, clockText, countText, moneyText, numText, percentText, scoreText, secondsText } from "../../components/text/numberFormats";

export type Course = HistoryCase["course"];

/** How each course is called, and the look of its tag. */
export const COURSES: Readonly<Record<Course, [word: string, outcome: string]>> = {
  broke: [capital(COURSE_WORDS.broke[0]), "failed"],
  failing: [capital(COURSE_WORDS.failing[0]), "failed"],
  undecided: [capital(COURSE_WORDS.undecided[0]), "error"],
  flaky: [capital(COURSE_WORDS.flaky[0]), "inconclusive"],
  fixed: [capital(COURSE_WORDS.fixed[0]), "passed"],
  steady: [capital(COURSE_WORDS.steady[0]), "passed"],
};

/** `Over the last 9 runs: 2 now fail, 1 flaky, 37 passed.` */
export function summary({ runs, counts, older }: HistoryPage): string {
  const some = (Object.keys(COURSES) as Course[]).filter((course) => counts[course]);
  const texts = some.map((course) => countText(counts[course] ?? 0, COURSE_WORDS[course][0], COURSE_WORDS[course][1]));
  const over = older ? `the last ${runs.length} of ${runs.length + older} runs` : runs.length === 1 ? "the one run" : `all ${runs.length} runs`;
  return `Over ${over}: ${texts.join(", ") || "no case was reached"}.`;
}

export interface HistoryQuery {
  set: string | null;
  case: string | null;
  agent: string | null;
  limit: string | null;
  /** "true": the runs of all agents are one history. */
  combine: string | null;
}

export function apiPath(options: HistoryQuery): string {
  return pathOf("/api/history", { set: options.set, case: options.case, agent: options.agent, limit: options.limit, combine_agents: options.combine });
}

/** What shows the same in a terminal. */
export function commandOf({ set, case: id }: HistoryQuery): string {
  if (id !== null) return `proctor history ${shellWord(set === null ? id : `${set}/${id}`)}`;
  return set === null ? "proctor history" : `proctor history --set ${shellWord(set)}`;
}

export function caseHref(one: { eval_set_id: string; eval_id: string }, { agent, limit, combine }: HistoryQuery): string {
  return pathOf("/history", { set: one.eval_set_id, case: one.eval_id, agent, limit, combine });
}

export function caseMatcher(text: string, only: string): (one: HistoryCase) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (one) => {
    if (only ? one.course !== only : one.course === "steady" && !words.length) return false;
    const searched = `${one.eval_set_id}/${one.eval_id} ${one.why}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  };
}

/** One run in the strip of a case: its letter, and who changed something since the run before. */
export interface StripRun {
  letter: string;
  changedBy?: RunChange["changed_by"] | undefined;
}

/** The strip of a case without the runs of other agents and sets: those in which no case of its set was reached. */
export function stripOfSet({ cases, runs, changes }: HistoryPage): (one: HistoryCase) => StripRun[] {
  const key = ({ agent, eval_set_id }: { agent: string; eval_set_id: string }) => JSON.stringify([agent, eval_set_id]);
  const bySet = new Map<string, boolean[]>();
  for (const one of cases) {
    const reached = bySet.get(key(one)) ?? [];
    for (let at = 0; at < one.strip.length; at += 1) reached[at] = (reached[at] ?? false) || one.strip[at] !== "-";
    bySet.set(key(one), reached);
  }
  const changed = new Map(changes.map((one) => [`${key(one)} ${placeOf(runs, one.first)}`, one.changed_by]));
  return (one) =>
    [...one.strip].flatMap((letter, at) => (bySet.get(key(one))?.[at] ? [{ letter, changedBy: changed.get(`${key(one)} ${at}`) }] : []));
}

/** Whether the page shows the histories of several agents. */
export function hasAgents({ cases }: HistoryPage): boolean {
  return new Set(cases.map(({ agent }) => agent)).size > 1;
}

/** The changes that concern a chart of one agent, each once: several sets may have the same. */
export function changesOf(page: HistoryPage, agent: string): RunChange[] {
  const seen = new Map<string, RunChange>();
  for (const one of page.changes) if (one.agent === agent) seen.set(`${one.first} ${one.text}`, seen.get(`${one.first} ${one.text}`) ?? one);
  return [...seen.values()];
}

/** The metric that the address names, else the first that there is; null: there is none. */
export function chosenName(series: readonly Series[], name: string | null): string | null {
  return (series.find((one) => one.name === name) ?? series[0])?.name ?? null;
}

/** Two ends for an axis that hold every value, interval and threshold; scores have 0 and 1 in it. */
export function scaleOf(points: readonly Point[], name = ""): [from: number, to: number] {
  const all = points.flatMap(({ score, low, high, threshold }) => [score, low, high, threshold]).filter((one) => one !== null);
  const from = Math.min(0, ...all);
  const most = Math.max(0, ...all);
  return [from, most <= 1 && !(name in FIGURES) ? 1 : niceAbove(most)];
}

/** The next of 1, 2, 5, 10, 20 … that is not below `value`. */
export function niceAbove(value: number): number {
  if (value <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return unit * ([1, 2, 5, 10].find((step) => step * unit >= value) ?? 10);
}

/** `7f3k2c, 2026-11-22 14:02, commit 4f2c91a`. */
export function runWords(run: HistoryRunPart): string {
  return [run.short, clockText(run.started_at), run.commit ? `commit ${run.commit.slice(0, 9)}` : "", run.agent].filter(Boolean).join(", ");
}

/** The place of a run in a strip that is drawn oldest first. */
export function placeOf(runs: readonly HistoryRunPart[], id: string | null | undefined): number {
  const at = runs.findIndex(({ run_id }) => run_id === id);
  return at < 0 ? -1 : runs.length - 1 - at;
}

export function asMarkdown(page: HistoryPage, cases: readonly HistoryCase[]): string {
  const several = hasAgents(page);
  if (page.points) {
    const runs = new Map(page.runs.map((run) => [run.run_id, run]));
    const rows = page.points.map((point) => {
      const run = runs.get(point.run_id);
      return [mdCode(run?.short ?? ""), run ? clockText(run.started_at) : "", mdCode((run?.commit ?? "").slice(0, 9)), point.outcome, mdText(point.reason)];
    });
    return `${mdText(cases[0]?.sentence ?? "")}\n\n${mdTable(["Run", "When", "Commit", "Outcome", "Why"], rows)}`;
  }
  const table = mdTable(
    [...(several ? ["Agent"] : []), "Case", "", "Runs, oldest first", "Since when"],
    cases.map((one) => [...(several ? [mdCode(one.agent)] : []), mdCode(`${one.eval_set_id}/${one.eval_id}`), COURSES[one.course][0], mdCode(one.strip), mdText(one.sentence)]),
  );
  return [...page.unread.map(mdText), table].join("\n\n");
}

export const PASS_RATE = "passed";
export const DURATION = "invocation_duration_v1";
export const TOKENS = "token_usage_v1";
export const COST = "cost of a trial";

/** Figures that are no scores: how they are called, and how a value reads. */
const FIGURES: Readonly<Record<string, [title: string, text: (value: number | null) => string]>> = {
  [DURATION]: ["duration of a turn", secondsText],
  [TOKENS]: ["tokens of a turn", (value) => numText(value, 0)],
  [COST]: [COST, moneyText],
};

/** The name of a series: that of the pass rate names what is counted. */
export function seriesName(name: string): string {
  return name === PASS_RATE ? "pass rate: cases passed" : (FIGURES[name]?.[0] ?? name);
}

/** A value of a series: the pass rate in percent, a score with its digits, a figure with its unit. */
export function valueText(name: string, value: number | null): string {
  if (name === PASS_RATE) return percentText(value);
  return FIGURES[name]?.[1](value) ?? scoreText(value);
}

/** Whether a point is of a part of the cases: its run was cancelled, was stopped, is in progress, had a set that could not be run, or had a selection of the cases. */
export function isPartial({ not_run, unread_sets, chosen }: Pick<Point, "not_run" | "unread_sets" | "chosen">): boolean {
  return not_run > 0 || unread_sets > 0 || Boolean(chosen);
}

/** A value with its denominator: `71.4 % (5 of 7)`, `1 of 8, 7 not run`, or `1 of 1, 1 of 20 cases chosen`. Other values are means over the cases. */
export function countedText(name: string, point: Pick<Point, "score" | "count" | "not_run" | "unread_sets" | "chosen">): string {
  const { score, count, not_run, unread_sets, chosen } = point;
  const part = [not_run ? `${numText(not_run)} not run` : "", unreadText(unread_sets), chosen ?? ""].map(afterComma).join("");
  if (name !== PASS_RATE || score === null) return `${valueText(name, score)}${part}`;
  const counted = `${numText(Math.round(score * count))} of ${numText(count + not_run)}`;
  return isPartial(point) ? `${counted}${part}` : `${valueText(name, score)} (${counted})`;
}

/** The 95 % confidence interval of a value: `36–92` percent, `0.40 to 0.60`; empty if there is none, as for the pass rate of a part of the cases. */
export function intervalText(name: string, point: Pick<Point, "low" | "high" | "not_run" | "unread_sets" | "chosen">): string {
  const { low, high } = point;
  if (low === null || high === null || (name === PASS_RATE && isPartial(point))) return "";
  return name === PASS_RATE ? boundsText(low, high) : `${valueText(name, low)} to ${valueText(name, high)}`;
}

/** The text of a point of a chart. */
export function pointWords(run: HistoryRunPart | undefined, point: Point, name = ""): string {
  const interval = intervalText(name, point);
  const sure = interval && `, 95 % CI: ${interval}`;
  const needs = point.threshold !== null ? `, threshold ${point.threshold}` : "";
  const stopped = run?.stopped_by && isPartial(point) ? `${stoppedBy(run.stopped_by)}, ` : "";
  return `${run ? runWords(run) : point.run_id}: ${stopped}${countedText(name, point)}${sure}${needs}`;
}
