import { describe, expect, it } from "vitest";
import type { CaseRow, LiveProgress, RunManagement, RunPage } from "../../data/types";
import { baselineWarnings, noCasesText, noMatchText, asMarkdown, comparisonText, decidingMetrics, progressTexts, unfinishedText, deletionText, partialExportText, replacedBaseline } from "./runText";

function metric(name: string, failed: number, gate = true): RunPage["metrics"][number] {
  return { name, short: name, gate, thresholds: [1], mean: null, change: null, scored: 9, missed: failed, errors: 0 };
}

const MANY = [metric("a", 0), metric("b", 2), metric("c", 0), metric("d", 5), metric("e", 0), metric("f", 9, false)];

it("warns before a run that did not pass, or without a set that could not be run, becomes a baseline", () => {
  const sets = [{ eval_set_id: "a", failure: "" }, { eval_set_id: "b.json", failure: "file not loaded" }] as RunPage["sets"];
  expect(baselineWarnings({ outcome: "passed", sets: sets.slice(0, 1) })).toEqual([]);
  expect(baselineWarnings({ outcome: "error", sets })).toEqual([
    "This run did not pass: a run that is not better shows no regression.",
    "b.json could not be run: its verdicts are missing in every comparison (file not loaded).",
  ]);
});

it("says that no set of a run without cases could be run", () => {
  const [read, unread] = [{ failure: "" }, { failure: "file not loaded" }] as RunPage["sets"];
  const texts = [[unread], [read, unread]].map((sets) => noCasesText({ sets: sets as RunPage["sets"] }, false));
  expect(texts).toEqual(["No set of this run could be run.", "This run has none."]);
});

describe("decidingMetrics", () => {
  it.each<[name: string, most: number, wanted: string]>([
    ["all of them, in their order, where there is room", 5, "abcde"],
    ["those missed or in error in most cases, in their order", 2, "bd"],
    ["of those that are alike, the first", 3, "abd"],
  ])("takes %s", (_, most, wanted) => {
    const names = decidingMetrics({ metrics: MANY }, most).map(({ name }) => name);
    expect(names.join("")).toBe(wanted);
  });
});

describe("progressTexts", () => {
  const BEGUN = { trials: 132, trials_planned: 400, in_flight: 0, lost_workers: "", rate: null, seconds_left: null, spent: null, spent_of: 0, done: 100 } as LiveProgress;
  const LOST = "1 worker lost with 2 attempts at trials";
  it.each<[parts: Partial<LiveProgress>, words: string]>([
    [{}, "132 of 400 trials"],
    [{ in_flight: 8, rate: 3.21, lost_workers: LOST }, `132 of 400 trials · 8 in flight · 3.2 a second · ${LOST}`],
  ])("how far a run is: %j", (parts, words) => {
    expect(progressTexts({ ...BEGUN, ...parts }).join(" · ")).toBe(words);
  });
});

type Ended = Partial<Pick<RunPage, "failure" | "stopped_by" | "interrupted" | "counts">>;

describe("unfinishedText", () => {
  it.each<[parts: Ended, words: string]>([
    [{ counts: { not_run: 60 } }, "The process of the run has ended. No case was run."],
    [{ counts: { not_run: 12, passed: 48 }, stopped_by: "Ctrl-C" }, "Cancelled. 12 of 60 cases were not run; the others are stored."],
    [{ counts: { not_run: 1, failed: 59 }, stopped_by: "fail_fast" }, "Stopped at the first case that did not pass (--fail-fast). 1 of 60 cases was not run; the others are stored."],
    [{ counts: { passed: 60 }, interrupted: true }, "It was interrupted. Every case was run."],
    [{ counts: { not_run: 2 }, stopped_by: "max_time: 4 s are over" }, "Stopped by max_time: 4 s are over. 2 of 60 cases were not run; the others are stored."],
  ])("%j", (parts, words) => {
    const page = { failure: null, stopped_by: null, interrupted: false, cases: 60, ...parts };
    expect(unfinishedText(page as unknown as RunPage)).toBe(words);
  });
});

