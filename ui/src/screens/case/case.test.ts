import { describe, expect, it } from "vitest";
import type { CasePage, StepPart, TrialPage, TurnPart } from "../../data/types";
import { differences, idOf, nextDifference, readCaseLocation, trialToShow } from "./caseLocation";
import { foldsExpected, isOpen, stretches, turnSummary } from "./conversation/folding";
import { caseMarkdown } from "./caseMarkdown";
import { scoreAgainstThreshold, shortMetricName } from "./metricText";

type Kind = StepPart["kind"];

const text = (text: string, changed = false) => ({ pieces: [{ text, changed }], left_out: 0 });

function step(kind: Kind, call: number | null = 0): StepPart {
  return {
    kind,
    expected: kind === "extra" || kind === null ? null : text("look(at=1)"),
    actual: kind === "missing" ? null : text("look(at=2)"),
    author: "agent",
    response: null,
    call,
    expected_call: kind === "extra" || kind === null ? null : call,
    broken: [],
  };
}

function turn(index: number, kinds: Kind[], differs = kinds.some((kind) => kind !== "same" && kind !== null)): TurnPart {
  return {
    index,
    user: { text: `question ${index + 1}`, left_out: 0 },
    media: [],
    steps: kinds.map((kind, call) => step(kind, call)),
    messages: [],
    answer: { expected: text("2 days"), actual: text("2 days"), same: true },
    scores: [],
    usage: { seconds: 1, model_seconds: null, tool_seconds: null, input_tokens: null, output_tokens: null, total_tokens: null, models: [] },
    authors: ["agent"],
    notes: [],
    failure: null,
    differs,
  };
}

function trial(turns: TurnPart[], more: Partial<TrialPage> = {}): TrialPage {
  return {
    run_id: "run1", position: 0, number: 1, trials: 3, outcome: "failed", reason: "", facts: [], attempts: [], notes: [],
    kept: true, started_at: null, seconds: null, session_id: "", turns, scores: [],
    state: { known: true, stated: false, rows: [] }, failure: null, played: null, command: "proctor show run1 a/b --trial 2",
    ...more,
  };
}

const page = {
  run_id: "run1", short: "run1", agent: "agent", eval_set_id: "set", eval_id: "two_turn*s", outcome: "failed", place: "set.json:3",
  sentence: "1 of 3 trials passed", reason: "`look` is <b>wrong</b>", trials: [{}, {}, {}], command: "proctor show run1 a/b",
} as unknown as CasePage;

describe("what the address names", () => {
  it.each([
    ["", { trial: null, turn: null, step: null, tab: "conversation" }],
    ["trial=4&turn=2&step=3", { trial: 3, turn: 1, step: 2, tab: "conversation" }],
    ["trial=0&turn=-1&step=x&tab=nothing", { trial: null, turn: null, step: null, tab: "conversation" }],
    ["trial=1e9&tab=judges", { trial: null, turn: null, step: null, tab: "judges" }],
    ["trial=99999999999", { trial: null, turn: null, step: null, tab: "conversation" }],
  ])("%s", (query, location) => expect(readCaseLocation(new URLSearchParams(query))).toEqual(location));

  it("is where the page has it", () => {
    expect([idOf(1), idOf(1, 2)]).toEqual(["turn-2", "turn-2-step-3"]);
  });
});

describe("differences", () => {
  const shown = trial([turn(0, ["same"]), turn(1, ["same", "differs", "extra"]), turn(2, ["same"], true), turn(3, [null])], {
    state: { known: true, stated: true, rows: [{ key: "a", kind: "differs", expected: null, actual: null }] },
  });
  const all = differences(shown);

  it("are steps, turns whose answer or verdict is not right, and the state, in the order of reading", () => {
    expect(all.map(({ tab, turn: at, step: of }) => [tab, at, of])).toEqual([
      ["conversation", 1, 1],
      ["conversation", 1, 2],
      ["conversation", 2, null],
      ["state", null, null],
    ]);
  });

  it("are walked through forwards, round at the end", () => {
    let at = readCaseLocation(new URLSearchParams());
    const seen: (number | null)[][] = [];
    for (let count = 0; count < 5; count += 1) {
      const next = nextDifference(all, at);
      if (next) at = { ...at, ...next };
      seen.push([at.turn, at.step]);
    }
    expect(seen).toEqual([[1, 1], [1, 2], [2, null], [null, null], [1, 1]]);
  });

  it("are walked through backwards", () => {
    const at = readCaseLocation(new URLSearchParams("turn=2&step=3"));
    expect(nextDifference(all, at, true)).toMatchObject({ turn: 1, step: 1 });
    expect(nextDifference(all, { ...at, turn: 1, step: 1 }, true)).toMatchObject({ tab: "state" });
  });

  it("may be none", () => expect(nextDifference(differences(trial([turn(0, ["same"])])), readCaseLocation(new URLSearchParams()))).toBeNull());
});

