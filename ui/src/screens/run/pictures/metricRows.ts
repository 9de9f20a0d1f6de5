// All metrics of a run as rows: their scores, and what changed.
import type { CaseRow, MetricPart, RunPage } from "../../../data/types";
import { type Bin, binsOf } from "../../../components/charts/bins";
import { mdCode, mdTable } from "../../../components/text/markdown";
import { fixedText, numText, scoreText } from "../../../components/text/numberFormats";
import { columnName, scoreOf } from "../columns/metricScore";
import { troubleCount } from "../runText";

/** How many of the cases that have a score missed a metric, and in how many it is in error, each with the filter of these cases. */
export function missedParts({ name, scored, missed, errors }: Pick<MetricPart, "name" | "scored" | "missed" | "errors">): { text: string; filter: string }[] {
  const parts = scored || !errors ? [{ text: `${numText(missed)} of ${numText(scored)}`, filter: missed && canFilter(name) ? `missed:${name}` : "" }] : [];
  return errors ? [...parts, { text: `${numText(errors)} in error`, filter: canFilter(name) ? `error:${name}` : "" }] : parts;
}

/** The metrics, those that decide first, and of these those that need a look in most cases. */
export function orderedMetrics({ metrics }: Pick<RunPage, "metrics">): MetricPart[] {
  return [...metrics].sort((one, other) => Number(other.gate) - Number(one.gate) || troubleCount(other) - troubleCount(one));
}

/** The scores of a metric, counted. */
export function scoreBins(rows: readonly CaseRow[], name: string): Bin[] {
  const values: number[] = [];
  const missed: boolean[] = [];
  for (const row of rows) {
    const score = scoreOf(row, name);
    if (typeof score !== "number") continue;
    values.push(score);
    missed.push(row.missed.includes(name));
  }
  return binsOf(values, missed, { shares: columnName(name) === name });
}

/** Whether a filter can name a metric. */
export function canFilter(name: string): boolean {
  return /^[\w.-]+$/.test(name);
}

/** An example of a filter by a score: that of the deciding metric with the shortest name, which is shortened if no other metric contains it. */
export function exampleFilter(metrics: readonly Pick<MetricPart, "name" | "short" | "gate" | "thresholds">[]): string {
  const [one] = metrics.filter(({ name, gate }) => gate && canFilter(name)).sort((a, b) => a.name.length - b.name.length);
  if (!one) return "seconds>1";
  const isUnique = metrics.filter(({ name }) => name.includes(one.short)).length === 1 && columnName(one.name) === one.name;
  return `${isUnique ? one.short : columnName(one.name)}<${one.thresholds[0] ?? 1}`;
}

/** The filter for the cases in an interval; null if the name cannot be written in a filter. */
export function binFilter(name: string, { from, to, isLast }: Bin): string | null {
  return canFilter(name) ? `${columnName(name)}>=${from} ${columnName(name)}${isLast ? "<=" : "<"}${to}` : null;
}

/** A mean with its standard error: `0.82 ± 0.03`. */
export function meanText(mean: MetricPart["mean"]): string {
  if (!mean) return "–";
  return `${scoreText(mean.value)}${mean.standard_error ? ` ± ${scoreText(mean.standard_error)}` : ""}`;
}

/** A change with its sign: `+0.05`, `−0.12`, `0`. */
export function changeText(value: number): string {
  if (value === 0) return "0";
  const text = Math.abs(value) < 0.005 ? String(Number(Math.abs(value).toPrecision(1))) : fixedText(Math.abs(value), 2);
  return `${value > 0 ? "+" : "−"}${text}`;
}

/** Whether a change excludes 0 at 95 % confidence; without an interval it cannot. */
export function isSignificant({ low, high }: NonNullable<MetricPart["change"]>): boolean {
  return low !== null && high !== null && (low > 0 || high < 0);
}

export function metricsMarkdown(page: RunPage): string {
  const head = ["Metric", "Mean", "Threshold", "Missed in", ...(page.against ? [`Change since ${page.against.short}`] : [])];
  const rows = orderedMetrics(page).map((metric) => [
    mdCode(metric.name),
    meanText(metric.mean),
    metric.thresholds.join(" or ") || "–",
    metric.gate ? missedParts(metric).map(({ text }) => text).join(", ") : "reported only",
    ...(page.against ? [metric.change ? changeText(metric.change.value) : "–"] : []),
  ]);
  return `${mdTable(head, rows)}\n`;
}
