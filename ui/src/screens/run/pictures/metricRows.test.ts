import { describe, expect, it } from "vitest";
import type { CaseRow, MetricPart } from "../../../data/types";
import { readFilter } from "../caseFilter";
import { binFilter, changeText, exampleFilter, isSignificant, missedParts, orderedMetrics, scoreBins } from "./metricRows";

const row = (score: number | null, missed = false) => ({ scores: { match: score }, missed: missed ? ["match"] : [], errors: [], seconds: score }) as unknown as CaseRow;
const ROWS = [row(0.3), row(0.35, true), row(1), row(null), row(0.7)];

describe("a bar of a histogram", () => {
  it.each(["match", "invocation_duration_v1"])("filters exactly the cases that it counts: %s", (name) => {
    for (const bin of scoreBins(ROWS, name)) {
      const { takes, problem } = readFilter(binFilter(name, bin) ?? "", { metrics: ["match"], sets: [], tags: [] });
      expect([problem, ROWS.filter(takes).length]).toEqual(["", bin.count]);
    }
  });

  it("of a metric that a filter cannot name is not pressed", () => {
    expect(binFilter("my metric", { from: 0, to: 1, isLast: true, count: 1, missed: 0 })).toBeNull();
  });
});

describe("the metrics", () => {
  it("that decide come first, those missed most among them first", () => {
    const metric = (name: string, gate: boolean, missed: number) => ({ name, gate, missed, errors: 0 }) as unknown as MetricPart;
    const found = orderedMetrics({ metrics: [metric("a", false, 9), metric("b", true, 0), metric("c", true, 2)] });
    expect(found.map(({ name }) => name).join("")).toBe("cba");
  });
});

describe("the example of a filter", () => {
  const metric = (name: string, gate: boolean, ...thresholds: number[]) => ({ name, short: name.replace("_score", ""), gate, thresholds });

  it.each([
    ["names the deciding metric with the shortest name and its threshold", [metric("trajectory_rules", true, 1), metric("trajectory", true, 0.9), metric("m", false)], "trajectory<0.9"],
    ["shortens a name that only one metric has", [metric("response_match_score", true, 0.8)], "response_match<0.8"],
    ["shortens no name that another metric contains", [metric("match_score", true, 0.8), metric("exact_match", true, 1), metric("long_match_rule", true, 1)], "match_score<0.8"],
    ["names no metric that a filter cannot", [metric("my metric", true, 1), metric("match", true)], "match<1"],
    ["is a duration if no metric decides", [metric("m", false)], "seconds>1"],
  ])("%s", (_, metrics, expected) => {
    expect(exampleFilter(metrics)).toBe(expected);
    const terms = { metrics: metrics.map(({ name }) => name), sets: [], tags: [] };
    expect(readFilter(exampleFilter(metrics), terms).problem).toBe("");
  });
});

describe("how many cases missed a metric", () => {
  it.each([
    [[12, 2, 0], ["2 of 12", "missed:match"]],
    [[11, 0, 1], ["0 of 11", "", "1 in error", "error:match"]],
    [[0, 0, 24], ["24 in error", "error:match"]],
    [[0, 0, 0], ["0 of 0", ""]],
  ] as const)("%j: %j", ([scored, missed, errors], parts) => expect(missedParts({ name: "match", scored, missed, errors }).flatMap(({ text, filter }) => [text, filter])).toEqual(parts));
});

describe("a change", () => {
  it.each([
    [0.05, "+0.05"],
    [-0.123, "−0.12"],
    [0.0004, "+0.0004"],
    [0, "0"],
  ])("%d reads %s", (value, text) => expect(changeText(value)).toBe(text));

  it.each([
    [-0.2, -0.1, true],
    [-0.1, 0.1, false],
    [null, null, false],
  ])("from %s to %s is significant: %s", (low, high, wanted) => {
    expect(isSignificant({ value: 0, standard_error: null, low, high, cases: 2, values: 2 })).toBe(wanted);
  });
});
