import { describe, expect, it } from "vitest";
import type { ChangedLine } from "../../data/types";
import { measuresOf, slopesOf, spread } from "./slopes";

function one(eval_id: string, change: ChangedLine["change"], base: string, candidate: string, scores: [number, number] | null = null): ChangedLine {
  return { eval_set_id: "set", eval_id, change, base, candidate, base_text: textOf(base), candidate_text: textOf(candidate), metric: "m", scores, reason: "", before: "", base_position: 0, candidate_position: 0 };
}
const textOf = (trials: string) => `${trials.split("p").length - 1}/${trials.length}`;
const drawn = (cases: ChangedLine[], measure: "trials" | "score" = "trials") =>
  slopesOf(cases, measure).map(({ cases: same, from, to, tone }) => [same.map(({ eval_id }) => eval_id).join("+"), from, to, tone]);

describe("slopes", () => {
  it("join cases that moved alike, and begin with the largest drop", () => {
    const cases = [one("a", "now_passes", "ff", "pp"), one("b", "now_fails", "pp", "ff"), one("c", "fewer_pass", "pp", "pf"), one("d", "now_fails", "pp", "ff")];
    expect(drawn(cases)).toEqual([["b+d", 1, 0, "worse"], ["c", 1, 0.5, "same"], ["a", 0, 1, "better"]]);
  });

  it("keep cases with other numbers of trials apart: a share has its denominator", () => {
    const cases = [one("a", "within_noise", "p", "pppf"), one("b", "fewer_pass", "pppp", "pppf"), one("c", "within_noise", "p", "pppf")];
    expect(slopesOf(cases, "trials").map(({ cases: same, values }) => [same.length, values])).toEqual([[2, "1/1 → 3/4"], [1, "4/4 → 3/4"]]);
  });

  it.each([
    ["a trial in error", one("a", "missing", "pp", "pe")],
    ["no trial", one("a", "missing", "pp", "")],
  ])("leave out a case with %s: its share is unknown", (_, given) => {
    expect(drawn([given])).toEqual([]);
  });

  it("leave out scores that are no shares", () => {
    expect(drawn([one("a", "now_fails", "p", "f", [0.9, 0.2]), one("b", "now_fails", "p", "f", [120, 80])], "score")).toEqual([["a", 0.9, 0.2, "worse"]]);
  });

  it.each([
    ["shares of several trials first", [one("a", "now_fails", "pp", "ff", [0.9, 0.2])], ["trials", "score"]],
    ["scores first of single trials", [one("a", "now_fails", "p", "f", [0.9, 0.2])], ["score", "trials"]],
    ["no scores if there are none", [one("a", "now_fails", "p", "f")], ["trials"]],
    ["nothing if nothing is known", [one("a", "missing", "p", "")], []],
  ] as const)("show %s", (_, cases, measures) => {
    expect(measuresOf(cases)).toEqual(measures);
  });
});

describe("labels", () => {
  it.each([
    ["stay where they are if there is room", [10, 50], [10, 50]],
    ["move apart", [10, 12, 11], [10, 40, 25]],
    ["stay within the picture", [95, 98], [85, 100]],
  ])("%s", (_, tops, placed) => {
    expect(spread(tops, 15, 0, 100)).toEqual(placed);
  });
});
