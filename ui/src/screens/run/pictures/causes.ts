// The causes of failures as text: what filters by one, and the table to copy.
import type { RunPage } from "../../../data/types";
import { mdProse, mdTable } from "../../../components/text/markdown";
import { numText } from "../../../components/text/numberFormats";

type CauseGroup = RunPage["causes"][number];

/** The filter for the cases with a cause. A cause has no quotation marks. */
export function causeFilter({ text }: Pick<CauseGroup, "text">): string {
  return `cause:"${text}"`;
}

/** How many cases had the cause before: `3 cases`, `new`; empty without an earlier run. */
export function sinceText({ before }: Pick<CauseGroup, "before">): string {
  if (before === null) return "";
  return before === 0 ? "new" : `${numText(before)} ${before === 1 ? "case" : "cases"}`;
}

export function causesMarkdown({ causes, against }: Pick<RunPage, "causes" | "against">): string {
  const heads = ["Cause", "Cases", ...(against ? [`In ${against.short}`] : [])];
  const rows = causes.map((cause) => [mdProse(cause.text), numText(cause.cases), ...(against ? [sinceText(cause)] : [])]);
  return `${mdTable(heads, rows, [1])}\n`;
}
