import type { HistoryRunPart, RunChange } from "../../data/types";
import { PointLink } from "../../components/charts/PointLink";
import { pathThrough } from "../../components/charts/Sparkline";
import { useWidth } from "../../components/charts/useWidth";
import { Term } from "../../components/terms/Term";
import { clockText } from "../../components/text/numberFormats";
import { shortCommit } from "../runs/runColumns";
import { Changes } from "./Changes";
import { MOST_LINES, type PlacedPoint, type Point, bandPath, markPath, stepPath, whiskerPath } from "./chartPaths";
import styles from "./History.module.css";
import { Numbers } from "./Numbers";
import { countedText, isPartial, placeOf, pointWords, scaleOf, seriesName, valueText } from "./historyText";
import { type Line, numberRows } from "./lines";

const HEIGHT = 176;
const PAD = { left: 52, right: 14, top: 10, bottom: 40 };
const INSET = 10; // between the axis and the first point, so that its mark does not touch the figures
const BOTTOM = HEIGHT - PAD.bottom;
const COMMIT_WIDTH = 58;

interface Props {
  /** The metric, or `cost of a trial`. */
  name: string;
  /** The agent, if each agent has its own chart. */
  of?: string;
  /** What the chart does not show. */
  note?: string;
  /** One for each agent or build. */
  lines: readonly Line[];
  /** Newest first. */
  runs: readonly HistoryRunPart[];
  /** The first run with the present outcome: marked. */
  turned?: string | null;
  /** What changed between the runs: lines in the chart, and sentences below it. */
  changes?: readonly RunChange[];
  /** Where a point leads. */
  href: (run: string) => string;
}

/** One metric over the runs: a line for each agent or build, with intervals, thresholds and commits. */
export function Chart({ name, of, note = "", lines, runs, turned = null, changes = [], href }: Props) {
  const [box, width] = useWidth();
  const [from, to] = scaleOf(lines.flatMap(({ points }) => points.filter((point) => !isPartial(point))), name);
  const count = runs.length;
  const x = (place: number) => PAD.left + INSET + (width - PAD.left - INSET - PAD.right) * (count === 1 ? 0.5 : place / Math.max(1, count - 1));
  const y = (value: number) => HEIGHT - PAD.bottom - ((value - from) / (to - from)) * (HEIGHT - PAD.top - PAD.bottom);
  const drawn = { name, runs, x, y, href, single: lines.length === 1 };
  return (
    <figure className={`${styles.chart} panel`} ref={box}>
      <Caption name={name} note={note} lines={lines} />
      <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="group" aria-label={`${name} over ${count} ${count === 1 ? "run" : "runs"}`}>
        {[from, (from + to) / 2, to].map((value) => (
          <g key={value}>
            <line className={styles.axis} x1={PAD.left} x2={width - PAD.right} y1={y(value)} y2={y(value)} />
            <text className={styles.tick} x={PAD.left - 6} y={y(value) + 4} textAnchor="end">
              {valueText(name, value)}
            </text>
          </g>
        ))}
        <Turned at={placeOf(runs, turned)} x={x} />
        {changes.map((one) => (
          <Changed key={`${one.first} ${one.text}`} one={one} between={[placeOf(runs, one.before), placeOf(runs, one.first)]} x={x} />
        ))}
        {lines.map((line) => (
          <Drawn key={line.label} line={line} {...drawn} />
        ))}
        <Commits runs={runs} x={x} />
        <Ends runs={runs} width={width} />
      </svg>
      <Changes changes={changes} runs={runs} />
      <Numbers title={seriesName(name)} of={of} rows={numberRows(name, lines, runs)} several={lines.length > 1} />
    </figure>
  );
}

/** The name of the metric, and each line with its first and last value. */
function Caption({ name, note, lines }: { name: string; note: string; lines: readonly Line[] }) {
  const [only] = lines;
  return (
    <figcaption>
      <b>{seriesName(name)}</b> {lines.length === 1 && only && <span className="dim num">{lineText(name, only)}</span>}
      {lines.some(hasInterval) && (
        <span className="dim">
          {" "}
          · {lines.length === 1 ? "shaded" : "bars"}: <Term name="confidenceInterval">95 % CI</Term>
        </span>
      )}
      {lines.some(({ points }) => points.some(isPartial)) && <span className="dim"> · hollow, at the bottom: not all cases were run</span>}
      {note && <span className="dim"> · {note}</span>}
      {(lines.length > 1 || only?.label) && (
        <ul className={styles.legend} aria-label="Lines">
          {lines.map((line) => (
            <li key={line.label} className={styles[`tone${line.tone % MOST_LINES}`]}>
              <svg width={14} height={14} viewBox="0 0 14 14" aria-hidden>
                <path className={styles.dot} d={markPath(line.tone, 7, 7)} />
              </svg>{" "}
              {line.label} {lines.length > 1 && <span className="dim num">{lineText(name, line)}</span>}
            </li>
          ))}
        </ul>
      )}
    </figcaption>
  );
}

interface DrawnProps {
  name: string;
  line: Line;
  /** Whether there is no other line: its interval is an area, and thresholds are drawn. */
  single: boolean;
  runs: readonly HistoryRunPart[];
  x: (at: number) => number;
  y: (value: number) => number;
  href: (run: string) => string;
}

