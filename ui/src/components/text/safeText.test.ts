import { describe, expect, it } from "vitest";
import { safeText, showSpaces } from "./safeText";

const TABLE: [name: string, text: string, seen: string][] = [
  ["plain text", "Grüezi, 你好 👋🏽", "Grüezi, 你好 👋🏽"],
  ["lines and tabs", "a\n\tb", "a\n\tb"],
  ["escape", "\u001b[2J", "\\x1b[2J"],
  ["carriage return", "a\rb", "a\\x0db"],
  ["C1", "\u009b2J", "\\x9b2J"],
  ["right to left override", "gpj\u202eexe", "gpj\\u202eexe"],
  ["isolates", "\u2066a\u2069", "\\u2066a\\u2069"],
  ["no width", "a\u200bb\ufeffc", "a\\u200bb\\ufeffc"],
  ["line separator", "a\u2028b", "a\\u2028b"],
  ["half a character", "a\ud83db", "a\\ud83db"],
  ["the other half", "a\udc4bb", "a\\udc4bb"],
  ["tags", "a\u{e0041}b", "a\\U000e0041b"],
  ["an emoji of several", "👩\u200d👩\u200d👧 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 ❤\ufe0f\u200d🔥", "👩\u200d👩\u200d👧 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 ❤\ufe0f\u200d🔥"],
  ["Persian", "می\u200cخواهم", "می\u200cخواهم"],
  ["Hindi", "क्\u200dष क्\u200cष", "क्\u200dष क्\u200cष"],
  ["joiners that join nothing", "a\u200db \u200d👩 👩\u200d a\u200cb می\u200c", "a\\u200db \\u200d👩 👩\\u200d a\\u200cb می\\u200c"],
  ["no joiner of an emoji", "👩\u200c👩", "👩\\u200c👩"],
  ["NUL", "a\0b", "a\\x00b"],
];

describe("safeText", () => {
  it.each(TABLE)("%s", (_, text, seen) => expect(safeText(text)).toBe(seen));
  it("changes nothing more the second time", () => {
    for (const [, text] of TABLE) expect(safeText(safeText(text))).toBe(safeText(text));
  });
});

describe("showSpaces", () => {
  it.each([
    ["a b", "a b"],
    [" a ", "\\x20a\\x20"],
    ["a  b", "a \\x20b"],
    ["a\tb\nc", "a\\tb\\nc"],
  ])("%j", (text, shown) => expect(showSpaces(text)).toBe(shown));
});
