import { fixedText, scoreText } from "../../components/text/numberFormats";

const SUFFIX = /(_avg_score|_score|_v\d)$/;

/** A metric's name without the suffix that all have: `tool_trajectory`. */
export function shortMetricName(name: string): string {
  return name.replace(SUFFIX, "") || name;
}

/** A score with its threshold: `tool_trajectory 0.40 < 0.9`. */
export function scoreAgainstThreshold({ name, score, threshold, outcome }: { name: string; score: number | null; threshold: number | null; outcome: string }): string {
  const short = shortMetricName(name);
  if (score === null) return outcome === "error" ? `${short} could not be computed` : `${short} –`;
  if (threshold === null) return `${short} ${scoreText(score)}`;
  return `${short} ${distinct(score, threshold)} ${score < threshold ? "<" : "≥"} ${threshold}`;
}

/** So many digits that a score does not look like the threshold that it misses. */
function distinct(score: number, threshold: number): string {
  for (let digits = 2; digits < 6; digits += 1) {
    const text = fixedText(score, digits);
    if (Number(text) < threshold === score < threshold) return text;
  }
  return String(score);
}
