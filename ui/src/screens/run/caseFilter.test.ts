import { describe, expect, it } from "vitest";
import type { CaseRow } from "../../data/types";
import { CHANGES, distance, filterValue, isReasonCut, needsAttention, searchFailure, searchedTexts, suggestions, rank, readFilter, tokens, sortWorstFirst } from "./caseFilter";

const SAID = new Map([["hello", new Set([2, 4])], ["two, words", new Set([3])]]);
const WORDS = { said: { positions: SAID, failure: "" }, tools: ["get_order"], metrics: ["tool_trajectory_avg_score", "response_match_score", "safety_v1", "token_usage_v1"], sets: ["booking", "refunds"], tags: ["smoke", "two words"] };

function row(part: Partial<CaseRow> = {}): CaseRow {
  return {
    position: 0, eval_set_id: "booking", eval_id: "two_turns", outcome: "passed", strip: "p", why: "", cause: "", scores: {}, missed: [], errors: [],
    low: null, high: null, cost: null, cost_text: "", seconds: null, tokens: null, flaky: false, played: false, tags: [], tools: [], place: "", change: null, was: null,
    ...part,
  };
}

const FAILED = row({ position: 1, outcome: "failed", strip: "f", cause: "tool_trajectory_avg_score: called in another order: `a`, `b` (expected `b`, `a`)", tools: ["get_order", "refund"], why: "`covers` is 4, expected 2", scores: { tool_trajectory_avg_score: 0.4 }, missed: ["tool_trajectory_avg_score"], change: "worse", was: "passed" });
const FLAKY = row({ position: 2, strip: "pfp", flaky: true, tags: ["smoke", "left, right"], scores: { tool_trajectory_avg_score: 1, response_match_score: 0.7 } });
const BROKEN = row({ position: 3, eval_id: "refund", eval_set_id: "refunds", outcome: "error", strip: "e", cost: 0.2, tags: ["two words"], tools: ["get_order"], scores: { tool_trajectory_avg_score: 1, safety_v1: null }, errors: ["tool_trajectory_avg_score"], tokens: 900 });
const FINE = row({ position: 4, change: "better", was: "failed", played: true, tags: ['a "b" \\ c'] });
const ALL = [FAILED, FLAKY, BROKEN, FINE];
const NOISY = row({ position: 5, change: "within_noise", was: "failed" });

function found(text: string): number[] {
  const { takes, problem } = readFilter(text, WORDS);
  expect(problem).toBe("");
  return ALL.filter(takes).map(({ position }) => position);
}

describe("what a filter finds", () => {
  it.each<[string, number[]]>([
    ["", [1, 2, 3, 4]],
    ["   ", [1, 2, 3, 4]],
    ["outcome:failed", [1]],
    ["outcome:failed,error or flaky", [1, 2, 3]],
    ["outcome:Failed", [1]],
    ["changed:worse", [1]],
    ["changed", [1, 4]],
    ["worse or better", [1, 4]],
    ["was:failed", [4]],
    ["flaky", [2]],
    ['cause:"called in another order: a, b (expected b, a)"', [1]],
    ["cause:trajectory", [1]],
    ["tool:order", [1, 3]],
    ["tool:refund,nothing", [1]],
    ["said:Hello", [2, 4]],
    ['-said:"two, words"', [1, 2, 4]],
    ["said:unsearched", [1, 2, 3, 4]],
    ["not flaky", [1, 3, 4]],
    ["-flaky -changed", [3]],
    ["not not flaky", [2]],
    ["trajectory<0.8", [1]],
    ["trajectory>=1 flaky", [2]],
    ["token_usage_v1>800", [3]],
    ["response_match_score=0.7", [2]],
    ["cost>$0.1", [3]],
    ["trials>1", [2]],
    ["passed<1", [1, 3]],
    ["tag:smoke", [2]],
    ['tag:"two words"', [3]],
    ['tag:"left, right"', [2]],
    ["tag:left,right", []],
    ["set:refunds", [3]],
    ["case:two", [1, 2, 4]],
    ["why:covers", [1]],
    ["missed:trajectory", [1]],
    ["error:trajectory", [3]],
    ["played", [4]],
    ["new", [2, 3]],
    ["COVERS", [1]],
    ['"is 4, expected"', [1]],
    ['"covers is 4"', [1]],
    ['"`covers` is 4"', [1]],
    ['why:"covers is 4"', [1]],
    ['cause:"order: a, b (expected"', [1]],
    ['cause:"covers is 4, expected 2"', [1]],
    ['tag:"a \\"b\\" \\\\ c"', [4]],
    ['tag:"a \\"b\\" \\ c"', [4]],
    ["refunds/refund", [3]],
    ["(flaky or outcome:error) set:booking", [2]],
    ["flaky and tag:smoke or changed:better", [2, 4]],
  ])("%s", (text, positions) => {
    expect(found(text)).toEqual(positions);
  });
});