describe("folding", () => {
  const kinds = (...runs: [Kind, number][]): StepPart[] => runs.flatMap(([kind, count]) => Array.from({ length: count }, (_, n) => step(kind, n)));
  it.each<[string, StepPart[], number | null, [number, number, boolean][]]>([
    ["nothing", [], null, []],
    ["a few equal steps stay", kinds(["same", 5]), null, [[0, 5, false]]],
    ["the middle of many is folded", kinds(["same", 10]), null, [[0, 2, false], [2, 8, true], [8, 10, false]]],
    ["what differs stays open", kinds(["same", 8], ["differs", 2], ["same", 1]), null, [[0, 2, false], [2, 6, true], [6, 11, false]]],
    ["steps of which nothing is known fold, too", kinds([null, 9]), null, [[0, 2, false], [2, 7, true], [7, 9, false]]],
    ["where the address names one, it is open", kinds(["same", 10]), 4, [[0, 10, false]]],
  ])("%s", (_, steps, at, found) => {
    expect(stretches(steps, new Set(), at).map(({ from, to, folded }) => [from, to, folded])).toEqual(found);
  });

  it("opens what was pressed", () => expect(stretches(kinds(["same", 10]), new Set([2]), null)).toEqual([{ from: 0, to: 10, folded: false }]));

  const turns = (count: number, ...differing: number[]) => Array.from({ length: count }, (_, index) => turn(index, [], differing.includes(index)));
  it.each([
    ["few turns that all went as expected are open", turns(8), null, "oooooooo"],
    ["many are folded", turns(9), null, "fffffffff"],
    ["but those that differ", turns(9, 3), null, "fffofffff"],
    ["of few turns, too, those as expected are folded where one differs", turns(3, 1), null, "fof"],
    ["a turn alone is open", turns(1), null, "o"],
    ["and the one that the address names", turns(3, 1), 2, "foo"],
  ])("%s", (_, all, at, open) => {
    const folds = foldsExpected(all);
    expect(all.map((one) => (isOpen(one, folds, at) ? "o" : "f")).join("")).toBe(open);
  });

  it("keeps a turn in one line", () => expect(turnSummary(turn(0, ["same"]))).toBe("question 1 → 1 call → 2 days"));
});

describe("a score next to its threshold", () => {
  it.each([
    [0.4, 0.9, "failed", "x 0.40 < 0.9"],
    [1, 1, "passed", "x 1.00 ≥ 1"],
    [0.996, 1, "failed", "x 0.996 < 1"],
    [0.9999999, 1, "failed", "x 0.9999999 < 1"],
    [null, 1, "error", "x could not be computed"],
    [3, null, "informational", "x 3.00"],
  ])("%s of %s", (score, threshold, outcome, text) => expect(scoreAgainstThreshold({ name: "x", score, threshold, outcome })).toBe(text));

  it.each([["tool_trajectory_avg_score", "tool_trajectory"], ["safety_v1", "safety"], ["_score", "_score"]])("%s is %s", (name, short) =>
    expect(shortMetricName(name)).toBe(short),
  );
});

describe("as Markdown", () => {
  const state = { known: true, stated: true, rows: [{ key: "a|b", kind: "differs" as const, expected: { text: "1", left_out: 0 }, actual: null }] };
  const text = caseMarkdown(page, trial([turn(0, ["same"]), turn(1, ["differs", "extra", "missing"])], { state }));

  it("contains the verdict, the place, and the command", () => {
    expect(text).toContain("### `two_turn*s`: failed");
    expect(text).toContain("**Trial 2 of 3: failed**");
    expect(text).toContain("- ≠ expected `look(at=1)`\n  actual `look(at=2)`");
    expect(text).toContain("- + `look(at=2)`");
    expect(text).toContain("- − `look(at=1)`");
    expect(text).toContain("- a\\|b: `1` → not set");
    expect(text.endsWith("`proctor show run1 a/b --trial 2`")).toBe(true);
  });

  it("leaves out the turns that are as expected", () => expect(text).not.toContain("question 1"));
  it("keeps the code marks of reasons", () => {
    expect(text).toContain("`look` is \\<b\\>wrong");
    expect(text).not.toContain("\\`");
  });
  it("names the rule that a call breaks", () => {
    const broken = { ...turn(0, ["extra"]), steps: [{ ...step("extra", 0), broken: ["`a` only after `b`"] }] };
    expect(caseMarkdown(page, trial([broken]))).toContain("- + `look(at=2)`\n  - ✕ breaks the rule: `a` only after `b`");
  });
  it("marks the words that differ, without the white space around them", () => {
    const pieces = (...texts: [string, boolean][]) => ({ pieces: texts.map(([text, changed]) => ({ text, changed })), left_out: 0 });
    const answer = { expected: pieces(["It is ", false], ["two ", true], ["days", false]), actual: pieces(["It is", false], [" *3*", true], [".", false]), same: false };
    const lines = caseMarkdown(page, trial([{ ...turn(0, [], true), answer }]));
    expect(lines).toContain("- answer, expected: It is **two** days\n- answer, actual: It is **\\*3\\***.");
  });
  it("keeps markup text", () => expect(text).toContain("\\<b\\>wrong"));
  it("is there without a trial, too", () => expect(caseMarkdown(page, undefined)).toContain("`proctor show run1 a/b`"));
});

describe("the trial that is shown", () => {
  const strip = (outcome: string, letters: string) =>
    ({ outcome, trials: [...letters].map((letter, number) => ({ number, outcome: { p: "passed", f: "failed", e: "error" }[letter] })) }) as unknown as CasePage;

  it.each([
    ["the one that is named", "failed", "pfp", 0, 0],
    ["the first that failed, of a case that fails", "failed", "ppf", null, 2],
    ["the one that broke, of a case in error", "error", "fpe", null, 2],
    ["the first that did not pass, where no trial ended as the case did", "inconclusive", "pfp", null, 1],
    ["the first, of a case that passes", "passed", "pfp", null, 0],
    ["the telling one, where there is none of that number", "failed", "pf", 9, 1],
    ["none, where none was run", "not_run", "", null, null],
  ])("is %s", (_, outcome, letters, named, shown) => expect(trialToShow(strip(outcome, letters), named)).toBe(shown));
});
