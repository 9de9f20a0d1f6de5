// The lines of a chart over runs: one for each agent, or for each build.
import type { CostInterval, HistoryPage, HistoryRunPart } from "../../data/types";
import { mdCode, mdTable, mdText } from "../../components/text/markdown";
import { clockText, numText } from "../../components/text/numberFormats";
import { MOST_LINES, type Point } from "./chartPaths";
import { COST, PASS_RATE, countedText, intervalText } from "./historyText";

export interface Line {
  label: string;
  /** Oldest first. */
  points: readonly Point[];
  /** Its colour and mark: the same in every chart. */
  tone: number;
}

type Points = Omit<Line, "tone">;

/** The lines of one metric, or of the cost of a trial; those with the newest run first. */
export function linesOf(page: HistoryPage, name: string, by: string | null, costs: readonly CostInterval[] = []): Line[] {
  const lines: Points[] = name === COST ? costLines(page, costs) : page.series.filter((one) => one.name === name).map(({ agent, points }) => ({ label: agent, points }));
  const chosen = new Map(page.runs.map(({ run_id, cases, chosen_of }) => [run_id, chosen_of ? `${numText(cases)} of ${numText(chosen_of)} cases chosen` : ""]));
  const marked = lines.map(({ label, points }) => ({ label, points: points.map((point) => ({ ...point, chosen: chosen.get(point.run_id) ?? "" })) }));
  const drawn = (by === "build" ? splitByBuild(marked, page.runs) : marked).filter(({ points }) => points.some(({ score }) => score !== null));
  return drawn.map((line, tone) => ({ ...line, tone }));
}

/** The lines of several charts with one tone for each name, those with the newest run first; every chart draws the same names, and `left` are drawn in none. */
export function withTones(charts: readonly (readonly Line[])[], runs: readonly HistoryRunPart[]): { charts: Line[][]; left: number } {
  const newest = newestFirst(runs);
  const labels = [...new Set(charts.flat().toSorted(newest).map(({ label }) => label))];
  const drawn = charts.map((lines) => lines.map((line) => ({ ...line, tone: labels.indexOf(line.label) })).filter(({ tone }) => tone < MOST_LINES));
  return { charts: drawn, left: Math.max(0, labels.length - MOST_LINES) };
}

/** The order of lines: that with the newest run first. */
function newestFirst(runs: readonly HistoryRunPart[]): (one: Points, other: Points) => number {
  const places = new Map(runs.map(({ run_id }, place) => [run_id, place]));
  const place = ({ points }: Points) => places.get(points.at(-1)?.run_id ?? "") ?? runs.length;
  return (one, other) => place(one) - place(other);
}

function costLines({ series, runs }: HistoryPage, costs: readonly CostInterval[]): Points[] {
  const byRun = new Map(costs.map((one) => [one.run_id, one]));
  const notRun = new Map(series.filter(({ name }) => name === PASS_RATE).flatMap(({ points }) => points.map(({ run_id, not_run }) => [run_id, not_run])));
  const agents = [...new Set(series.map(({ agent }) => agent))];
  const runsOfAgent = (agent: string) => [...runs].reverse().filter((run) => !agent || run.agent === agent);
  return agents.map((agent) => ({ label: agent, points: runsOfAgent(agent).map((run) => costPoint(run, byRun.get(run.run_id), notRun.get(run.run_id))) }));
}

/** The cost of a trial in a run; a gap where it is unknown. */
function costPoint({ run_id, trial_cost, cases, unread_sets }: HistoryRunPart, interval: CostInterval | undefined, not_run = 0): Point {
  return { run_id, score: trial_cost, low: interval?.low ?? null, high: interval?.high ?? null, threshold: null, outcome: "informational", count: trial_cost === null ? 0 : (interval?.cases ?? cases), not_run, unread_sets: unread_sets.length };
}

/** What a build is called: its commit, its version, or the beginning of the hash of its source. */
function buildName({ agent, commit, version, build }: HistoryRunPart): string {
  return [agent, commit?.replace(/^([0-9a-f]{7})[0-9a-f]*/, "$1") ?? version ?? build.slice(0, 7)].filter(Boolean).join(" ");
}

function splitByBuild(lines: readonly Points[], runs: readonly HistoryRunPart[]): Points[] {
  const labels = buildLabels(runs);
  const builds = new Map<string, { label: string; points: Point[] }>();
  for (const point of lines.flatMap(({ points }) => points)) {
    const label = labels.get(point.run_id);
    if (label === undefined) continue;
    const line = builds.get(label) ?? { label, points: [] };
    builds.set(label, line);
    line.points.push(point);
  }
  return [...builds.values()].sort(newestFirst(runs));
}

/** By run what its build is called; with the beginning of its hash where the name has several builds, as a commit with modified files has. */
function buildLabels(runs: readonly HistoryRunPart[]): Map<string, string> {
  const builds = new Map<string, Set<string>>();
  for (const run of runs) builds.set(buildName(run), (builds.get(buildName(run)) ?? new Set()).add(run.build));
  return new Map(runs.map((run) => [run.run_id, (builds.get(buildName(run))?.size ?? 0) > 1 ? `${buildName(run)} (${run.build.slice(0, 7)})` : buildName(run)]));
}

/** The runs that a chart shows, newest first. */
export function runsOf(lines: readonly Line[], runs: readonly HistoryRunPart[]): HistoryRunPart[] {
  const shown = new Set(lines.flatMap(({ points }) => points.map(({ run_id }) => run_id)));
  return runs.filter(({ run_id }) => shown.has(run_id));
}

/** A row of the numbers of a chart. */
export interface NumberRow {
  run: HistoryRunPart;
  line: string;
  value: string;
  interval: string;
  count: string;
}

/** The numbers of a chart, newest first. */
export function numberRows(name: string, lines: readonly Line[], runs: readonly HistoryRunPart[]): NumberRow[] {
  return runs.flatMap((run) =>
    lines.flatMap(({ label, points }) =>
      points
        .filter(({ run_id }) => run_id === run.run_id)
        .map((point) => ({ run, line: label, value: countedText(name, point), interval: intervalText(name, point) || "–", count: point.count ? numText(point.count) : "–" })),
    ),
  );
}

export function numbersMarkdown(title: string, rows: readonly NumberRow[], counted: "Cases" | "Trials"): string {
  const heads = ["Run", "Started", "Commit", "Line", mdText(title), "95 % CI", counted];
  const cells = rows.map(({ run, line, value, interval, count }) => [
    mdCode(run.short), clockText(run.started_at), run.commit ? mdCode(run.commit.slice(0, 9)) : "–", mdText(line || run.agent), value, interval, count,
  ]);
  return `${mdTable(heads, cells, [4, 6])}\n`;
}
