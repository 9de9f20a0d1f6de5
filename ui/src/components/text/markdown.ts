// Markdown for an issue or a pull request. Text of agents and files stays text there, too.
import { showSpaces } from "./safeText";

/** `text` as Markdown that reads as `text`: on one line, nothing of it markup, a link or a name that is called. */
export function mdText(text: string): string {
  return text
    .replace(/\s*[\r\n]+\s*/g, " ")
    .replace(/[\\`*_[\]<>|~#]/g, "\\$&")
    .replace(/@(?=\w)/g, "@\u200b")
    .replace(/:\/\//g, ":\u200b//")
    .replace(/\bwww\./gi, "www\u200b.");
}

/** A sentence with its code marks: code stays code, the rest reads as text. */
export function mdProse(text: string): string {
  return codeParts(text)
    .map((part, index) => (index % 2 ? mdCode(part) : mdText(part)))
    .join("");
}

/** `text` in backticks, even if it contains backticks. A space that readers could overlook is `\x20`. */
export function mdCode(text: string): string {
  return codeMark(showSpaces(text.replace(/\s*[\r\n]+\s*/g, " ")).replaceAll("|", "\\|"));
}

/** A table; the cells are Markdown already. `ends`: columns of figures, by their place. */
export function mdTable(heads: readonly string[], rows: readonly (readonly string[])[], ends: readonly number[] = []): string {
  const rule = heads.map((_, index) => (ends.includes(index) ? "---:" : "---"));
  return [heads, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

// Names and values in sentences are marked as code, as `common/inline_code.py` writes them: a mark has more backticks than the longest
// run of them inside; inside a word, a backtick is a character like any other.
const MARK = /(?<![\p{L}\p{N}_`])(`+)(?!`)([^\n]{1,1000}?)(?<!`)\1(?![\p{L}\p{N}_`])/gu;

/** The parts of a sentence in turn: text, code without its marks, text … */
export function codeParts(text: string): string[] {
  const parts: string[] = [];
  let at = 0;
  for (const mark of text.matchAll(MARK)) {
    parts.push(text.slice(at, mark.index), withoutPadding(mark[2] ?? ""));
    at = mark.index + mark[0].length;
  }
  return [...parts, text.slice(at)];
}

function withoutPadding(text: string): string {
  return text.startsWith(" ") && text.endsWith(" ") && text.trim() ? text.slice(1, -1) : text;
}

/** A text of one line, marked as code. */
export function codeMark(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const marks = "`".repeat(longest + 1);
  const padding = /^[ `]|[ `]$/.test(text) ? " " : "";
  return text.trim() ? `${marks}${padding}${text}${padding}${marks}` : "` `";
}
