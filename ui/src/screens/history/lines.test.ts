import { describe, expect, it } from "vitest";
import type { HistoryPage, HistoryRunPart, Series } from "../../data/types";
import { MOST_LINES, markPath, whiskerPath } from "./chartPaths";
import { COST, isPartial } from "./historyText";
import { linesOf, numberRows, numbersMarkdown, runsOf, withTones } from "./lines";

function run(run_id: string, agent: string, more: Partial<HistoryRunPart> = {}): HistoryRunPart {
  return { run_id, short: run_id, started_at: 0, agent, commit: null, version: null, build: "", outcome: null, cases: 20, num_runs: 1, stopped_by: "", unread_sets: [], chosen_of: null, trial_cost: null, ...more };
}
function point(run_id: string, score: number): Series["points"][number] {
  return { run_id, score, low: score - 0.1, high: score + 0.1, threshold: null, outcome: "informational", count: 20, not_run: 0, unread_sets: 0 };
}
const RUNS = [
  run("d", "slow", { commit: "bbbbbbbbbb", build: "2", trial_cost: 0.02 }),
  run("c", "fast", { commit: "bbbbbbbbbb", build: "2" }),
  run("b", "slow", { commit: "aaaaaaaaaa", build: "1", trial_cost: 0.01 }),
  run("a", "slow", { commit: "aaaaaaaaaa", build: "1" }),
];
const PAGE = {
  runs: RUNS,
  series: [
    { agent: "slow", name: "passed", decides: true, points: [point("a", 0.4), point("b", 0.5), point("d", 0.9)] },
    { agent: "fast", name: "passed", decides: true, points: [point("c", 0.7)] },
  ],
} as Partial<HistoryPage> as HistoryPage;
const drawn = (name: string, by: string | null) => linesOf(PAGE, name, by).map(({ label, points }) => [label, points.map(({ run_id }) => run_id).join("")]);

