import { describe, expect, it } from "vitest";
import type { ChangedLine, ComparisonPage, MeasuredLine, PairLine } from "../../data/types";
import { stepOf, turns } from "./CasePair";
import { apiPath, neighbourOf, caseHref, changeSummary, markOf, pairsText, probability, reaches, sentenceText, caseMatcher, toneOf } from "./comparisonText";

function measured(more: Partial<MeasuredLine>): MeasuredLine {
  return { name: "m", figure: false, decides: true, difference: 0, low: 0, high: 0, verdict: "", ...more } as MeasuredLine;
}

function changed(eval_id: string, more: Partial<ChangedLine> = {}): ChangedLine {
  return { eval_set_id: "set", eval_id, change: "now_fails", metric: "", reason: "", ...more } as ChangedLine;
}

describe("the sign of a change", () => {
  it.each([
    ["now_fails", "f", "worse"],
    ["within_noise", "pppf", "inconclusive"],
    ["missing", "ppe", "error"],
    ["missing", "", "not_run"],
  ] as const)("%s with trials '%s': %s", (change, candidate, sign) => {
    expect(markOf({ change, candidate })).toBe(sign);
  });
});

describe("the cases of a measure", () => {
  it.each([
    [11, 11, "11"],
    [7, 11, "7 of 11"],
    [0, 1200, "0 of 1,200"],
  ])("%i of %i", (known, pairs, text) => expect(pairsText(measured({ known, pairs }))).toBe(text));
});

describe("the sentence", () => {
  it("has no outcome, and signs in place of ASCII", () => {
    expect(sentenceText("regression: the pass rate fell (-5 points, 95 % CI: -9.1 to -1.2); by 40 cases x 5 trials")).toBe(
      "The pass rate fell (−5 points, 95\u202f% CI: −9.1 to −1.2); by 40 cases × 5 trials.",
    );
  });

  it("leaves a dash in a name alone", () => {
    expect(sentenceText("error: case-1 and a-2 could not be judged")).toBe("Case-1 and a-2 could not be judged.");
  });

  it("counts what is different and what is not", () => {
    const page = { same: 1037, without_verdicts: 0, cases: [changed("a"), changed("b"), changed("c", { change: "now_passes" })] } as ComparisonPage;
    expect(changeSummary(page)).toBe("2 now fail, 1 now passes, 1,037 unchanged");
    expect(changeSummary({ ...page, same: 1 })).toBe("2 now fail, 1 now passes, 1 unchanged");
    expect(changeSummary({ ...page, same: 0 })).toBe("2 now fail, 1 now passes, 0 unchanged");
  });

  it("counts the listed cases with missing verdicts, and those that are not listed apart", () => {
    const page = { same: 3, without_verdicts: 1, cases: [changed("a"), changed("b", { change: "missing" }), changed("c", { change: "missing" })] } as ComparisonPage;
    expect(changeSummary(page)).toBe("1 now fails, 2 have missing verdicts, 3 unchanged, 1 unknown");
  });
});

describe("the bars", () => {
  it("have one scale for shares and scores, and one each for figures", () => {
    const measures = [
      measured({ low: -0.5, high: 0.1 }),
      measured({ low: -0.01, high: 0.02 }),
      measured({ figure: true, low: -100, high: 200 }),
    ];
    const reach = reaches(measures);
    expect(measures.map(reach).map((one) => Number(one.toFixed(4)))).toEqual([0.525, 0.525, 210]);
  });

  it("have a scale where nothing differs", () => {
    expect(reaches([measured({})])(measured({}))).toBe(1);
  });

  it.each([
    ["worse", "worse"],
    ["better", "better"],
    ["", "same"],
  ])("are coloured by the verdict %j", (verdict, tone) => {
    expect(toneOf(measured({ verdict }))).toBe(tone);
  });

  it.each([
    [0.0004, "< 0.001"],
    [0.01149, "0.011"],
    [1, "1"],
  ])("p of %j reads %s", (value, text) => {
    expect(probability(value)).toBe(text);
  });
});

describe("the cases", () => {
  it("are found by words in their names and in why", () => {
    const one = changed("two_turn_booking", { reason: "argument `covers` is 4", metric: "trajectory" });
    expect(["booking covers", "TRAJECTORY", "set/two"].map((text) => caseMatcher(text, "")(one))).toEqual([true, true, true]);
    expect(caseMatcher("refund", "")(one)).toBe(false);
    expect(caseMatcher("", "now_passes")(one)).toBe(false);
  });

  it("have neighbours, and ends", () => {
    const cases = [changed("a"), changed("b")];
    expect(neighbourOf(cases, "set", "a", 1)?.eval_id).toBe("b");
    expect(neighbourOf(cases, "set", "a", -1)).toBeNull();
    expect(neighbourOf(cases, "set", "c", 1)).toBeNull();
  });

  it("link to the trial in their run, counted from 1", () => {
    expect(caseHref("a/b", 3, 0)).toBe("/runs/a%2Fb/cases/3?trial=1");
    expect(caseHref("a", 3)).toBe("/runs/a/cases/3");
    expect(caseHref("a", null)).toBeNull();
  });

  it("ask for what the address names", () => {
    expect(apiPath({ base: "a&b", candidate: "latest", margin: null })).toBe("/api/compare?base=a%26b&candidate=latest");
    expect(apiPath({ margin: null })).toBe("/api/compare");
    expect(apiPath({ base: "a", candidate: "b", margin: "0.1" })).toBe("/api/compare?base=a&candidate=b&margin=0.1");
  });
});

describe("two trials", () => {
  const line = (turn: number, more: Partial<PairLine>): PairLine => ({ kind: "same", turn, what: "call", base: null, candidate: null, ...more });
  const text = (words: string) => ({ pieces: [{ text: words, changed: true }], left_out: 0 });

  it("are listed turn by turn", () => {
    expect(turns([line(1, {}), line(2, {}), line(1, {})]).map(([turn, lines]) => [turn, lines.length])).toEqual([
      [1, 2],
      [2, 1],
    ]);
  });

  it("mark the steps that only one of them has", () => {
    const step = stepOf(line(0, { kind: "extra", candidate: text("send_sms()") }));
    expect(step).toEqual({
      kind: "extra",
      expected: [],
      actual: [
        { text: "call: ", changed: false },
        { text: "send_sms()", changed: true },
      ],
      note: "only in the candidate",
    });
  });
});
