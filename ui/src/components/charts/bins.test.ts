import { describe, expect, it } from "vitest";
import vectors from "./binVectors.json"; // the report `svg` has the same intervals: tests/reports/formats/test_svg.py
import { binsOf, percentileOf } from "./bins";

const ends = (values: number[], shares = true) => {
  const bins = binsOf(values, [], { shares });
  return [bins[0]?.from, bins[0]?.to, bins.at(-1)?.to, bins.length];
};

describe("intervals", () => {
  it.each(vectors)("$name", ({ values, shares, ends: wanted }) => expect(ends(values, shares)).toEqual(wanted));

  it("of nothing are none", () => expect(binsOf([])).toEqual([]));

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
