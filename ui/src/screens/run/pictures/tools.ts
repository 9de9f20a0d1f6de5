// The tools of a run as text: what filters by one, and the table to copy.
import type { ToolFigures } from "../../../data/types";
import { mdCode, mdTable, mdText } from "../../../components/text/markdown";
import { UNKNOWN, numText, secondsText } from "../../../components/text/numberFormats";
import { safeText } from "../../../components/text/safeText";
import { filterValue } from "../caseFilter";

/** The filter for the cases in which the agent called a tool; null if its name cannot be written in a filter. */
export function toolFilter({ name }: Pick<ToolFigures, "name">): string | null {
  return /\n/.test(name) ? null : `tool:${filterValue(name)}`;
}

export function toolsMarkdown(tools: readonly ToolFigures[]): string {
  const rows = tools.map(({ name, calls, cases, mean_seconds: mean, p95_seconds: p95, failed, errors }) => [
    mdCode(safeText(name)),
    numText(calls),
    numText(cases),
    mean === null ? UNKNOWN : secondsText(mean),
    p95 === null ? UNKNOWN : secondsText(p95),
    numText(failed),
    mdText(safeText(errors.map((error) => `${error.calls} × ${error.text}`).join("; "))),
  ]);
  return `${mdTable(["Tool", "Calls", "Cases", "Mean", "p95", "Failed", "Errors"], rows, [1, 2, 3, 4, 5])}\n`;
}
