// Values counted by intervals, and their percentiles.

/** An interval of values: from `from` up to `to`, which belongs to the next one except in the last. */
export interface Bin {
  from: number;
  to: number;
  isLast: boolean;
  count: number;
  /** How many of them missed. */
  missed: number;
}

const MOST = 10;

/** Count values in intervals with round ends, 11 at most; `shares`: values between 0 and 1 are shown from 0 to 1. */
export function binsOf(values: readonly number[], missed: readonly boolean[] = [], { shares = true } = {}): Bin[] {
  if (!values.length) return [];
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const edges = shares && low >= 0 && high <= 1 ? edgesOf(0, 1) : edgesOf(low, high);
  const bins = edges.slice(1).map((to, at) => ({ from: edges[at] ?? 0, to, isLast: at === edges.length - 2, count: 0, missed: 0 }));
  values.forEach((value, index) => {
    const bin = bins[placeAmong(edges, value)];
    if (!bin) return;
    bin.count += 1;
    if (missed[index]) bin.missed += 1;
  });
  return bins;
}

/** The ends of the intervals, as a person would write them. If there is one value only, it is in the middle, and 0 is an end. */
function edgesOf(low: number, high: number): number[] {
  const [from, to] = low < high ? [low, high] : [Math.min(0, 2 * low), low ? Math.max(0, 2 * low) : 1];
  const step = roundUp((to - from) / MOST);
  const first = Math.floor(exact(from / step));
  const count = Math.max(1, Math.ceil(exact(to / step)) - first);
  return Array.from({ length: count + 1 }, (_, at) => exact((first + at) * step));
}

/** The next number that is 1, 2 or 5 at some power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const lead = exact(value / power);
  return exact((lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power);
}

/** Without the last digits, which computing adds: 0.30000000000000004 is 0.3. */
function exact(value: number): number {
  return Number(value.toPrecision(12));
}

function placeAmong(edges: readonly number[], value: number): number {
  let [low, high] = [0, edges.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((edges[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The percentile of sorted values by the nearest rank; null: there are none. */
export function percentileOf(sorted: readonly number[], percent: number): number | null {
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? null;
}
