// Names in one line, separated by commas: `smoke, "left, right"`. A name with a comma is in quotation marks.

const NEEDS_QUOTES = /^$|^[\s"]|\s$|,/;
const NAME = /\s*(?:"((?:[^"\\]|\\.)*)"\s*(?=,|$)|([^,]*))(?:,|$)/gsy;

/** The names as a line that `parseNames` reads. */
export function namesText(names: readonly string[]): string {
  return names.map((name) => (NEEDS_QUOTES.test(name) ? `"${name.replace(/["\\]/g, "\\$&")}"` : name)).join(", ");
}

export function parseNames(line: string): string[] {
  const names: string[] = [];
  NAME.lastIndex = 0;
  while (NAME.lastIndex < line.length) {
    const [, quoted, plain = ""] = NAME.exec(line) ?? [];
    const name = quoted === undefined ? plain.trim() : quoted.replace(/\\(.)/gs, "$1");
    if (name) names.push(name);
  }
  return names;
}
