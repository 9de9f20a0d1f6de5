// Markdown for an issue or a pull request. Text of agents and files stays text there, too.

/** `text` as Markdown that reads as `text`: on one line, nothing of it markup, a link or a name that is called. */
export function mdText(text: string): string {
  return text
    .replace(/\s*[\r\n]+\s*/g, " ")
    .replace(/[\\`*_[\]<>|~#]/g, "\\$&")
    .replace(/@(?=\w)/g, "@\u200b")
    .replace(/:\/\//g, ":\u200b//")
    .replace(/\bwww\./gi, "www\u200b.");
}

/** `text` with its code marks: what is between two backticks stays code, the rest reads as text. */
export function mdProse(text: string): string {
  return text
    .split(/(`[^`\r\n]+`)/)
    .map((part, index) => (index % 2 ? mdCode(part.slice(1, -1)) : mdText(part)))
    .join("");
}

/** `text` in backticks, even if it contains backticks. */
export function mdCode(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  const space = longest ? " " : "";
  return `${fence}${space}${text.replace(/\s*[\r\n]+\s*/g, " ").replaceAll("|", "\\|")}${space}${fence}`;
}

/** A table; the cells are Markdown already. `ends`: columns of figures, by their place. */
export function mdTable(heads: readonly string[], rows: readonly (readonly string[])[], ends: readonly number[] = []): string {
  const rule = heads.map((_, index) => (ends.includes(index) ? "---:" : "---"));
  return [heads, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
