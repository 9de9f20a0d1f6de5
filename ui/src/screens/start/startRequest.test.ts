import { describe, expect, it } from "vitest";
import { EMPTY, isComplete, parseNumber, problemsIn, problemsOf, problemsOfMetric, readRepeated, readStartRequest, requestText, startAddress, shapeOf, requestBody, writeStartRequest, invalidNumbers } from "./startRequest";

describe("the address", () => {
  it("keeps what is asked for", () => {
    const request = { agent: "travel", eval_sets: [{ path: "a.evalset.json", cases: ["x y", "ü"] }], num_runs: 5, criteria: { safety_v1: { threshold: 0.8 } } };
    const query = new URLSearchParams({ ask: writeStartRequest(request) ?? "" });
    expect(readStartRequest(new URLSearchParams(query.toString()))).toEqual({ request, problem: null });
  });

  it("is empty without a request", () => {
    expect(writeStartRequest(EMPTY)).toBe(null);
    expect(readStartRequest(new URLSearchParams())).toEqual({ request: EMPTY, problem: null });
  });

  it.each([
    ["{", "expected a JSON object, got {."],
    ["3", "expected a JSON object, got 3."],
    ["null", "expected a JSON object, got null."],
    ["[]", "expected a JSON object, got []."],
    ['"x"', 'expected a JSON object, got "x".'],
    ['{"eval_sets": 3}', 'eval_sets: expected a list of {"path": …, "cases": null or ids}, got 3.'],
    ['{"eval_sets": [{"path": "a"}]}', 'got [{"path":"a"}].'],
    ['{"eval_sets": [{"path": 3, "cases": null}]}', "eval_sets: expected a list of"],
    ['{"tags": "x", "foo": 1}', 'tags: expected a list of texts, got "x"; unknown field foo.'],
    ['{"agent": null}', "agent: expected a text, got null."],
    ['{"no_judge": "yes"}', 'no_judge: expected true or false, got "yes".'],
    ['{"limit": [1]}', "limit: expected a number, got [1]."],
    ['{"criteria": {"safety_v1": 1}}', "criteria: expected an object with the options of each metric"],
    ['{"toString": 1, "__proto__": {}}', "unknown field toString; unknown field __proto__."],
    [`{"agent": ["${"x".repeat(1000)}"]}`, `agent: expected a text, got ["${"x".repeat(58)}….`],
  ])("an invalid request is empty, and the reason is stated: %s", (ask, problem) => {
    const read = readStartRequest(new URLSearchParams({ ask }));
    expect(read.request).toEqual(EMPTY);
    expect(read.problem).toContain(problem);
  });

  it("may name a run whose failures are asked for", () => {
    expect(readStartRequest(new URLSearchParams("failed_of=abc"))).toEqual({ request: { ...EMPTY, failed_of: "abc" }, problem: null });
  });
});

describe("what is sent", () => {
  it("leaves out what is not stated, and writes a bare threshold as a number", () => {
    const request = { ...EMPTY, agent: "a", judge: "", no_judge: false, tags: [], criteria: { one: { threshold: 0.5 }, two: { threshold: 1, match_type: "EXACT", gate: undefined } } };
    expect(requestBody(request)).toEqual({ agent: "a", eval_sets: [], criteria: { one: 0.5, two: { threshold: 1, match_type: "EXACT" } } });
  });

  it("has what is accepted of sets and configs only where it is ticked", () => {
    const request = { ...EMPTY, agent: "a", allow_unasserted: true, allow_unknown_keys: false, warnings_as_errors: true };
    expect(requestBody(request)).toEqual({ agent: "a", eval_sets: [], allow_unasserted: true, warnings_as_errors: true });
    expect(readStartRequest(new URLSearchParams({ ask: writeStartRequest(request) ?? "" })).request.allow_unknown_keys).toBe(undefined);
  });

  it.each([
    [{ ...EMPTY }, false],
    [{ ...EMPTY, agent: "a" }, false],
    [{ ...EMPTY, agent: "a", failed_of: "r" }, true],
    [{ agent: "a", eval_sets: [{ path: "p", cases: null }] }, true],
  ])("is asked for once it is whole: %j", (request, whole) => {
    expect(isComplete(request)).toBe(whole);
  });
});

