import { expect, it } from "vitest";
import { fixedSource, render } from "../../../test/render";
import type { CaseChecked } from "../../data/types";
import { CaseProblems } from "./CaseProblems";

const note = (pointer: string, message: string) => ({ pointer, message, hint: "" });
const NONE: CaseChecked = { errors: [], refused: [], warnings: [] };

function sections(checked: CaseChecked) {
  const { host } = render(<CaseProblems checked={checked} />, "/", fixedSource({}));
  return [...host.querySelectorAll("section")].map((section) => [section.getAttribute("aria-label"), section.textContent]);
}

it("shows nothing about a case without problems", () => {
  expect(sections(NONE)).toEqual([]);
});

it("lists warnings apart from what prevents a run, with and without a field", () => {
  const found = sections({ ...NONE, refused: [note("/a", "unknown key")], warnings: [note("", "asserts nothing"), note("/b", "unknown")] });
  expect(found).toEqual([
    ["What is wrong", "This can be saved, but no run can start until it is corrected./a: unknown key"],
    ["Warnings", "Warnings:asserts nothing/b: unknown"],
  ]);
});

it("keeps the notes after the first five within reach: not all have a field", () => {
  const [found] = sections({ ...NONE, warnings: ["1", "2", "3", "4", "5", "6"].map((name) => note("", name)) });
  expect(found).toEqual(["Warnings", "Warnings:123451 more6"]);
});