describe("the lines of a chart", () => {
  it.each([
    ["one for each agent", "passed", null, [["slow", "abd"], ["fast", "c"]]],
    ["one for each build, the newest first", "passed", "build", [["slow bbbbbbb", "d"], ["fast bbbbbbb", "c"], ["slow aaaaaaa", "ab"]]],
    ["the cost of the agents of which it is known", COST, null, [["slow", "abd"]]],
    ["the cost of the builds of which it is known", COST, "build", [["slow bbbbbbb", "d"], ["slow aaaaaaa", "ab"]]],
    ["none of a metric that no run has", "gone", null, []],
  ])("are %s", (_, name, by, lines) => {
    expect(drawn(name, by)).toEqual(lines);
  });

  it("have a gap where the cost is unknown", () => {
    expect(linesOf(PAGE, COST, null)[0]?.points.map(({ score }) => score)).toEqual([null, 0.01, 0.02]);
  });

  it("have one tone for each name in all charts", () => {
    const toned = withTones([linesOf(PAGE, "passed", null), linesOf(PAGE, COST, null), linesOf(PAGE, "passed", null).slice(1)], RUNS);
    expect(toned.left).toBe(0);
    expect(toned.charts.map((lines) => lines.map(({ label, tone }) => [label, tone]))).toEqual([[["slow", 0], ["fast", 1]], [["slow", 0]], [["fast", 1]]]);
  });

  it("of more builds than there are tones are those of the newest builds in every chart", () => {
    const runs = [..."87654321"].map((id) => run(id, "slow", { version: id, build: id, trial_cost: id === "7" ? null : 0.01 }));
    const page = { runs, series: [{ agent: "slow", name: "passed", decides: true, points: [..."12345678"].map((id) => point(id, 0.5)) }] } as Partial<HistoryPage> as HistoryPage;
    const { charts, left } = withTones(["passed", COST].map((name) => linesOf(page, name, "build")), runs);
    expect(left).toBe(2);
    expect(charts.map((lines) => lines.map(({ label, tone }) => `${label} ${tone}`))).toEqual([
      ["slow 8 0", "slow 7 1", "slow 6 2", "slow 5 3", "slow 4 4", "slow 3 5"],
      ["slow 8 0", "slow 6 2", "slow 5 3", "slow 4 4", "slow 3 5"],
    ]);
  });

  it("name the builds of one commit with modified files by their hashes", () => {
    const runs = [run("b", "slow", { commit: "aaaaaaaaaa+", build: "2222222222" }), run("a", "slow", { commit: "aaaaaaaaaa+", build: "1111111111" })];
    const page = { runs, series: [{ agent: "slow", name: "passed", decides: true, points: [point("a", 0.4), point("b", 0.5)] }] } as Partial<HistoryPage> as HistoryPage;
    expect(linesOf(page, "passed", "build").map(({ label }) => label)).toEqual(["slow aaaaaaa+ (2222222)", "slow aaaaaaa+ (1111111)"]);
  });

  it("do not pass through runs of a selection of the cases", () => {
    const runs = [run("b", "slow", { cases: 3, chosen_of: 20 }), run("a", "slow")];
    const page = { runs, series: [{ agent: "slow", name: "passed", decides: true, points: [point("a", 0.4), point("b", 1)] }] } as Partial<HistoryPage> as HistoryPage;
    expect(linesOf(page, "passed", null)[0]?.points.map(isPartial)).toEqual([false, true]);
    expect(linesOf(page, "passed", null)[0]?.points.map(({ chosen }) => chosen)).toEqual(["", "3 of 20 cases chosen"]);
    expect(linesOf(page, COST, null).length).toBe(0);
  });

  it("do not pass through runs that did not reach every case, also in the chart of the cost", () => {
    const points = [point("a", 0.4), { ...point("b", 0.5), not_run: 7 }, point("d", 0.9)];
    const page = { ...PAGE, series: [{ agent: "slow", name: "passed", decides: true, points }] };
    expect(linesOf(page, COST, null)[0]?.points.map(isPartial)).toEqual([false, true, false]);
  });

  it("of the cost do not pass through runs with a set that could not be run", () => {
    const page = { ...PAGE, runs: PAGE.runs.map((one) => ({ ...one, unread_sets: one.run_id === "b" ? ["bad"] : [] })) };
    expect(linesOf(page, COST, null)[0]?.points.map(isPartial)).toEqual([false, true, false]);
  });

  it("have the interval of a cost once it is read", () => {
    const costs = [{ run_id: "d", low: 0.015, high: 0.025, cases: 18 }];
    const [line] = linesOf(PAGE, COST, null, costs);
    expect(line?.points.map(({ low, high, count }) => [low, high, count])).toEqual([[null, null, 0], [null, null, 20], [0.015, 0.025, 18]]);
  });

  it("share the places of their runs", () => {
    expect(runsOf(linesOf(PAGE, "passed", null), RUNS).map(({ run_id }) => run_id)).toEqual(["d", "c", "b", "a"]);
    expect(runsOf(linesOf(PAGE, COST, null), RUNS).map(({ run_id }) => run_id)).toEqual(["d", "b", "a"]);
  });

  it("have their numbers as a table, newest first", () => {
    const rows = numberRows("passed", linesOf(PAGE, "passed", null), RUNS);
    expect(rows.map(({ run: { run_id }, line, value, interval, count }) => [run_id, line, value, interval, count])).toEqual([
      ["d", "slow", "90\u202f% (18 of 20)", "80–100", "20"],
      ["c", "fast", "70\u202f% (14 of 20)", "60–80", "20"],
      ["b", "slow", "50\u202f% (10 of 20)", "40–60", "20"],
      ["a", "slow", "40\u202f% (8 of 20)", "30–50", "20"],
    ]);
    expect(numbersMarkdown("pass rate", rows, "Cases").split("\n")[2]).toMatch(/^\| `d` \| .* \| `bbbbbbbbb` \| slow \| 90\u202f% \(18 of 20\) \| 80–100 \| 20 \|$/);
    expect(numberRows(COST, linesOf(PAGE, COST, null), RUNS)[0]).toMatchObject({ value: "$0.020", interval: "–" });
  });
});

describe("the shapes of a chart", () => {
  it("draw an interval as a bar with ends, and none of a single value", () => {
    const placed = [{ at: 0, point: point("a", 0.5) }, { at: 1, point: { ...point("b", 0.5), low: null, high: null } }];
    expect(whiskerPath(placed, (at) => at * 10, (value) => 100 - value * 100)).toBe("M-3 40h6m-3 0V60m-3 0h6");
  });

  it("give each line its own mark", () => {
    expect(new Set(Array.from({ length: MOST_LINES }, (_, line) => markPath(line, 0, 0))).size).toBe(MOST_LINES);
  });
});
