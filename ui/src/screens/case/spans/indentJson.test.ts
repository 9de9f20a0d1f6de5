import { describe, expect, it } from "vitest";
import { indentJson } from "./indentJson";

describe("JSON that was asked or answered", () => {
  it.each([
    ['{"a": [1, {"b": "x"}], "c": {}}', '{\n  "a": [\n    1,\n    {\n      "b": "x"\n    }\n  ],\n  "c": {}\n}'],
    ["[]", "[]"],
    ['{"n": 12345678901234567890, "f": 1.0, "e": 1e400}', '{\n  "n": 12345678901234567890,\n  "f": 1.0,\n  "e": 1e400\n}'],
    ['{"a": "} , \\" [ {"}', '{\n  "a": "} , \\" [ {"\n}'],
  ])("%s has a line for each value", (text, shown) => expect(indentJson(text)).toBe(shown));
  it.each(["It rains.", '{"cut": "in the mid', "[cut: 3 characters", "", "{}}"])("%j stays unchanged", (text) => expect(indentJson(text)).toBe(text));
  it("has the same meaning in every spelling", () => {
    const value = { a: [[], {}, [1, [2, "\n\u2028"]], null], "b:": "[,]", c: { d: { e: true } } };
    expect(JSON.parse(indentJson(JSON.stringify(value)))).toEqual(value);
  });
  it("does not grow without end where it is nested without end", () => {
    const text = "[".repeat(1000) + "]".repeat(1000);
    expect(indentJson(text).length).toBeLessThan(200_000);
  });
});
