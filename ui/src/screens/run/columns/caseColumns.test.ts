import { describe, expect, it } from "vitest";
import type { CaseRow, RunPage } from "../../../data/types";
import { changeText, columnsOf } from "./caseColumns";
import { metricText } from "./metricScore";

function reasonBelow(metrics: number, num_runs: number, { costs = false, more = [] as string[] } = {}): boolean {
  const names = [...Array.from({ length: metrics }, (_, at) => `metric_${at}`), ...more];
  const page = { sets: ["a"], num_runs, metrics: names.map((name) => ({ name, short: name, thresholds: [1], gate: true, scored: 0, missed: 0, errors: 0 })) } as unknown as RunPage;
  return columnsOf(page, { costs, chosen: [...names, ...(costs ? ["cost"] : [])] }).find(({ id }) => id === "why")?.below === "always";
}

describe("where the reason of a case is", () => {
  it.each<[string, boolean, boolean]>([
    ["one trial, four metrics", reasonBelow(4, 1), false],
    ["repeated, three metrics", reasonBelow(3, 4), false],
    ["repeated, four metrics: too narrow between them", reasonBelow(4, 4), true],
    ["one trial, four metrics and a figure", reasonBelow(4, 1, { more: ["tool_call_count_v1"] }), true],
    ["the costs arrive: it does not move", reasonBelow(3, 4, { costs: true }), false],
  ])("%s", (_, below, expected) => {
    expect(below).toBe(expected);
  });
});

describe("the columns of metrics", () => {
  it("include those with fields of their own, under the names that an address has", () => {
    const metrics = ["match", "token_usage_v1", "invocation_duration_v1", "tool_call_count_v1"].map((name) => ({ name, short: name, thresholds: [], gate: name === "match", scored: 0, missed: 0, errors: 0 }));
    const page = { sets: ["a"], num_runs: 1, metrics } as unknown as RunPage;
    const ids = columnsOf(page, { costs: true, chosen: ["match", "tokens", "seconds", "tool_call_count_v1"] }).map(({ id }) => id);
    expect(ids).toEqual(["case", "outcome", "why", "match", "tokens", "seconds", "tool_call_count_v1"]);
  });

  it("hides on a page of medium width those that fewer cases missed", () => {
    const metrics = [0, 5, 1, 2, 3].map((missed, at) => ({ name: `metric_${at}`, short: "m", thresholds: [1], gate: true, scored: 9, missed, errors: at === 3 ? 9 : 0 }));
    const page = { sets: ["a"], num_runs: 1, metrics } as unknown as RunPage;
    const columns = columnsOf(page, { costs: false, chosen: null }).filter(({ id }) => id.startsWith("metric_"));
    expect(columns.map(({ id }) => id)).toEqual(["metric_1", "metric_2", "metric_3", "metric_4"]);
    expect(columns.filter(({ wideOnly }) => !wideOnly).map(({ id }) => id)).toEqual(["metric_1", "metric_3"]);
  });

  it.each([
    ["match", "0.50"],
    ["broken", "error"],
    ["partly_broken", "1.00"],
    ["absent", "–"],
    ["invocation_duration_v1", "2 s"],
    ["token_usage_v1", "1,200"],
  ])("show %s as %s", (name, text) => {
    const row = { scores: { match: 0.5, broken: null, partly_broken: 1 }, errors: ["broken", "partly_broken"], seconds: 2, tokens: 1200 } as unknown as CaseRow;
    expect(metricText(row, name)).toBe(text);
  });
});

describe("how a case changed", () => {
  it.each([
    ["worse", "passed", "failed", "was passed"],
    ["worse", "failed", "failed", "fewer trials pass"],
    ["missing", "passed", "error", "has missing verdicts, was passed"],
    ["missing", "error", "error", "has missing verdicts"],
    ["better", "failed", "passed", "was failed"],
    ["within_noise", "passed", "failed", "changed within noise, was passed"],
    ["within_noise", "failed", "failed", "changed within noise"],
    ["no_longer_in_error", "error", "failed", "no longer in error, was error"],
    [null, "passed", "passed", ""],
  ])("%s, from %s to %s: %s", (change, was, outcome, text) => {
    expect(changeText({ change, was, outcome } as CaseRow)).toBe(text);
  });
});
