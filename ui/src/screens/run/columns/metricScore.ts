// The score of a metric in the row of a case; two metrics have fields and columns with names of their own.
import type { CaseRow } from "../../../data/types";
import { numText, scoreText, secondsText } from "../../../components/text/numberFormats";

const OWN_FIELDS: Readonly<Record<string, "seconds" | "tokens">> = { invocation_duration_v1: "seconds", token_usage_v1: "tokens" };

/** The name of a metric's column, by which a filter, too, knows the metric. */
export function columnName(metric: string): string {
  return OWN_FIELDS[metric] ?? metric;
}

/** The score of a metric; null or undefined: it was not computed. */
export function scoreOf(row: CaseRow, metric: string): number | null | undefined {
  const own = OWN_FIELDS[metric];
  return own ? row[own] : row.scores[metric];
}

/** A score in the unit of its metric: `0.40`, `1.2 s`; of a metric in error that has none, `error`. */
export function metricText(row: CaseRow, metric: string): string {
  const score = scoreOf(row, metric);
  if (typeof score !== "number" && row.errors.includes(metric)) return "error";
  const own = OWN_FIELDS[metric];
  return own === "seconds" ? secondsText(score) : own === "tokens" ? numText(score, 0) : scoreText(score);
}