describe("the request of a run that is repeated", () => {
  it.each([
    [{ eval_sets: [{ path: "a.json", cases: null }] }, "All cases of a.json"],
    [{ eval_sets: [{ path: "a.json", cases: ["x"] }], num_runs: 1, judge: "m" }, "Case x of a.json · 1 trial per case · judge m"],
    [{ eval_sets: [{ path: "a.json", cases: ["x", "y"] }, { path: "b.json", cases: null }], config: "c.json" }, "2 cases of a.json, all cases of b.json · criteria: c.json"],
    [{ eval_sets: [], failed_of: "bdkdh2hf7n", num_runs: 4 }, "The cases that did not pass in run bdkdh2 · 4 trials per case"],
    [{ eval_sets: [{ path: "a.json", cases: null }], criteria: { one: {}, two: {} } }, "All cases of a.json · metrics: one, two"],
  ])("in words: %j", (request, words) => {
    expect(requestText(readRepeated(request))).toBe(words);
  });

  it("is what the form at its address has", () => {
    const request = readRepeated({ agent: "a", eval_sets: [{ path: "ü&.json", cases: ["x=1"] }] });
    expect(readStartRequest(new URLSearchParams(startAddress(request).split("?")[1]))).toEqual({ request, problem: null });
  });
});

describe("numbers", () => {
  it.each<[Record<string, unknown>, string[]]>([
    [{}, []],
    [{ num_runs: 5, retry_errors: 0, max_cost: 0.5 }, []],
    [{ num_runs: 0 }, ["num_runs"]],
    [{ num_runs: 1.5, concurrency: "x" }, ["num_runs", "concurrency"]],
    [{ limit: 1_000_000, concurrency: 1_000, retry_errors: 100 }, []],
    [{ limit: 1_000_001, concurrency: 1_001, retry_errors: 101, max_time: 1e300 }, ["limit", "concurrency", "retry_errors"]],
    [{ retry_errors: -1, max_cost: 0, timeout: "soon" }, ["timeout", "retry_errors", "max_cost"]],
  ])("%j", (numbers, wrong) => {
    const request = { ...EMPTY, ...numbers } as typeof EMPTY;
    expect(invalidNumbers(request)).toEqual(wrong);
    for (const name of wrong) expect(requestBody(request)).not.toHaveProperty(name);
  });
});

describe("what an option may be", () => {
  it.each([
    [{ type: "number" }, "number"],
    [{ type: "boolean" }, "yes"],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "text"],
    [{ enum: ["a", "b"] }, "choice"],
    [{ const: "a" }, "choice"],
    [{ anyOf: [{ type: "array", items: { type: "string" } }, { type: "null" }] }, "texts"],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, "json"],
    [{ type: "object" }, "json"],
    [{ $ref: "#/x" }, "json"],
    [{}, "json"],
  ])("%j", (schema, kind) => {
    expect(shapeOf(schema).kind).toBe(kind);
  });

  it.each([
    ["", undefined],
    ["  ", undefined],
    ["0.5", 0.5],
    ["x", undefined],
  ])("a number typed as %j", (typed, value) => {
    expect(parseNumber(typed)).toBe(value);
  });
});

describe("what is wrong", () => {
  const problems = problemsIn({ problems: [{ field: "criteria", message: "a", metric: "one" }, { field: "criteria", message: "b", metric: "" }] });

  it("is shown at its field, or its metric", () => {
    expect(problemsOf(problems, "config", "criteria")).toBe("b");
    expect(problemsOfMetric(problems, "one")).toBe("a");
    expect(problemsOf(problems, "agent")).toBe(null);
  });

  it.each([null, {}, { problems: 3 }, "x"])("is nothing in another answer: %j", (document) => {
    expect(problemsIn(document)).toEqual([]);
  });
});
