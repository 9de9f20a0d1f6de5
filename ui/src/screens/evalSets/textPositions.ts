// Places in a text: lines and columns as the server counts them (from 1, a column a character), offsets as a browser does.

/** Where a place is, in UTF-16 units; a place behind the end of its line is the end of it. */
export function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let at = 1; at < line; at++) {
    const end = text.indexOf("\n", start);
    if (end < 0) break;
    start = end + 1;
  }
  const end = text.indexOf("\n", start);
  const chars = [...text.slice(start, end < 0 ? text.length : end)].slice(0, Math.max(0, column - 1));
  return start + chars.join("").length;
}

/** The line that an offset is in, from 1, and its column. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: [...before.slice(start)].length + 1 };
}

export function lineCount(text: string): number {
  return text.split("\n").length;
}
