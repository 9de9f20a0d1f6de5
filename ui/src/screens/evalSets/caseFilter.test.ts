import { expect, test } from "vitest";
import type { EvalCaseRow } from "../../data/types";
import { matchesFilter } from "./caseFilter";

const ROW: EvalCaseRow = { position: 0, eval_id: "Two_Turns", line: 1, kind: "turns", turns: 2, asks: "Where to?", calls: 1, tags: ["smoke", "de"], rubrics: 0, has_state: false, errors: 0, warnings: 0 };

test.each([
  ["", true], ["two", true], ["WHERE", true], ["two where", true], ["two nope", false], ["tag:smoke", true], ["tag:smo", false],
  ["smo", true], ["problems", false], ["scenario", false],
])("%j fits: %s", (line, expected) => {
  expect(matchesFilter(ROW, line)).toBe(expected);
});

test("problems are found", () => {
  expect(matchesFilter({ ...ROW, warnings: 1 }, "problems")).toBe(true);
});
