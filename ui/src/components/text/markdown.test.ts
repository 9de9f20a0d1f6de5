import { describe, expect, it } from "vitest";
import { codeMark, codeParts, mdCode, mdProse, mdTable, mdText } from "./markdown";

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
    ["a`b", "``a`b``"],
    ["`a`", "`` `a` ``"],
    ["a|b", "`a\\|b`"],
    ["a  b", "`a \\x20b`"],
  ])("puts %j into backticks", (text, md) => expect(mdCode(text)).toBe(md));

  it("writes a table, figures to the right", () => {
    expect(mdTable(["a", "n"], [["x", "1"]], [1])).toBe("| a | n |\n| --- | ---: |\n| x | 1 |");
  });
});

describe("Code marks", () => {
  it.each(["get_order", "a`b", "`", "``", "`x`", "```sh", " x", "a `b` c", "(a`)"])("read %j as it was written", (name) => {
    expect(codeParts(`turn 1: ${codeMark(name)} was not called (${codeMark("look")})`)).toEqual(["turn 1: ", name, " was not called (", "look", ")"]);
  });

  it.each(["never a`b: a `c", "don`t and won`t", "`` open", "", "a\n`b\nc`"])("are none in %j", (text) => expect(codeParts(text)).toEqual([text]));

  it("read a name that was written without longer marks up to the end of its word", () => {
    expect(codeParts("`a`b()` was called")).toEqual(["", "a`b()", " was called"]);
  });

  it("stay marks in Markdown", () => {
    expect(mdProse("`` a`b|c() `` is *not* called")).toBe("``a`b\\|c()`` is \\*not\\* called");
  });
});