function Drawn({ name, line, single, runs, x, y, href }: DrawnProps) {
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  const placed = line.points.map((point) => ({ point, at: placeOf(runs, point.run_id) })).filter(({ at }) => at >= 0);
  const whole = placed.filter(({ point }) => !isPartial(point));
  return (
    <g className={styles[`tone${line.tone % MOST_LINES}`]}>
      {single && <path className={styles.band} d={bandPath(whole, x, y)} />}
      {single && <path className={styles.needs} d={stepPath(whole, x, y)} />}
      {!single && <path className={styles.whisker} d={whiskerPath(whole, x, y)} />}
      <path className={styles.line} d={linePath(whole, x, y)} />
      {placed.map(({ point, at }) => {
        if (point.score === null) return null;
        const words = pointWords(byId.get(point.run_id), point, name);
        const top = isPartial(point) ? BOTTOM : y(point.score); // a part of the cases has no rate, and thus no height
        return (
          <PointLink key={point.run_id} to={href(point.run_id)} words={words}>
            <title>{words}</title>
            <circle className={styles.hit} cx={x(at)} cy={top} r={12} />
            <path className={`${styles.dot} ${isPartial(point) ? styles.partial : single && missed(point) ? styles.missed : ""}`} d={markPath(line.tone, x(at), top)} />
          </PointLink>
        );
      })}
    </g>
  );
}

/** The line through the points that have a score: the runs of other lines are no gaps. */
function linePath(placed: readonly PlacedPoint[], x: (at: number) => number, y: (value: number) => number): string {
  return pathThrough(placed.map(({ point }) => point.score), (index) => x(placed[index]?.at ?? 0), y);
}

function missed({ score, threshold }: Point): boolean {
  return score !== null && threshold !== null && score < threshold;
}

function hasInterval({ points }: Line): boolean {
  return points.some(({ low, high }) => low !== null && high !== null);
}

function lineText(name: string, { points }: Line): string {
  const known = points.filter(({ score }) => score !== null);
  const whole = known.filter((point) => !isPartial(point));
  const [first, last] = [whole[0], whole.at(-1)];
  if (!first || !last) return known.length ? "no run with every case" : "no score";
  const needs = last.threshold !== null ? `, threshold ${last.threshold}` : "";
  const [from, to] = [countedText(name, first), countedText(name, last)];
  return first === last ? `${to}${needs}` : `${from} → ${to}${needs}`;
}

function Turned({ at, x }: { at: number; x: (at: number) => number }) {
  if (at < 0) return null;
  return <line className={styles.turned} x1={x(at)} x2={x(at)} y1={PAD.top} y2={HEIGHT - PAD.bottom} />;
}

/** A line between two runs if something changed between them. */
function Changed({ one, between: [before, first], x }: { one: RunChange; between: [number, number]; x: (at: number) => number }) {
  if (before < 0 || first < 0) return null;
  const middle = (x(before) + x(first)) / 2;
  return (
    <line className={one.changed_by === "you" ? styles.byYouLine : styles.byOtherLine} x1={middle} x2={middle} y1={PAD.top} y2={HEIGHT - PAD.bottom}>
      <title>{one.text}</title>
    </line>
  );
}

/** The commit of each run that has another one than the run before, where there is room for it. */
function Commits({ runs, x }: { runs: readonly HistoryRunPart[]; x: (at: number) => number }) {
  const oldestFirst = [...runs].reverse();
  let free = -Infinity;
  return oldestFirst.map((run, at) => {
    if (!run.commit || run.commit === oldestFirst[at - 1]?.commit || x(at) - COMMIT_WIDTH / 2 < free) return null;
    free = x(at) + COMMIT_WIDTH / 2 + (at ? 0 : INSET);
    const [left, anchor] = commitPlace(at, oldestFirst.length, x(at));
    return (
      <text key={run.run_id} className={styles.commit} x={left} y={HEIGHT - PAD.bottom + 15} textAnchor={anchor}>
        {shortCommit(run.commit).slice(0, 7)}
      </text>
    );
  });
}

/** Where the commit of a run is written: at the ends of the chart it stays inside. */
function commitPlace(at: number, runs: number, x: number): [left: number, anchor: "start" | "middle" | "end"] {
  if (runs === 1) return [x, "middle"];
  if (at === 0) return [x - INSET, "start"];
  return at === runs - 1 ? [x + PAD.right, "end"] : [x, "middle"];
}

function Ends({ runs, width }: { runs: readonly HistoryRunPart[]; width: number }) {
  const [newest, oldest] = [runs[0], runs.at(-1)];
  if (!newest || !oldest) return null;
  return (
    <>
      {oldest !== newest && (
        <text className={styles.tick} x={PAD.left} y={HEIGHT - 8}>
          {width > 300 && "oldest: "}
          {clockText(oldest.started_at).slice(0, 10)}
        </text>
      )}
      <text className={styles.tick} x={width - PAD.right} y={HEIGHT - 8} textAnchor="end">
        {oldest === newest ? "" : "newest: "}
        {clockText(newest.started_at).slice(0, 10)}
      </text>
    </>
  );
}