describe("asMarkdown", () => {
  const page = { agent: "travel", sets: [{ name: "bookings" }], outcome: "failed", sentence: "failed: 6 of 8 cases fail, 1 could not be scored", pass_rate: { count: 1, of: 8, rate: 0.125 }, metrics: [], num_runs: 1, cases: 8, run_id: "r1" } as unknown as RunPage;
  const COLUMNS = ["case", "outcome", "why"].map((id) => ({ id }));
  const HEAD = "**travel on bookings: failed.** 6 of 8 cases fail, 1 could not be scored. Cases passed: 1 of 8 (12.5\u202f%). Run `r1`.\n";

  it("has only counts of a run with cases that were not run, and names an undecided case", () => {
    const row = { eval_set_id: "s", eval_id: "c", outcome: "not_run", strip: "rr", why: "no verdict yet; 2 trials were recorded" } as unknown as CaseRow;
    const text = asMarkdown({ ...page, pass_rate: { ...page.pass_rate, rate: null } }, [row], ["case", "outcome", "trials"].map((id) => ({ id })));
    expect(text).toContain(" Cases passed: 1 of 8. Run");
    expect(text).toContain("| `s/c` | undecided | 2 recorded |");
  });

  it("names the sets that could not be run, each with its cause in one line", () => {
    const sets = [...page.sets, { name: "b.json", eval_set_id: "b.json", failure: "file not loaded: b.json:2:1:\n  the text ends" }] as RunPage["sets"];
    expect(asMarkdown({ ...page, sets }, [], COLUMNS)).toContain("Run `r1`.\n\nb.json could not be run: file not loaded: b.json:2:1: the text ends\n");
  });
  it("names the outcome once, in whole sentences; without cases there is no table", () => expect(asMarkdown(page, [], COLUMNS)).toBe(HEAD));

  it("lists the first 200 cases, and counts the others", () => {
    const row = { eval_set_id: "s", eval_id: "c", outcome: "passed", strip: "p", why: "", scores: {} } as unknown as CaseRow;
    const text = asMarkdown(page, Array<CaseRow>(203).fill(row), COLUMNS);
    expect(text.startsWith(`${HEAD}\n| Case | Outcome | Why |\n| --- | --- | --- |\n| \`s/c\` | passed |`)).toBe(true);
    expect(text.endsWith(" |\n\nand 3 more\n")).toBe(true);
    expect(text.split("\n").filter((line) => line.startsWith("| `s/c`"))).toHaveLength(200);
  });

  it("has the columns of the table, and the number of the cases that a filter takes", () => {
    const row = { eval_set_id: "s", eval_id: "c", outcome: "failed", strip: "pf", why: "`a` | b", scores: { tool_use: 0.5, hidden: 1 }, errors: [], cost: 0.25, cost_text: "at least $0.250", seconds: 2, tokens: 1200 } as unknown as CaseRow;
    const metrics = [metric("tool_use", 1), metric("hidden", 0), metric("invocation_duration_v1", 0), metric("token_usage_v1", 0)];
    const columns = ["case", "trials", "why", "tool_use", "seconds", "tokens", "cost"].map((id) => ({ id }));
    const table = asMarkdown({ ...page, metrics }, [row], columns).slice(HEAD.length);
    expect(table).toBe("\n1 of 8 cases:\n\n| Case | Trials | Why | tool\\_use | invocation\\_duration\\_v1 | token\\_usage\\_v1 | Cost |\n| --- | --- | --- | --- | --- | --- | --- |\n| `s/c` | 1 passed, 1 failed | `a` \\| b | 0.50 | 2 s | 1,200 | ≥ $0.250 |\n");
  });
});

describe("comparisonText", () => {
  it.each<[counts: Partial<NonNullable<RunPage["against"]>>, words: string]>([
    [{ worse: null, missing: null, better: null, same: null, not_run: null, unpaired: null }, "compared with"],
    [{ worse: 0, missing: 0, better: 0, same: 8, not_run: 0, unpaired: 0 }, "no case changed since"],
    [{ worse: 0, missing: 0, better: 0, same: 2, not_run: 0, unpaired: 6 }, "no case changed since"],
    [{ worse: 0, missing: 0, better: 0, same: 1, not_run: 7, unpaired: 0 }, "no case that was run changed since"],
    [{ worse: 0, missing: 0, better: 0, same: 0, not_run: 8, unpaired: 0 }, "no case can be compared with"],
    [{ worse: 0, missing: 0, better: 0, same: 0, not_run: 0, unpaired: 8 }, "no case can be compared with"],
    [{ worse: 1, missing: 0, better: 0, same: 7, not_run: 0, unpaired: 0 }, "1 case worse than"],
    [{ worse: 2, missing: 0, better: 3, same: 3, not_run: 0, unpaired: 0 }, "2 cases worse, 3 better than"],
    [{ worse: 1, missing: 1, better: 3, same: 3, not_run: 0, unpaired: 0 }, "1 case worse, 3 better, 1 has missing verdicts, compared with"],
    [{ worse: 0, missing: 2, better: 0, same: 3, not_run: 0, unpaired: 0 }, "2 cases have missing verdicts, compared with"],
    [{ worse: 0, within_noise: 2, better: 0, same: 3, not_run: 0, unpaired: 0 }, "2 cases changed within noise, compared with"],
    [{ worse: 1, no_longer_in_error: 1, within_noise: 1, same: 0, not_run: 0, unpaired: 0 }, "1 case worse, 1 no longer in error, 1 changed within noise, compared with"],
  ])("how the cases changed; null, being read, is not 0: %j", (counts, words) => expect(comparisonText({ against: counts } as RunPage)).toBe(words));
});

describe("what can be done with a run", () => {
  it.each([
    [{ trials: 1, scorings: 1, labels: 0 }, 1, "Deletes 1 case, 1 trial with all evidence, 1 scoring. "],
    [{ trials: 1600, scorings: 2, labels: 3 }, 400, "Deletes 400 cases, 1,600 trials with all evidence, 2 scorings, 3 labels. "],
  ])("deletion is described before: %j", (managed, cases, words) => {
    expect(deletionText({ cases }, managed as RunManagement)).toContain(words);
  });

  it.each([
    ["finished", 0, ""],
    ["running", 3, "This run is in progress: a file contains only what is decided when you export it. Export it again at the end."],
    ["unfinished", 28, "This run is not finished: in a file, 28 of 30 cases are not run."],
  ] as const)("an export of a run that is %s names what it lacks", (state, left, words) => {
    expect(partialExportText({ state, cases: 30, counts: { not_run: left } as RunPage["counts"] })).toBe(words);
  });

  it.each([
    ["tool:get_order", true, "Tags, tools and costs of the cases are read when the run has ended."],
    ["tool:get_order", false, "Nothing matches the filter."],
    ["outcome:failed", true, "Nothing matches the filter."],
  ])("a filter %s that matches no case names the reason (in progress: %s)", (text, running, words) => expect(noMatchText(text, running)).toBe(words));

  it("a baseline replaces that of another run only", () => {
    const known = [{ name: "main", run_id: "a", agent: "x", started_at: 0 }];
    expect([replacedBaseline(known, "main", "b"), replacedBaseline(known, "main", "a"), replacedBaseline(known, "other", "b")]).toEqual(["a", null, null]);
  });
});
