import { describe, expect, it } from "vitest";
import type { HistoryCase, HistoryPage, HistoryRunPart, Series } from "../../data/types";
import { bandPath, stepPath } from "./chartPaths";
import { countsOf } from "./RunStrip";
import { apiPath, asMarkdown, caseHref, changesOf, chosenName, niceAbove, placeOf, pointWords, stripOfSet, scaleOf, summary, caseMatcher } from "./historyText";

function run(run_id: string): HistoryRunPart {
  return { run_id, short: run_id, started_at: 0, agent: "agent", commit: null, version: null, build: "", outcome: null, cases: 1, num_runs: 1, stopped_by: "", unread_sets: [], chosen_of: null, trial_cost: null };
}

function one(eval_id: string, strip: string, more: Partial<HistoryCase> = {}): HistoryCase {
  return { agent: "agent", eval_set_id: "set", eval_id, strip, course: "broke", sentence: "", why: "", ...more } as HistoryCase;
}

type Point = Series["points"][number];
function point(score: number | null, more: Partial<Point> = {}): Point {
  return { run_id: "r", score, low: null, high: null, threshold: null, outcome: "passed", count: 1, not_run: 0, unread_sets: 0, ...more };
}
const series = (...points: Point[]): Series => ({ agent: "agent", name: "m", decides: true, points });

describe("the sentence", () => {
  const page = (more: Partial<HistoryPage>) => ({ runs: [run("a"), run("b")], older: 0, counts: {}, ...more }) as HistoryPage;

  it("counts what matters first", () => {
    expect(summary(page({ counts: { broke: 2, failing: 0, steady: 1037 } }))).toBe(
      "Over all 2 runs: 2 now fail, 1,037 passed.",
    );
  });

  it("names the runs that were left out", () => {
    expect(summary(page({ older: 3, counts: { flaky: 1 } }))).toBe("Over the last 2 of 5 runs: 1 flaky.");
  });

  it("reports that no case was reached", () => {
    expect(summary(page({}))).toBe("Over all 2 runs: no case was reached.");
  });
});

function letters(cases: HistoryCase[]): (one: HistoryCase) => string {
  const strip = stripOfSet({ cases, runs: [], changes: [] } as Partial<HistoryPage> as HistoryPage);
  return (each) => strip(each).map(({ letter }) => letter).join("");
}

describe("the strips", () => {
  it("leave out the runs of other sets, and keep those that did not reach a case", () => {
    const cases = [one("a", "p-f-"), one("b", "pp--"), one("c", "---f", { eval_set_id: "other" })];
    expect(cases.map(letters(cases))).toEqual(["p-f", "pp-", "f"]);
  });

  it("leave out the runs of other agents", () => {
    const cases = [one("a", "p-f-"), one("a", "-f-p", { agent: "other" })];
    expect(cases.map(letters(cases))).toEqual(["pf", "fp"]);
  });

  it("know who changed something before a run", () => {
    const cases = [one("a", "ppf")];
    const changes = [{ agent: "agent", eval_set_id: "set", before: "middle", first: "new", changed_by: "provider", text: "", command: "" } as const];
    const page = { cases, runs: [run("new"), run("middle"), run("old")], changes: [...changes] } as Partial<HistoryPage> as HistoryPage;
    expect(cases.flatMap(stripOfSet(page)).map(({ changedBy }) => changedBy)).toEqual([undefined, undefined, "provider"]);
    expect([changesOf(page, "agent").length, changesOf(page, "other").length]).toEqual([1, 0]);
  });

  it("are counted for those who hear them", () => {
    expect([...countsOf("ppf")]).toEqual([
      ["p", 2],
      ["f", 1],
    ]);
  });

  it("are drawn oldest first, of runs that come newest first", () => {
    const runs = [run("new"), run("middle"), run("old")];
    expect(["new", "old", "gone", null].map((id) => placeOf(runs, id))).toEqual([2, 0, -1, -1]);
  });
});

