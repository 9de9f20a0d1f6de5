// The causes of failures as text: what filters by one, and the table to copy.
import type { CauseTrend, RunPage } from "../../../data/types";
import { codeParts, mdProse, mdTable } from "../../../components/text/markdown";
import { numText } from "../../../components/text/numberFormats";
import { filterValue } from "../caseFilter";

type CauseGroup = RunPage["causes"][number];

/** The filter for the cases with a cause, which is written as the page shows it. */
export function causeFilter({ text }: Pick<CauseGroup, "text">): string {
  return `cause:${filterValue(codeParts(text).join(""))}`;
}

/** How many cases had the cause before: `3 cases`, `new`; empty without an earlier run. */
export function sinceText({ before }: Pick<CauseGroup, "before">): string {
  if (before === null) return "";
  return before === 0 ? "new" : `${numText(before)} ${before === 1 ? "case" : "cases"}`;
}

/** A trend for those who hear it: `cases in each of the last 3 runs: 0, 2, 4`. */
export function trendLabel({ sizes }: CauseTrend["causes"][number], { runs }: Pick<CauseTrend, "runs">): string {
  return `cases in each of the last ${runs.length} runs: ${sizes.map((size) => numText(size)).join(", ")}`;
}

export function causesMarkdown({ causes, against }: Pick<RunPage, "causes" | "against">, trend?: Pick<CauseTrend, "causes" | "runs">): string {
  const sizes = new Map(trend?.causes.map((one) => [one.text, one]));
  const heads = ["Cause", "Cases", ...(against ? [`In ${against.short}`] : []), ...(trend ? [`Last ${trend.runs.length} runs`] : [])];
  const rows = causes.map((cause) => {
    const found = sizes.get(cause.text);
    const last = trend ? [found ? `${found.sizes.join(", ")}${found.since && ` (${found.since})`}` : "–"] : [];
    return [mdProse(cause.text), numText(cause.cases), ...(against ? [sinceText(cause)] : []), ...last];
  });
  return `${mdTable(heads, rows, [1])}\n`;
}
