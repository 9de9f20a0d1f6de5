import type { HistoryRunPart, RunChange, Series } from "../../data/types";
import { PointLink } from "../../components/charts/PointLink";
import { pathThrough } from "../../components/charts/Sparkline";
import { useWidth } from "../../components/charts/useWidth";
import { Term } from "../../components/terms/Term";
import { clockText, numText } from "../../components/text/numberFormats";
import { safeText } from "../../components/text/safeText";
import styles from "./History.module.css";
import { PASS_RATE, placeOf, pointWords, scaleOf, seriesName, valueText } from "./historyText";

const HEIGHT = 150;
const PAD = { left: 44, right: 12, top: 10, bottom: 22 };

interface Props {
  series: Series;
  /** Newest first. */
  runs: readonly HistoryRunPart[];
  /** The first run with the present outcome: marked. */
  turned?: string | null;
  /** What changed between the runs: lines in the chart, and sentences below it. */
  changes?: readonly RunChange[];
  /** Whether the agent is named: there are charts of several. */
  named?: boolean;
  /** Where a point leads. */
  href: (run: string) => string;
}

/** One metric over the runs: the score with its interval, and the threshold that it had to meet. */
export function Chart({ series, runs, turned = null, changes = [], named = false, href }: Props) {
  const [box, width] = useWidth();
  const [from, to] = scaleOf(series);
  const count = runs.length;
  const x = (place: number) => PAD.left + ((width - PAD.left - PAD.right) * (count === 1 ? 0.5 : place / Math.max(1, count - 1)));
  const y = (value: number) => HEIGHT - PAD.bottom - ((value - from) / (to - from)) * (HEIGHT - PAD.top - PAD.bottom);
  const placed = series.points.map((point) => ({ point, at: placeOf(runs, point.run_id) })).filter(({ at }) => at >= 0);
  const scores: (number | null)[] = Array.from({ length: count }, () => null);
  for (const { point, at } of placed) scores[at] = point.score;
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  return (
    <figure className={`${styles.chart} panel`} ref={box}>
      <figcaption>
        {named && <span className={styles.agent}>{safeText(series.agent)}</span>}
        <b>{safeText(seriesName(series.name))}</b> <span className="dim num">{seriesText(series)}</span>
        {hasInterval(series) && (
          <span className="dim">
            {" "}
            · shaded: <Term name="confidenceInterval">95 % CI</Term>
          </span>
        )}
      </figcaption>
      <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="group" aria-label={`${series.name} over ${count} runs`}>
        {[from, to].map((end) => (
          <g key={end}>
            <line className={styles.axis} x1={PAD.left} x2={width - PAD.right} y1={y(end)} y2={y(end)} />
            <text className={styles.tick} x={PAD.left - 6} y={y(end) + 4} textAnchor="end">
              {series.name === PASS_RATE ? valueText(series.name, end) : numText(end, 2)}
            </text>
          </g>
        ))}
        <Turned at={placeOf(runs, turned)} x={x} />
        {changes.map((one) => (
          <Changed key={`${one.first} ${one.text}`} one={one} between={[placeOf(runs, one.before), placeOf(runs, one.first)]} x={x} />
        ))}
        <path className={styles.band} d={bandPath(placed, x, y)} />
        <path className={styles.needs} d={stepPath(placed, x, y)} />
        <path className={styles.line} d={pathThrough(scores, x, y)} />
        {placed.map(({ point, at }) =>
          point.score === null ? null : (
            <PointLink key={point.run_id} to={href(point.run_id)} words={safeText(pointWords(byId.get(point.run_id), point, series.name))}>
              <title>{safeText(pointWords(byId.get(point.run_id), point, series.name))}</title>
              <circle className={styles.hit} cx={x(at)} cy={y(point.score)} r={12} />
              <circle className={`${styles.dot} ${missed(point) ? styles.missed : ""}`} cx={x(at)} cy={y(point.score)} r={4} />
            </PointLink>
          ),
        )}
        <Ends runs={runs} width={width} />
      </svg>
      <Changes changes={changes} runs={runs} />
    </figure>
  );
}

type Point = Series["points"][number];
interface PlacedPoint {
  point: Point;
  at: number;
}

