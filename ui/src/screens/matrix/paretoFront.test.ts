import { describe, expect, it } from "vitest";
import { paretoFront } from "./paretoFront";

const runs = (...pairs: [quality: number, expense: number][]) => pairs.map(([quality, expense]) => ({ quality, expense }));

describe("the Pareto front", () => {
  it.each([
    ["the best and the cheapest", runs([0.9, 5], [0.7, 1], [0.6, 2]), [0, 1]],
    ["equal runs", runs([0.9, 5], [0.9, 5]), [0, 1]],
    ["equally good and cheaper", runs([0.9, 5], [0.9, 4]), [1]],
    ["one run", runs([0, 0]), [0]],
    ["no run", [], []],
  ])("has %s", (_, measured, wanted) => expect(paretoFront(measured)).toEqual(wanted));
});
