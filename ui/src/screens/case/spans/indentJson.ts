/** JSON with a line for each value, every token unchanged (a number of twenty digits keeps them all); other text unchanged. */
export function indentJson(text: string): string {
  if (!/^\s*[[{]/.test(text) || !isJson(text)) return text;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/gs) ?? [];
  let depth = 0;
  let made = "";
  tokens.forEach((token, index) => {
    const before = tokens[index - 1];
    if (token === "}" || token === "]") {
      depth -= 1;
      made += before === "{" || before === "[" ? token : line(depth) + token;
    } else {
      if (before === "{" || before === "[" || before === ",") made += line(depth);
      made += token === ":" ? ": " : token;
      if (token === "{" || token === "[") depth += 1;
    }
  });
  return made;
}

const DEEPEST = 40;

function line(depth: number): string {
  return `\n${"  ".repeat(Math.min(depth, DEEPEST))}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
