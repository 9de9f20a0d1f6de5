import { describe, expect, it } from "vitest";
import type { CaseRow } from "../../data/types";
import { sortRows } from "../../components/tables/sortRows";
import { mdProse } from "../../components/text/markdown";
import { placeText } from "./useCaseOrder";

const ended = (...outcomes: CaseRow["outcome"][]) => outcomes.map((outcome) => ({ outcome }));

describe("the place of a case in its table", () => {
  it.each([
    [0, ended("failed", "passed"), "", "1 of 2 cases"],
    [2, ended("failed", "failed", "failed"), "outcome:failed", "3 of 3 failures"],
    [1, ended("failed", "error"), "outcome:failed,error", "2 of 2 failures and errors"],
    [0, ended("error"), "outcome:error", "1 of 1 errors"],
    [1, ended("failed", "passed"), "said:hello", "2 of 2 cases that match the filter"],
  ])("%s of %j", (at, shown, text, words) => expect(placeText(at, shown, text)).toBe(words));
});

describe("the order of a table", () => {
  const rows = [{ id: "a10", cost: 2 }, { id: "a2", cost: null }, { id: "B1", cost: 2 }, { id: "c", cost: 1 }];
  const columns = [
    { id: "id", sortBy: (row: (typeof rows)[number]) => row.id },
    { id: "cost", sortBy: (row: (typeof rows)[number]) => row.cost },
    { id: "why" },
  ];
  it.each([
    ["", "a10 a2 B1 c"],
    ["id", "a2 a10 B1 c"],
    ["-id", "c B1 a10 a2"],
    ["cost", "c a10 B1 a2"],
    ["-cost", "a10 B1 c a2"],
    ["why", "a10 a2 B1 c"],
    ["unknown", "a10 a2 B1 c"],
  ])("%j: %s", (sort, order) => expect(sortRows(rows, columns, sort).map(({ id }) => id).join(" ")).toBe(order));
});

describe("a reason as Markdown", () => {
  it.each([
    ["`covers` is 4, expected *2*", "`covers` is 4, expected \\*2\\*"],
    ["a ` alone", "a \\` alone"],
    ["`a|b` and <b>", "`a\\|b` and \\<b\\>"],
  ])("%s", (text, markdown) => expect(mdProse(text)).toBe(markdown));
});
