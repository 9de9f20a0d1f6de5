// The shapes of a chart over runs as paths: an interval, a threshold, a point.
import type { Series } from "../../data/types";

export type Point = Series["points"][number] & {
  /** The part of the cases that the run had, as `1 of 20 cases chosen`; empty if it had all. */
  chosen?: string;
};

/** A point with the place of its run, oldest first. */
export interface PlacedPoint {
  point: Point;
  at: number;
}

type Scale = (value: number) => number;

/** The interval as an area around the line, broken where there is none. */
export function bandPath(placed: readonly PlacedPoint[], x: Scale, y: Scale): string {
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

/** The intervals as vertical lines with ends, so that those of several lines can be told from each other. */
export function whiskerPath(placed: readonly PlacedPoint[], x: Scale, y: Scale): string {
  return placed
    .map(({ at, point: { low, high } }) => {
      if (low === null || high === null) return "";
      const [left, top, bottom] = [round(x(at)), round(y(high)), round(y(low))];
      return `M${left - 3} ${top}h6m-3 0V${bottom}m-3 0h6`;
    })
    .join("");
}

/** The threshold, which may be another one from some run on. */
export function stepPath(placed: readonly PlacedPoint[], x: Scale, y: Scale): string {
  let path = "";
  let before: PlacedPoint | null = null;
  for (const one of placed) {
    const { threshold } = one.point;
    if (threshold === null) {
      before = null;
      continue;
    }
    const height = round(y(threshold));
    path += before ? `H${round(x(one.at))}V${height}h6` : `M${round(x(one.at) - 6)} ${height}h12`;
    before = one;
  }
  return path;
}

const MARKS = [
  "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0", // a circle
  "m-4-4h8v8h-8z",
  "m0-5l5 9h-10z",
  "m0-5.5l5.5 5.5l-5.5 5.5l-5.5-5.5z",
  "m0 5l5-9h-10z",
  "m-5-1.5h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z", // a plus
] as const;

/** How many lines can be told from each other by colour and mark. */
export const MOST_LINES = MARKS.length;

/** The mark of a point: each line has its own, for those who do not see colours. */
export function markPath(line: number, left: number, top: number): string {
  return `M${round(left)} ${round(top)}${MARKS[line % MOST_LINES] ?? MARKS[0]}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
