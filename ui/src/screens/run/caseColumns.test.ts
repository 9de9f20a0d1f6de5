import { describe, expect, it } from "vitest";
import type { RunPage } from "../../data/types";
import { columnsOf } from "./caseColumns";

function reasonBelow(metrics: number, num_runs: number, { costs = false, more = [] as string[] } = {}): boolean {
  const names = Array.from({ length: metrics }, (_, at) => `metric_${at}`);
  const page = { sets: ["a"], num_runs, metrics: names.map((name) => ({ name, short: name, thresholds: [1], gate: true, outcomes: {} })) } as unknown as RunPage;
  return columnsOf(page, { costs, chosen: [...names, ...more, ...(costs ? ["cost"] : [])] }).find(({ id }) => id === "why")?.below === "always";
}

describe("where the reason of a case is", () => {
  it.each<[string, boolean, boolean]>([
    ["one trial, four metrics", reasonBelow(4, 1), false],
    ["repeated, three metrics", reasonBelow(3, 4), false],
    ["repeated, four metrics: too narrow between them", reasonBelow(4, 4), true],
    ["one trial, four metrics and the tokens", reasonBelow(4, 1, { more: ["tokens"] }), true],
    ["the costs arrive: it does not move", reasonBelow(3, 4, { costs: true }), false],
  ])("%s", (_, below, expected) => {
    expect(below).toBe(expected);
  });
});
