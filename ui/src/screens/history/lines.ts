// The lines of a chart over runs: one for each agent, or for each build.
import type { CostInterval, HistoryPage, HistoryRunPart } from "../../data/types";
import { mdCode, mdTable, mdText } from "../../components/text/markdown";
import { clockText, numText } from "../../components/text/numberFormats";
import type { Point } from "./chartPaths";
import { COST, countedText, intervalText } from "./historyText";

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
  const drawn = (by === "build" ? splitByBuild(lines, page.runs) : lines).filter(({ points }) => points.some(({ score }) => score !== null));
  return drawn.map((line, tone) => ({ ...line, tone }));
}

/** The lines of several charts with one tone for each name. */
export function withTones(charts: readonly (readonly Line[])[]): Line[][] {
  const labels = [...new Set(charts.flatMap((lines) => lines.map(({ label }) => label)))];
  return charts.map((lines) => lines.map((line) => ({ ...line, tone: labels.indexOf(line.label) })));
}

function costLines({ series, runs }: HistoryPage, costs: readonly CostInterval[]): Points[] {
  const byRun = new Map(costs.map((one) => [one.run_id, one]));
  const agents = [...new Set(series.map(({ agent }) => agent))];
  const runsOfAgent = (agent: string) => [...runs].reverse().filter((run) => !agent || run.agent === agent);
  return agents.map((agent) => ({ label: agent, points: runsOfAgent(agent).map((run) => costPoint(run, byRun.get(run.run_id))) }));
}

/** The cost of a trial in a run; a gap where it is unknown. */
function costPoint({ run_id, trial_cost, cases }: HistoryRunPart, interval: CostInterval | undefined): Point {
  return { run_id, score: trial_cost, low: interval?.low ?? null, high: interval?.high ?? null, threshold: null, outcome: "informational", count: trial_cost === null ? 0 : (interval?.cases ?? cases), not_run: 0 };
}

/** What a build is called: its commit, its version, or the beginning of the hash of its source. */
function buildName({ agent, commit, version, build }: HistoryRunPart): string {
  return [agent, commit?.replace(/^([0-9a-f]{7})[0-9a-f]*/, "$1") ?? version ?? build.slice(0, 7)].filter(Boolean).join(" ");
}

function splitByBuild(lines: readonly Points[], runs: readonly HistoryRunPart[]): Points[] {
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  const builds = new Map<string, { label: string; points: Point[] }>();
  for (const point of lines.flatMap(({ points }) => points)) {
    const run = byId.get(point.run_id);
    if (!run) continue;
    const key = JSON.stringify([run.agent, run.build || buildName(run)]);
    const line = builds.get(key) ?? { label: buildName(run), points: [] };
    builds.set(key, line);
    line.points.push(point);
  }
  const places = new Map(runs.map(({ run_id }, place) => [run_id, place]));
  const newest = ({ points }: Points) => places.get(points.at(-1)?.run_id ?? "") ?? runs.length;
  return [...builds.values()].sort((one, other) => newest(one) - newest(other));
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

export function numbersMarkdown(title: string, rows: readonly NumberRow[]): string {
  const heads = ["Run", "Started", "Commit", "Line", mdText(title), "95 % CI", "n"];
  const cells = rows.map(({ run, line, value, interval, count }) => [
    mdCode(run.short), clockText(run.started_at), run.commit ? mdCode(run.commit.slice(0, 9)) : "–", mdText(line || run.agent), value, interval, count,
  ]);
  return `${mdTable(heads, cells, [4, 6])}\n`;
}