function missed({ score, threshold }: Point): boolean {
  return score !== null && threshold !== null && score < threshold;
}

function hasInterval({ points }: Series): boolean {
  return points.some(({ low, high }) => low !== null && high !== null && low < high);
}

function seriesText({ name, points }: Series): string {
  const known = points.filter(({ score }) => score !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (!first || !last) return "no score";
  const needs = last.threshold !== null ? `, threshold ${last.threshold}` : "";
  const [from, to] = [valueText(name, first.score), valueText(name, last.score)];
  return first === last ? `${to}${needs}` : `${from} → ${to}${needs}`;
}

/** The interval as an area around the line, broken where there is none. */
export function bandPath(placed: readonly PlacedPoint[], x: (at: number) => number, y: (value: number) => number): string {
  const stretches: PlacedPoint[][] = [];
  let open: PlacedPoint[] = [];
  for (const one of placed) {
    if (one.point.low === null || one.point.high === null) {
      stretches.push(open);
      open = [];
    } else open.push(one);
  }
  return [...stretches, open]
    .filter((stretch) => stretch.length > 0)
    .map((stretch) => {
      const widened = stretch.length === 1 ? [-3, 3].flatMap((by) => stretch.map((one) => ({ ...one, by }))) : stretch.map((one) => ({ ...one, by: 0 }));
      const up = widened.map(({ at, by, point }) => `${round(x(at) + by)} ${round(y(point.high ?? 0))}`);
      const down = [...widened].reverse().map(({ at, by, point }) => `${round(x(at) + by)} ${round(y(point.low ?? 0))}`);
      return `M${[...up, ...down].join("L")}Z`;
    })
    .join("");
}

/** The threshold, which may be another one from some run on. */
export function stepPath(placed: readonly PlacedPoint[], x: (at: number) => number, y: (value: number) => number): string {
  let path = "";
  let before: PlacedPoint | null = null;
  for (const one of placed) {
    const { threshold } = one.point;
    if (threshold === null) {
      before = null;
      continue;
    }
    const height = round(y(threshold));
    path += before ? `H${round(x(one.at))}V${height}` : `M${round(x(one.at) - 6)} ${height}`;
    before = one;
    path += `h6`;
  }
  return path;
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
      <title>{safeText(one.text)}</title>
    </line>
  );
}

const MOST_CHANGES = 4; // the newest; the others are behind a click

/** What changed, newest first. */
function Changes({ changes, runs }: { changes: readonly RunChange[]; runs: readonly HistoryRunPart[] }) {
  const shown = changes.filter(({ before, first }) => placeOf(runs, before) >= 0 && placeOf(runs, first) >= 0);
  const short = new Map(runs.map((run) => [run.run_id, run.short]));
  const line = (one: RunChange) => (
    <li key={`${one.first} ${one.text}`} className={one.changed_by === "you" ? "" : styles.caution} title={one.command}>
      <code>
        {short.get(one.before)} → {short.get(one.first)}
      </code>{" "}
      {safeText(one.text)}
    </li>
  );
  if (!shown.length) return null;
  const rest = shown.slice(MOST_CHANGES);
  return (
    <div className={styles.changes}>
      <ul aria-label="What changed, newest first">{shown.slice(0, MOST_CHANGES).map(line)}</ul>
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} earlier</summary>
          <ul>{rest.map(line)}</ul>
        </details>
      )}
    </div>
  );
}

function Ends({ runs, width }: { runs: readonly HistoryRunPart[]; width: number }) {
  const [newest, oldest] = [runs[0], runs.at(-1)];
  if (!newest || !oldest) return null;
  return (
    <>
      {oldest !== newest && (
        <text className={styles.tick} x={PAD.left} y={HEIGHT - 6}>
          {width > 300 && "oldest: "}
          {clockText(oldest.started_at).slice(0, 10)}
        </text>
      )}
      <text className={styles.tick} x={width - PAD.right} y={HEIGHT - 6} textAnchor="end">
        {oldest === newest ? "" : "newest: "}
        {clockText(newest.started_at).slice(0, 10)}
      </text>
    </>
  );
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
