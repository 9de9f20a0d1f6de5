import { describe, expect, it } from "vitest";
import { intervalText } from "./EstimatePanel";

describe("the prediction interval of an estimate", () => {
  it.each([
    [{ low: 2, high: 6 }, ", 95 % PI: 2 to 6"],
    [{ low: 6, high: 6 }, ""],
    [{ low: 5.9, high: 6.1 }, ""],
    [{ low: null, high: null }, ""],
  ])("%j: '%s'", (foreseen, text) => expect(intervalText(foreseen, 0.95, (value) => value.toFixed(0))).toBe(text));
});