describe("what is listed", () => {
  it("is what matters, until something else is asked for", () => {
    const steady = one("calm", "pp", { course: "steady" });
    expect([caseMatcher("", "")(steady), caseMatcher("calm", "")(steady), caseMatcher("", "steady")(steady)]).toEqual([false, true, true]);
    expect([caseMatcher("", "")(one("a", "pf")), caseMatcher("", "steady")(one("a", "pf"))]).toEqual([true, false]);
  });

  it("asks for what the address names", () => {
    expect(apiPath({ set: "a b", case: null, agent: null, limit: "0", combine: null })).toBe("/api/history?set=a%20b&limit=0");
    expect(caseHref(one("<x>&", ""), { set: null, case: null, agent: null, limit: null, combine: null })).toBe("/history?set=set&case=%3Cx%3E%26");
  });

  it("keeps names as text in Markdown", () => {
    const text = asMarkdown({ points: null, cases: [], unread: ["b.json could not be run in 1 run: r"] } as Partial<HistoryPage> as HistoryPage, [one("`a`|b", "pf", { sentence: "broke <b>" })]);
    expect(text).toContain("``set/`a`\\|b``");
    expect(text).toContain("broke \\<b\\>");
    expect(text.startsWith("b.json could not be run in 1 run: r\n\n| Case")).toBe(true);
  });
});

describe("the chart", () => {
  it.each([
    [series(point(0.4), point(0.9)), [0, 1]],
    [series(point(0.4, { low: -0.2, high: 0.7 })), [-0.2, 1]],
    [series(point(1204)), [0, 2000]],
    [series(point(0.5, { threshold: 3 })), [0, 5]],
    [series(point(null)), [0, 1]],
  ])("has ends that hold everything", (given, ends) => {
    expect(scaleOf(given.points)).toEqual(ends);
  });

  it.each([
    [1.2, 2],
    [5, 5],
    [730, 1000],
    [0.03, 0.05],
  ])("rounds %d up to %d", (value, nice) => {
    expect(niceAbove(value)).toBeCloseTo(nice, 12);
  });

  const x = (at: number) => at * 10;
  const y = (value: number) => 100 - value * 100;

  it("begins at 0 for a figure, and ends at a round value above all", () => {
    expect(scaleOf([point(0.11, { low: 0.08, high: 0.14 })], "invocation_duration_v1")).toEqual([0, 0.2]);
  });

  it("breaks the interval where there is none", () => {
    const placed = [
      { at: 0, point: point(0.5, { low: 0.4, high: 0.6 }) },
      { at: 1, point: point(0.5) },
      { at: 2, point: point(0.5, { low: 0.4, high: 0.6 }) },
    ];
    expect(bandPath(placed, x, y)).toBe("M-3 40L3 40L3 60L-3 60ZM17 40L23 40L23 60L17 60Z");
  });

  it("steps where the threshold is another one", () => {
    const placed = [
      { at: 0, point: point(0.5, { threshold: 0.8 }) },
      { at: 2, point: point(0.5, { threshold: 0.7 }) },
    ];
    expect(stepPath(placed, x, y)).toBe("M-6 20h12H20V30h6");
  });

  it("shows the metric that the address names, or the first", () => {
    const all = [series(point(1)), { ...series(point(1)), name: "other" }];
    expect([chosenName(all, "other"), chosenName(all, "gone"), chosenName([], "m")]).toEqual(["other", "m", null]);
  });

  it("describes a point with its run, interval and threshold", () => {
    expect(pointWords(run("a"), point(0.5, { low: 0.4, high: 0.6, threshold: 0.8 }))).toMatch(
      /^a, .*: 0\.50, 95 % CI: 0\.40 to 0\.60, threshold 0\.8$/,
    );
    const cancelled = { ...run("a"), stopped_by: "Ctrl-C" };
    expect(pointWords(cancelled, point(1, { low: 0.2, high: 1, count: 1, not_run: 7 }), "passed")).toMatch(/: cancelled, 1 of 8, 7 not run$/);
    expect(pointWords(run("a"), { ...point(1, { low: 0.2, high: 1 }), chosen: "1 of 20 cases chosen" }, "passed")).toMatch(/: 1 of 1, 1 of 20 cases chosen$/);
    const part = { low: 0.4, high: 1, count: 3, not_run: 7, unread_sets: 1 };
    expect(pointWords(cancelled, point(1, part), "passed")).toMatch(/: cancelled, 3 of 10, 7 not run, 1 set could not be run$/);
    expect(pointWords(cancelled, point(0.5, { not_run: 7 }), "m")).toMatch(/: cancelled, 0\.50, 7 not run$/);
    expect(pointWords(run("a"), point(0.714, { low: 0.36, high: 0.92, count: 7 }), "passed")).toMatch(/: 71\.4\u202f% \(5 of 7\), 95 % CI: 36–92$/);
  });
});
