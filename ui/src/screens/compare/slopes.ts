// The cases that changed as slopes from the baseline to the candidate; cases with the same slope are one line.
import type { ChangedLine } from "../../data/types";
import { scoreText } from "../../components/text/numberFormats";

export type SlopeMeasure = "trials" | "score";
type SlopeTone = "worse" | "better" | "same";

export interface Slope {
  cases: ChangedLine[];
  from: number;
  to: number;
  /** Both values as text: `1/1 → 3/4`. */
  values: string;
  tone: SlopeTone;
}

const TONES: Readonly<Record<ChangedLine["change"], SlopeTone>> = { now_fails: "worse", missing: "same", now_in_error: "same", now_passes: "better", no_longer_in_error: "same", fewer_pass: "same", more_pass: "same", within_noise: "same" };

/** What can be drawn, the most telling first: with one trial a case, the share that passed is only 0 or 1. */
export function measuresOf(cases: readonly ChangedLine[]): SlopeMeasure[] {
  const hasTrials = cases.some((one) => endsOf(one, "trials"));
  const hasScores = cases.some((one) => endsOf(one, "score"));
  const several = cases.some(({ base, candidate }) => base.length > 1 || candidate.length > 1);
  const all: SlopeMeasure[] = several ? ["trials", "score"] : ["score", "trials"];
  return all.filter((one) => (one === "trials" ? hasTrials : hasScores));
}

/** The slopes, the largest drop first. */
export function slopesOf(cases: readonly ChangedLine[], measure: SlopeMeasure): Slope[] {
  const slopes = new Map<string, Slope>();
  for (const one of cases) {
    const ends = endsOf(one, measure);
    if (!ends) continue;
    const [from, to] = ends;
    const tone = TONES[one.change];
    const values = (measure === "trials" ? [one.base_text, one.candidate_text] : [from, to].map(scoreText)).join(" → ");
    const key = `${from} ${to} ${values} ${tone}`;
    const slope = slopes.get(key) ?? { cases: [], from, to, values, tone };
    slopes.set(key, slope);
    slope.cases.push(one);
  }
  return [...slopes.values()].sort((one, other) => one.to - one.from - (other.to - other.from));
}

/** Both values of a case; null: one of them is missing, or a score is not a share. */
function endsOf({ base, candidate, scores }: ChangedLine, measure: SlopeMeasure): [from: number, to: number] | null {
  const [from, to] = measure === "score" ? (scores ?? [null, null]) : [passed(base), passed(candidate)];
  const isShare = (value: number | null): value is number => value !== null && value >= 0 && value <= 1;
  return isShare(from) && isShare(to) ? [from, to] : null;
}

/** The share of the trials that passed; null: none, or not all of them were scored. */
function passed(strip: string): number | null {
  return strip && /^[pf]+$/.test(strip) ? (strip.split("p").length - 1) / strip.length : null;
}

/** Where labels go that want to be at `tops`, in the same order: none overlaps, each as near as it can be. */
export function spread(tops: readonly number[], least: number, from: number, to: number): number[] {
  const order = tops.map((top, at) => ({ top, at })).sort((one, other) => one.top - other.top);
  const placed = new Array<number>(tops.length);
  let free = from;
  for (const { top, at } of order) {
    placed[at] = Math.max(free, top);
    free = (placed[at] ?? 0) + least;
  }
  let bound = to;
  for (const { at } of order.reverse()) {
    placed[at] = Math.min(placed[at] ?? 0, bound);
    bound = (placed[at] ?? 0) - least;
  }
  return placed;
}
