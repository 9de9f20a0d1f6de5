import { describe, expect, it } from "vitest";
import type { RunRow, RunsPage } from "../../data/types";
import { stoppedBy, trendText } from "./runColumns";
import { summary } from "./runsText";

function row(agent: string, created_at: number): RunRow {
  return { agent, sets: ["s"], outcome: "passed", state: "finished", created_at, counts: { passed: 1, not_run: 2 }, pass_rate: { count: 1, of: 1 } } as unknown as RunRow;
}

it("the trend has its counts", () => {
  expect(trendText([{ count: 5, of: 8 }, { count: 1, of: 2 }, { count: 7, of: 8 }])).toBe("cases passed in the last 3 runs: 62.5\u202f% (5 of 8) to 87.5\u202f% (7 of 8)");
});

describe("sentence", () => {
  it.each([
    ["the newest first, as a server lists them", [row("new", 2), row("old", 1)]],
    ["base before candidate, as in the file of a comparison", [row("old", 1), row("new", 2)]],
  ])("describes the newest run: %s", (_, items) => {
    expect(summary({ items, total: 2 } as unknown as RunsPage)).toMatch(/^The latest run, new on s, passed .*: 1 of 3 cases passed\. 2 runs are stored\.$/);
  });
});

describe("stoppedBy", () => {
  it.each([
    ["Ctrl-C", "cancelled"],
    ["fail_fast", "stopped at the first case that did not pass"],
    ["max_time: 4 s are over", "max_time: 4 s are over"],
  ])("describes %s", (stop, words) => {
    expect(stoppedBy(stop)).toBe(words);
  });
});