describe("a filter that cannot be read", () => {
  it.each<[string, string]>([
    ["outcom:failed", "no field outcom: did you mean outcome? For the words themselves, write \"outcom:failed\"."],
    ["outcome:fialed", "outcome: no fialed: did you mean failed? There is: passed, failed, error, inconclusive, not_run, skipped."],
    ["outcome:", "outcome: takes a value, as in outcome:failed,error."],
    ["trajectory<high", "trajectory< takes a number, as in trajectory<0.8, and not high."],
    ["trajectory<", "trajectory< takes a number, as in trajectory<0.8."],
    ["score<1", "score may be tool_trajectory_avg_score or response_match_score: write more of its name."],
    ["saftey_v1<1", "no metric saftey_v1: did you mean safety_v1?"],
    ["flaky or", "something is missing after or."],
    ["or flaky", "something is missing before or."],
    ["(flaky", "a bracket is open: close it with )."],
    ["flaky)", "a bracket is closed that was not opened."],
    ['"open', 'a quotation mark is open: "open.'],
    ['tag:"open\\"', 'a quotation mark is open: tag:"open\\".'],
    ["not", "something is missing after not."],
  ])("%s reports what was expected, and shows all cases", (text, problem) => {
    const filter = readFilter(text, WORDS);
    expect(filter.problem).toBe(problem);
    expect(ALL.every(filter.takes)).toBe(true);
  });
});

describe("texts of messages that were not searched", () => {
  const six = ["a", "b", "c", "d", "e", "f"];
  it.each<[string, readonly string[], { message: string } | null, string]>([
    ["five texts", six.slice(1), null, ""],
    ["six texts", six, null, "said: at most 5 texts are searched at once, and not 6."],
    ["the server rejects the search", ["a"], { message: "the run is gone. " }, "said: the messages were not searched: the run is gone."],
  ])("%s", (_, texts, error, failure) => {
    expect(searchFailure("said", texts, error)).toBe(failure);
    expect(readFilter("flaky or said:hello", { ...WORDS, said: { positions: SAID, failure } }).problem).toBe(failure);
    expect(readFilter("flaky", { ...WORDS, said: { positions: SAID, failure } }).problem).toBe("");
  });
});

