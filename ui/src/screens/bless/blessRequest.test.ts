import { describe, expect, it } from "vitest";
import type { BlessCase, BlessPage } from "../../data/types";
import { blessCommand, changedCases, lostComments, positionsToBless, readBlessRequest, writeButtonText } from "./blessRequest";

describe("what the address asks for", () => {
  it.each([
    ["", { cases: null, trials: {}, force: false }],
    ["cases=3,7", { cases: [3, 7], trials: {}, force: false }],
    ["cases=3&trial=2", { cases: [3], trials: { "3": 1 }, force: false }],
    ["cases=3,4&trial=2", { cases: [3, 4], trials: {}, force: false }],
    ["cases=3&trials=3:4&trial=2", { cases: [3], trials: { "3": 3 }, force: false }],
    ["cases=x,-1,&trials=a:b,5,6:0&force=1", { cases: null, trials: {}, force: true }],
  ])("%s", (query, request) => expect(readBlessRequest(new URLSearchParams(query))).toEqual(request));
});

describe("the command of the ticked cases", () => {
  const cases = [one({ eval_set_id: "set", eval_id: "it's \"a b\"" }), one({ position: 1, eval_set_id: "set", eval_id: "c" })];
  it.each([
    [[], {}, false, ""],
    [[0], {}, false, `proctor bless r 'set/it'"'"'s "a b"'`],
    [[0, 1], {}, true, `proctor bless r 'set/it'"'"'s "a b"' set/c --force`],
    [[1], { "1": 2, "7": 0 }, false, "proctor bless r set/c --trial 3"],
    [[0, 1], { "1": 0 }, true, `proctor bless r 'set/it'"'"'s "a b"' --force && proctor bless r set/c --trial 1 --force`],
  ])("%j with the trials %o, forced: %j", (ticked: number[], trials, force, command) => {
    const accepted = cases.filter(({ position }) => ticked.includes(position));
    expect(blessCommand("r", accepted, { trials, force })).toBe(command);
  });
});

const one = (more: Partial<BlessCase>): BlessCase =>
  ({ position: 0, status: "changes", path: "a/set.json", lost: [], ...more }) as BlessCase;

describe("the cases of a table", () => {
  it("are those that were scored and did not pass, in the order of the run", () => {
    const outcomes = ["inconclusive", "passed", "error", "not_run", "skipped", "failed"] as const;
    expect(positionsToBless(outcomes.map((outcome, index) => ({ outcome, position: 9 - index })))).toEqual([4, 7, 9]);
  });
});

describe("what would be written", () => {
  const cases = [one({}), one({ position: 1, status: "same" }), one({ position: 2, status: "refused" })];
  it("is what changes", () => expect(changedCases(cases).map(({ position }) => position)).toEqual([0]));

  it.each([
    [[], "Nothing accepted"],
    [[one({})], "Write 1 case into set.json"],
    [[one({}), one({})], "Write 2 cases into set.json"],
    [[one({}), one({ path: "b.json" })], "Write 2 cases into 2 files"],
  ])("names what is written", (accepted, words) => expect(writeButtonText(accepted)).toBe(words));

  it("takes comments along only of what is accepted", () => {
    const page = { files: [{ path: "a/set.json", lost: ["1: # head"] }, { path: "b.json", lost: ["9: # other"] }] } as unknown as BlessPage;
    expect(lostComments(page, [one({ lost: ["5: # here"] })])).toEqual(["a/set.json:5: # here", "a/set.json:1: # head"]);
    expect(lostComments(page, [])).toEqual([]);
  });
});
