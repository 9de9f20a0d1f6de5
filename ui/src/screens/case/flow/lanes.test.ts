import { describe, expect, it } from "vitest";
import type { StepPart, TurnPart } from "../../../data/types";
import { flowMarkdown, flowText, isLone, lanesOf, ROW } from "./lanes";

type Kind = NonNullable<StepPart["kind"]>;

const WIDTH = 150;
const text = (text: string) => ({ pieces: [{ text, changed: false }], left_out: 0 });

/** A step: its kind, the position of its expected and of its actual call (null: none), and the rules that it breaks. */
function step(kind: Kind | null, expected: number | null, actual: number | null, ...broken: string[]): StepPart {
  return {
    kind,
    expected: expected === null ? null : text(`tool_${expected}(at=${expected})`),
    actual: actual === null ? null : text(`tool_${actual}(at=${actual})`),
    author: "agent",
    response: null,
    call: actual,
    expected_call: expected,
    broken,
  };
}

/** The rows of both lanes: `0:0 1:-` is a pair in the first row and an expected call alone in the second. */
function rowsOf(...steps: StepPart[]): string {
  const { expected, actual, height } = lanesOf({ steps }, WIDTH);
  const at = (lane: typeof expected, top: number) => lane.find((call) => call.top === top)?.tool.replace("tool_", "") ?? "-";
  return Array.from({ length: Math.ceil(height / ROW) }, (_, row) => `${at(expected, row * ROW)}:${at(actual, row * ROW)}`).join(" ");
}

describe("the lanes of a turn", () => {
  it.each<[string, StepPart[], string]>([
    ["pairs have one row", [step("same", 0, 0), step("differs", 1, 1)], "0:0 1:1"],
    ["a missing call has no partner", [step("missing", 0, null), step("same", 1, 0)], "0:- 1:0"],
    ["an extra call neither", [step("extra", null, 0), step("same", 0, 1)], "-:0 0:1"],
    ["what is missing and what is extra share a row", [step("missing", 0, null), step("extra", null, 0), step("same", 1, 1)], "0:0 1:1"],
    ["a moved call stays where it was made", [step("moved", 0, 1), step("same", 1, 0)], "0:- 1:0 -:1"],
    ["actual calls alone", [step(null, null, 0), step(null, null, 1)], "-:0 -:1"],
    ["nothing", [], ""],
  ])("%s", (_, steps, rows) => expect(rowsOf(...steps)).toBe(rows));

  it("connect what belongs together", () => {
    const { links } = lanesOf({ steps: [step("moved", 0, 1), step("same", 1, 0), step("missing", 2, null)] }, WIDTH);
    expect(links.map(({ kind, from, to }) => [kind, Math.sign(to - from)])).toEqual([["same", 0], ["moved", 1]]);
  });

  it("give the call that breaks a rule room for it, and never overlap", () => {
    const rule = "get_order only after verify_identity";
    const { actual, height } = lanesOf({ steps: [step("same", 0, 0, rule, "at most once"), step("same", 1, 1)] }, WIDTH);
    const [first, second] = actual;
    expect(first?.broken).toEqual([rule, "at most once"]);
    expect((first?.top ?? 0) + (first?.height ?? 0)).toBeLessThan(second?.top ?? 0);
    expect((second?.top ?? 0) + (second?.height ?? 0)).toBeLessThanOrEqual(height);
  });

  it("have a name and arguments for each call", () => expect(lanesOf({ steps: [step("same", 0, 0)] }, WIDTH).actual[0]).toMatchObject({ tool: "tool_0", args: "(at=0)" }));
});

describe("whether the actual calls are alone", () => {
  it.each<[string, StepPart[], boolean]>([
    ["nothing is known of what was expected", [step(null, null, 0)], true],
    ["only calls that break a rule have a kind", [step("extra", null, 0, "at most once"), step(null, null, 1)], true],
    ["a call was expected", [step("missing", 0, null), step("extra", null, 0)], false],
  ])("%s", (_, steps, lone) => expect(isLone({ steps })).toBe(lone));
});

describe("the tool flow in words", () => {
  it.each<[StepPart[], string]>([
    [[step("same", 0, 0), step("same", 1, 1), step("missing", 2, null)], "2 as expected, 1 missing"],
    [[step("extra", null, 0, "at most once")], "1 not expected; 1 rule broken"],
    [[step(null, null, 0)], "1 call"],
  ])("%#", (steps, words) => expect(flowText({ steps })).toBe(words));

  it("is a table to copy, with the rules", () => {
    const steps = [step("moved", 0, 1, "a | b"), step("missing", 1, null)];
    expect(flowMarkdown([{ index: 1, steps } as unknown as TurnPart])).toContain("| 2 | `tool_0(at=0)` | in another order | `tool_1(at=1)` | a \\| b |");
  });
});