/** Numbers that are the same in every run of the tests. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

const PIECES = ["flaky", "or", "and", "not", "(", ")", " ", '"', "outcome:", "failed", ",", "<", "0.5", "-", "tag:", "é", "\n", "why", ":", "trajectory", "=", "\\", "("];

function text(next: () => number): string {
  return Array.from({ length: Math.floor(next() * 14) }, () => PIECES[Math.floor(next() * PIECES.length)]).join(next() < 0.5 ? " " : "");
}

describe("any text", () => {
  const next = random(7);
  const typed = Array.from({ length: 3_000 }, () => text(next));

  it("is read, or rejected in one sentence", () => {
    for (const one of typed) {
      const { takes, problem } = readFilter(one, WORDS);
      for (const each of ALL) expect(typeof takes(each)).toBe("boolean");
      if (problem) expect(problem).toMatch(/[.?]$/);
    }
  });

  it("keeps the laws: not twice is nothing, either way is all, order of or does not matter", () => {
    const sound = typed.filter((one) => one.trim() && !readFilter(one, WORDS).problem);
    expect(sound.length).toBeGreaterThan(300);
    for (const [index, one] of sound.entries()) {
      const other = sound[(index * 7 + 3) % sound.length] ?? one;
      expect(found(`not not (${one})`)).toEqual(found(one));
      expect(found(`(${one}) or not (${one})`)).toEqual([1, 2, 3, 4]);
      expect(found(`(${one}) not (${one})`)).toEqual([]);
      expect(found(`(${one}) or (${other})`)).toEqual(found(`(${other}) or (${one})`));
      expect(found(`(${one}) (${other})`)).toEqual(found(one).filter((at) => found(other).includes(at)));
    }
  });

  it("is read in time that grows with its length", () => {
    const long = `${"(".repeat(20_000)}flaky`;
    expect(readFilter(long, WORDS).problem).toContain("brackets");
    expect(tokens("a ".repeat(50_000))).toHaveLength(50_000);
    expect(readFilter(`"${"x".repeat(100_000)}`, WORDS).problem).toContain("quotation mark");
  });
});

describe("a value in a filter", () => {
  it.each(["smoke", "two words", 'a"b', '"', "\\", 'a\\" (b) \\', "left, right", "é", "a\nb"])("%j is read as it was", (value) => {
    const { takes, problem } = readFilter(`tag:${filterValue(value)}`, WORDS);
    expect([problem, takes(row({ tags: [value] })), takes(row({ tags: ["another"] }))]).toEqual(["", true, false]);
  });
});

describe("texts of messages", () => {
  it.each([
    ["said:Hello outcome:failed", ["hello"]],
    ['-said:"two words" or (said:x said:X)', ["two words", "x"]],
    ['said:"open', []],
    ["said:", []],
  ])("that %s looks for", (filter, texts) => {
    expect(searchedTexts("said", filter)).toEqual(texts);
  });

  it("cannot be searched without a server", () => {
    expect(readFilter("said:x", { ...WORDS, said: undefined }).problem).toContain("proctor web");
  });
});

it.each(["changed", "within_noise", "changed:within_noise", `changed:${CHANGES.join(",")}`])("%s finds a case that changed within noise", (text) => {
  expect(readFilter(text, WORDS).takes(NOISY)).toBe(true);
  expect(needsAttention(NOISY)).toBe(false);
});

describe("offers", () => {
  it.each<[string, string[]]>([
    ["", []],
    ["outcome:f", ["outcome:failed"]],
    ["flaky or ch", [...CHANGES.map((change) => `flaky or changed:${change}`), "flaky or changed"]],
    ["tag:t", ['tag:"two words"']],
    ["safe", ["safety_v1<"]],
    ["flaky", []],
  ])("%s", (typed, made) => {
    expect(suggestions(typed, WORDS)).toEqual(made);
  });
});

describe("the order", () => {
  it("has the worst first, then failures, errors, flaky ones, and the rest in the order of the set", () => {
    const rows = [FINE, row({ position: 9 }), FLAKY, BROKEN, row({ position: 8, outcome: "failed" }), row({ position: 7, outcome: "not_run" }), row({ position: 0, change: "worse" }), row({ position: 6, outcome: "error", change: "missing", was: "passed" }), FAILED, row({ position: 5 })];
    expect(sortWorstFirst(rows).map(({ position }) => position)).toEqual([1, 0, 6, 8, 3, 2, 4, 5, 9, 7]);
    expect(rows[0]).toBe(FINE);
  });

  it("has the cases of which most trials failed first, within one rank", () => {
    const rows = ["ppfp", "fffp", "pffp", "fffp"].map((strip, position) => row({ position, outcome: "failed", strip }));
    expect(sortWorstFirst(rows).map(({ position }) => position)).toEqual([1, 3, 2, 0]);
  });

  it("stops at what is worth a look", () => {
    expect(ALL.map(needsAttention)).toEqual([true, true, true, false]);
    expect(rank(FAILED)).toBeLessThan(Math.min(...[FLAKY, BROKEN, FINE].map(rank)));
  });

  it("holds for 10,000 rows", () => {
    const rows = Array.from({ length: 10_000 }, (_, position) => row({ position, eval_id: `case_${position}`, outcome: position % 9 ? "passed" : "failed", why: `turn ${position}` }));
    const { takes } = readFilter("outcome:failed or case_99 trials>1", WORDS);
    const shown = sortWorstFirst(rows).filter(takes);
    expect(shown.length).toBe(1_112);
  });
});

describe("distance", () => {
  it.each<[string, string, number]>([
    ["", "", 0],
    ["abc", "abc", 0],
    ["fialed", "failed", 2],
    ["a", "", 1],
  ])("%s %s", (one, other, letters) => {
    expect(distance(one, other)).toBe(letters);
    expect(distance(other, one)).toBe(letters);
  });
});

describe("a reason of which the row has only the beginning", () => {
  const cut = row({ position: 7, outcome: "failed", why: "the judge said `no…`" });
  const reasons = { positions: new Map([["the end", new Set([7])]]), failure: "" };
  it("is found by its end, which the server has searched", () => {
    expect(readFilter('cause:"The end"', { ...WORDS, reasons }).takes(cut)).toBe(true);
    expect(readFilter('cause:"The end"', WORDS).takes(cut)).toBe(false);
    expect(readFilter("cause:judge", { ...WORDS, reasons }).takes(cut)).toBe(true);
  });

  it("is recognized by its mark", () => {
    expect([cut, row({ why: "cut …" }), row({ why: "complete" })].map(isReasonCut)).toEqual([true, true, false]);
  });

  it("that was not searched is a problem", () => {
    const failure = searchFailure("cause", ["x"], { message: "gone." });
    expect(readFilter("cause:x", { ...WORDS, reasons: { ...reasons, failure } }).problem).toBe("cause: the complete reasons were not searched: gone.");
  });
});
