import { describe, expect, test } from "vitest";
import { type Path, valueAt, differences, isCamelCase, keyOf, moveItem, pointer, setAt, otherKeys, keyFor, replaceOtherKeys } from "./jsonEdit";
import { type Json, isObject, readJson, isEqual, writeJson } from "./exactJson";
import { chooseSide, findConflicts, mergeConflicts } from "./merge";

const CASES = [
  `{"evalId":"rome","conversation":[{"userContent":{"parts":[{"text":"hi","mine":1.0}],"role":"user"},"x":{"y":[1.0,null]}}],
    "big":12345678901234567890,"sessionInput":{"appName":"a","userId":"u","state":{"k":null,"__proto__":{"a":1.50}}}}`,
  `{"eval_id":"a","conversation":[{"user_content":{},"intermediate_data":{"invocation_events":[{"author":"x","extra":1}]}}],
    "rubrics":[{"rubric_id":"r","rubric_content":{"text_property":"t","more":[]},"odd":{}}],"tags":["x"],"":{"":0}}`,
  `{"eval_id":"s","conversation_scenario":{"starting_prompt":"a","conversation_plan":"b","user_persona":"NOVICE","z":1e3},"opening":["hello"]}`,
].map((text) => readJson(text));

function paths(value: Json, path: Path = []): Path[] {
  const inner: [string | number, Json][] = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  return [path, ...inner.flatMap(([key, item]) => paths(item, [...path, key]))];
}

describe("an edit changes one place and keeps all others", () => {
  test.each(CASES.flatMap((value, index) => paths(value).slice(1).map((path) => [index, pointer(path), path] as const)))(
    "case %i, %s",
    (index, _, path) => {
      const value = CASES[index] as Json;
      const before = writeJson(value);
      const next = setAt(value, path, "changed");
      expect(valueAt(next, path)).toBe("changed");
      expect(differences(value, next).map(pointer)).toEqual([pointer(path)]);
      expect(writeJson(value)).toBe(before);
      expect(writeJson(setAt(next, path, valueAt(value, path) as Json))).toBe(before);
    },
  );

  test("a key is taken out, an item too", () => {
    expect(setAt({ a: 1, b: 2 }, ["a"], undefined)).toEqual({ b: 2 });
    expect(setAt({ a: [1, 2, 3] }, ["a", 1], undefined)).toEqual({ a: [1, 3] });
  });

  test("a place that is not there is made", () => {
    expect(setAt({}, ["session_input", "state", "k"], 1)).toEqual({ session_input: { state: { k: 1 } } });
  });
});

describe("what no field shows", () => {
  test.each(CASES.map((value, index) => [index, value] as const))("case %i: other keys are those that are not named, in both spellings", (_, value) => {
    const names = ["eval_id", "conversation", "session_input", "rubrics"];
    const others = otherKeys(value, names);
    expect(Object.keys(others).some((key) => /eval_?id|conversation$|session_?input|rubrics/i.test(key))).toBe(false);
    expect(writeJson(replaceOtherKeys(value, names, others))).toBe(writeJson(value));
  });

  test("changing the other keys touches no named one, and the order stays", () => {
    const made = replaceOtherKeys({ a: 1, evalId: "x", b: 2 }, ["eval_id"], { b: 3, c: 4, eval_id: "forged", evalId: "forged" });
    expect(writeJson(made)).toBe('{"evalId":"x","b":3,"c":4}');
  });
});

describe("spelling", () => {
  test("a field is found in either spelling, and a new one takes the case's", () => {
    expect(keyOf({ userContent: 1 }, "user_content")).toBe("userContent");
    expect(keyFor({}, "final_response", true)).toBe("finalResponse");
    expect(keyFor({ final_response: 1 }, "final_response", true)).toBe("final_response");
    expect(CASES.map(isCamelCase)).toEqual([true, false, false]);
  });
});

test("an item moves, and stops at the ends", () => {
  expect(moveItem(["a", "b", "c"], 2, -1)).toEqual(["a", "c", "b"]);
  expect(moveItem(["a", "b"], 0, -1)).toEqual(["a", "b"]);
  expect(moveItem(["a", "b"], 1, 1)).toEqual(["a", "b"]);
});

describe("two people change one case", () => {
  const base = readJson('{"eval_id":"a","tags":["x"],"n":{"one":1,"two":2.0},"gone":1}');

  test("what only one of them changed is taken, what both changed is asked", () => {
    const mine = setAt(setAt(base, ["n", "one"], 10), ["tags"], ["mine"]);
    const theirs = setAt(setAt(setAt(base, ["n", "two"], 20), ["tags"], ["theirs"]), ["new"], true);
    const found = findConflicts(base, mine, theirs);
    expect(Object.fromEntries(found.map((one) => [pointer(one.path), [one.side, one.both]]))).toEqual({
      "/n/one": ["mine", false],
      "/n/two": ["theirs", false],
      "/tags/0": ["mine", true],
      "/new": ["theirs", false],
    });
    const made = mergeConflicts(theirs, chooseSide(found, ["tags", 0], "theirs"));
    expect(made).toEqual({ eval_id: "a", tags: ["theirs"], n: { one: 10, two: 20 }, gone: 1, new: true });
  });

  test("a key that one took out stays out", () => {
    const mine = setAt(base, ["gone"], undefined);
    const theirs = setAt(base, ["n", "one"], 5);
    expect(isEqual(mergeConflicts(theirs, findConflicts(base, mine, theirs)), readJson('{"eval_id":"a","tags":["x"],"n":{"one":5,"two":2.0}}'))).toBe(true);
  });
});
