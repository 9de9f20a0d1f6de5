import { describe, expect, test } from "vitest";
import { type Json, readJson, writeJson } from "../editing/exactJson";
import { renameKey, otherKeys, replaceOtherKeys } from "../editing/jsonEdit";
import { KIND_WORDS, OPTIONS, OPTION_WORDS, containsMatcher, convertKind, kindOf, switchKind } from "./matchers";
import { convertRule, ruleKind } from "./RulesEditor";

const VALUES = ['"Rome"', "1.0", "12345678901234567890", "null", "[1, 2]", '{"a": {"b": 1e3}}', "true", '""'].map((text) => readJson(text));

describe("a value becomes a matcher and is a value again", () => {
  test.each(VALUES.map((value) => [writeJson(value), value] as const))("%s", (text, value) => {
    for (const kind of ["exact", "subset", "json"]) expect(writeJson(convertKind(convertKind(value, kind), ""))).toBe(text);
    for (const kind of Object.keys(OPTIONS)) {
      const made = convertKind(value, kind);
      expect(kindOf(made)).toBe(kind);
      expect(Object.keys(made as object).every((key) => key === "$match" || Object.hasOwn(OPTIONS[kind] ?? {}, key))).toBe(true);
    }
  });

  test.each([
    ["Rome", "regex", { $match: "regex", pattern: "Rome" }],
    ["a.b (c)", "regex", { $match: "regex", pattern: "a\\.b \\(c\\)" }],
    [5, "number", { $match: "number", value: 5, tolerance: 0.1 }],
    ["x", "set", { $match: "set", value: ["x"] }],
    ["x", "one_of", { $match: "one_of", values: ["x"] }],
    [{ $match: "regex", pattern: "a\\.b" }, "", "a.b"],
    [{ $match: "number", value: 5, tolerance: 1 }, "date", { $match: "date", value: "5" }],
    [{ $match: "text", value: "x", mine: 1 }, "json", { $match: "json", value: "x", mine: 1 }],
    [{ $match: "one_of", values: ["x", "y"] }, "", "x"],
    [{ $match: "numbr", value: 2 }, "number", { $match: "number", value: 2, tolerance: 0.1 }],
  ] as [Json, string, Json][])("%j as %s", (value, kind, made) => expect(convertKind(value, kind)).toEqual(made));

  test("the same kind changes nothing", () => {
    const value = { mine: 1, $match: "text", value: "x" };
    expect(convertKind(value, "text")).toBe(value);
  });
});

describe("looking at other kinds and coming back", () => {
  const many: Json = { $match: "one_of", values: ["a", "b", { $match: "present" }] };
  const about: Json = { $match: "number", value: { k: 1 }, tolerance: 0.5, relative: 0.01, mine: 1 };
  test.each([[many], [about], [{ $match: "regex", pattern: "a|b", full: true }], [{ $match: "numbr", value: [1] }], ["Rome"], [null]] as [Json][])("%j", (value) => {
    for (const kind of ["", "ignore", ...Object.keys(OPTIONS)].filter((one) => one !== kindOf(value))) {
      const away = switchKind(value, kind, null);
      expect(kindOf(away.now)).toBe(kind);
      expect(switchKind(away.now, kindOf(value), away).now).toEqual(value);
      const further = switchKind(away.now, kind === "ignore" ? "exact" : "ignore", away);
      expect(switchKind(further.now, kindOf(value), further).now).toEqual(value);
    }
  });

  test("a change made in between takes precedence", () => {
    const away = switchKind(many, "text", null);
    expect(switchKind({ $match: "text", value: "c" }, "one_of", away).now).toEqual({ $match: "one_of", values: ["c"] });
  });

  test("a key such as __proto__ goes along", () => {
    const value = readJson('{"$match": "text", "value": "x", "__proto__": 5}');
    expect(writeJson(convertKind(value, "json"))).toContain("__proto__");
  });
});

test("a matcher is seen at any depth, and a plain object is none", () => {
  expect(containsMatcher({ a: [{ b: { $match: "present" } }] })).toBe(true);
  expect(containsMatcher({ match: "present", a: [1, null] })).toBe(false);
  expect(kindOf({ $match: 5 })).toBe("?");
});

test("every kind and every option has its words", () => {
  expect(Object.keys(KIND_WORDS).sort()).toEqual(Object.keys(OPTIONS).sort());
  const options = new Set(Object.values(OPTIONS).flatMap((each) => Object.keys(each)));
  expect(Object.keys(OPTION_WORDS).sort()).toEqual([...options].sort());
});

describe("rules", () => {
  test.each([
    [{ never: "a" }, "never"],
    [{ call: "a", at_most: 1 }, "at_most"],
    [{ no: "a", before: "b" }, "before"],
    [{ call: "a" }, null],
    [{ never: "a", at_most: 1 }, null],
    [["a"], null],
  ] as [Json, string | null][])("%j is of kind %s", (rule, kind) => expect(ruleKind(rule)).toBe(kind));

  test("a rule of another kind keeps its calls and its other keys", () => {
    const rule = { call: { tool: "a", args: {} }, only_after: "b", same: "id", name: "n", mine: 1 };
    expect(convertRule(rule, "only_after", "before")).toEqual({ no: rule.call, before: "b", same: "id", name: "n", mine: 1 });
    expect(convertRule(rule, "only_after", "at_most")).toEqual({ call: rule.call, at_most: 1, same: "id", name: "n", mine: 1 });
    expect(convertRule({ call: "a", at_most: 3 }, "at_most", "implies_later")).toEqual({ call: "a", implies_later: "" });
  });
});

test("a group of another kind keeps its calls, its place and its other keys", () => {
  expect(writeJson(renameKey({ x: 1, any_of: ["a"], optional: true }, "any_of", "in_order"))).toBe('{"x":1,"in_order":["a"],"optional":true}');
});

test("where names are exact, the same name in camelCase is another key", () => {
  const call = { tool: "a", otherArgs: "allowed", other_args: "forbidden" };
  expect(otherKeys(call, ["tool", "other_args"], true)).toEqual({ otherArgs: "allowed" });
  expect(replaceOtherKeys(call, ["tool", "other_args"], {}, true)).toEqual({ tool: "a", other_args: "forbidden" });
});
