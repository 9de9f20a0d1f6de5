import { describe, expect, it } from "vitest";
import { namesText, parseNames } from "./nameList";

describe("names in one line", () => {
  it.each([[[]], [["smoke"]], [["smoke", "de"]], [["left, right", "x"]], [['"', "\\", 'a"b', 'a, "b"']], [[" a", "b "]], [["a\nb", "é"]]])("%j are read as they were", (names) => {
    expect(parseNames(namesText(names))).toEqual(names);
  });

  it.each<[string, string[]]>([
    ["smoke, de", ["smoke", "de"]],
    ["smoke,,  de ,", ["smoke", "de"]],
    ['"left, right" , x', ["left, right", "x"]],
    ['"open, x', ['"open', "x"]],
    ['5" pipe, x', ['5" pipe', "x"]],
    ['"a" b, c', ['"a" b', "c"]],
    ["", []],
  ])("%j is %j", (line, names) => {
    expect(parseNames(line)).toEqual(names);
  });

  it("are read in time that grows with their length", () => {
    expect(parseNames(`"${"x,".repeat(20_000)}`)).toHaveLength(20_000);
  });
});
