import type { EvalCaseRow } from "../../data/types";

/** Whether a case has every word of the line: in its id, its first message, its tags; `tag:x` a tag, `problems` any problem. */
export function matchesFilter(row: EvalCaseRow, line: string): boolean {
  return line
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => matchesWord(row, word));
}

function matchesWord(row: EvalCaseRow, word: string): boolean {
  if (word.startsWith("tag:")) return row.tags.some((tag) => tag.toLowerCase() === word.slice(4));
  if (word === "problems") return row.errors + row.warnings > 0;
  if (word === "scenario" && row.kind === "scenario") return true;
  return [row.eval_id, row.asks, ...row.tags].some((text) => text.toLowerCase().includes(word));
}
