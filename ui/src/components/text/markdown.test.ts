import { describe, expect, it } from "vitest";
import { mdCode, mdTable, mdText } from "./markdown";

describe("Markdown to copy", () => {
  it.each([
    ["a | b", "a \\| b"],
    ["<img src=x>", "\\<img src=x\\>"],
    ["[click](http://x.y)", "\\[click\\](http:\u200b//x.y)"],
    ["two\nlines", "two lines"],
    ["@someone #1 **bold**", "@\u200bsomeone \\#1 \\*\\*bold\\*\\*"],
  ])("keeps %j text", (text, md) => expect(mdText(text)).toBe(md));

  it.each([
    ["x", "`x`"],
    ["a`b", "`` a`b ``"],
    ["a|b", "`a\\|b`"],
  ])("puts %j into backticks", (text, md) => expect(mdCode(text)).toBe(md));

  it("writes a table, figures to the right", () => {
    expect(mdTable(["a", "n"], [["x", "1"]], [1])).toBe("| a | n |\n| --- | ---: |\n| x | 1 |");
  });
});
