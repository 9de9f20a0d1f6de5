import { describe, expect, it } from "vitest";
import { binsOf, percentileOf } from "./bins";

const ends = (values: number[], shares = true) => {
  const bins = binsOf(values, [], { shares });
  return [bins[0]?.from, bins[0]?.to, bins.at(-1)?.to, bins.length];
};

describe("intervals", () => {
  it.each<[name: string, values: number[], shares: boolean, wanted: (number | undefined)[]]>([
    ["tenths for shares", [0.31, 0.3], true, [0, 0.1, 1, 10]],
    ["round ends", [3, 47], false, [0, 5, 50, 10]],
    ["small values that are no shares", [0.012, 0.144], false, [0, 0.02, 0.16, 8]],
    ["one value", [7], false, [7, 8, 14, 7]],
    ["negative values", [-2, 5], false, [-2, -1, 5, 7]],
    ["0 only", [0, 0], false, [0, 0.1, 1, 10]],
    ["nothing", [], true, [undefined, undefined, undefined, 0]],
  ])("%s", (_, values, shares, wanted) => expect(ends(values, shares)).toEqual(wanted));

  it("have every value once; an end belongs to the next interval, except the last", () => {
    const bins = binsOf([0, 0.1, 0.3, 0.3, 0.95, 1], [true, false, true, false, false, false]);
    expect(bins.map(({ count }) => count)).toEqual([1, 1, 0, 2, 0, 0, 0, 0, 0, 2]);
    expect(bins.map(({ missed }) => missed)).toEqual([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  });
});

describe("a percentile", () => {
  it.each([
    [50, 5],
    [95, 10],
    [99, 10],
  ])("p%i is a value that was measured", (percent, wanted) => expect(percentileOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], percent)).toBe(wanted));

  it("of nothing is unknown", () => expect(percentileOf([], 50)).toBeNull());
});
