import { describe, expect, it } from "vitest";
import type { RunRow, RunsPage } from "../../data/types";
import { liveText, missingText, stoppedBy, trendText } from "./runColumns";
import { asMarkdown, summary } from "./runsText";

function row(agent: string, created_at: number): RunRow {
  return { agent, sets: ["s"], outcome: "passed", state: "finished", created_at, counts: { passed: 1, not_run: 2 }, pass_rate: { count: 1, of: 3, rate: null, unread_sets: 0 } } as unknown as RunRow;
}

it.each([
  ["running", 2, 0, "2 pending"],
  ["unfinished", 2, 1, "2 not run, 1 set could not be run"],
  ["finished", 0, 2, "2 sets could not be run"],
  ["finished", 0, 0, ""],
] as const)("what the pass rate of a run that is %s leaves out", (state, not_run, unread_sets, text) => {
  expect(missingText({ state, counts: { not_run }, pass_rate: { count: 1, of: 3, rate: null, low: 0, high: 1, unread_sets } })).toBe(text);
});

it.each([
  ["running", 1, 0, ", 1 trial stored"],
  ["running", 1200, 4, ", 1,200 trials stored, 4 in flight"],
  ["finished", 40, 0, ""],
] as const)("how far a run is that is %s", (state, trials, in_flight, text) => {
  expect(liveText({ state, trials, in_flight })).toBe(text);
});

it("the trend has its counts", () => {
  expect(trendText([{ count: 5, of: 8 }, { count: 1, of: 2 }, { count: 7, of: 8 }])).toBe("cases passed in the last 3 runs: 62.5\u202f% (5 of 8) to 87.5\u202f% (7 of 8)");
});

describe("sentence", () => {
  it.each([
    ["the newest first, as a server lists them", [row("new", 2), row("old", 1)]],
    ["base before candidate, as in the file of a comparison", [row("old", 1), row("new", 2)]],
  ])("describes the newest run: %s", (_, items) => {
    expect(summary({ items, total: 2 } as unknown as RunsPage)).toMatch(/^The latest run, new on s, passed .*: 1 of 3 cases passed, 2 not run\. 2 runs are stored\.$/);
  });
});

describe("the rows as Markdown", () => {
  it("have only counts of a run with cases that were not run", () => {
    const rates = [{ count: 1, of: 3, rate: null, unread_sets: 1 }, { count: 1, of: 2, rate: 0.5, unread_sets: 0 }, { count: 0, of: 0, rate: null, unread_sets: 1 }].map((pass_rate, at) => ({ ...row("a", 1), short: "abc", commit: null, cost: null, cost_text: "unknown", duration: 1, pass_rate, counts: at ? {} : { not_run: 2 } }) as unknown as RunRow);
    expect(asMarkdown(rates).split("\n").slice(2, 5).map((line) => line.split(/\s*\|\s*/)[5])).toEqual(["1 of 3, 2 not run, 1 set could not be run", "1 of 2 (50\u202f%)", "1 set could not be run"]);
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
