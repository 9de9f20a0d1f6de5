import { describe, expect, test } from "vitest";
import { ExactNumber, readJson, isEqual, jsonError, lineJson, writeJson } from "./exactJson";

describe("JSON is returned unchanged", () => {
  test.each([
    ["1.0"], ["1.50"], ["1e3"], ["1E+2"], ["-0"], ["-0.0"], ["12345678901234567890123"], ["0.1"], ["-5"], ["1e999"],
    ['"1.0"'], ['"a \\" 1.0"'], ['"\\\\"'], ["[1.0,1,2.50]"], ['{"a":1.0,"b":{"c":[null,true,""]}}'], ['{"__proto__":1.0}'],
    ['"</script><img src=x>"'], ['"é😀\u2028"'], ['{"1.0":"2.0"}'],
  ])("%s", (text) => {
    expect(writeJson(readJson(text))).toBe(text);
  });

  test.each([
    ['{"a":1.0,"b":[1,{"c":null}]}', '{"a": 1.0, "b": [1, {"c": null}]}'], ["{}", "{}"], ["[]", "[]"], ['"{ \\n }"', '"{ \\n }"'], ["2", "2"],
  ])("in one line %s is %s", (text, line) => {
    expect(lineJson(readJson(text))).toBe(line);
  });

  test("numbers that JavaScript writes the same are numbers", () => {
    expect(readJson("[1, 2.5]")).toEqual([1, 2.5]);
    expect(readJson("1.0")).toBeInstanceOf(ExactNumber);
  });

  test.each([
    ["1", "1", true], ["1.0", "1", false], ["1.0", "1.0", true], ['{"a":1,"b":2}', '{"b":2,"a":1}', true],
    ["[1,2]", "[2,1]", false], ["null", "{}", false], ["[]", "{}", false], ['{"a":null}', "{}", false], ["true", "1", false],
  ])("%s and %s are the same: %s", (one, other, expected) => {
    expect(isEqual(readJson(one), readJson(other))).toBe(expected);
  });

  test("invalid JSON is reported with its place", () => {
    expect(jsonError('{\n  "a": 1,\n}')).toMatch(/line 3, column 1/);
    expect(jsonError("{}")).toBe("");
  });
});
