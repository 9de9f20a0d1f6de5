import { describe, expect, it } from "vitest";
import { agoText, boundsText, costText, moneyText, numText, percentText, scoreText, secondsText } from "./numberFormats";

const plain = (text: string) => text.replaceAll("\u202f", " ");

describe("figures", () => {
  it.each([
    [0.925, "92.5 %"],
    [1, "100 %"],
    [0, "0 %"],
    [0.9999, "99.9 %"], // not yet all
    [0.99949, "99.9 %"],
    [0.0001, "0.1 %"], // not none
    [0.99, "99 %"],
    [0.625, "62.5 %"],
    [0.0625, "6.2 %"], // an exact half, as Python rounds it
    [0.1875, "18.8 %"],
    [null, "–"],
  ])("share %s reads %s", (value, text) => expect(plain(percentText(value))).toBe(text));

  it.each([
    [0.4, "0.40"],
    [1, "1.00"],
    [0.999, "0.999"],
    [0.9997, "0.9997"], // not yet all
    [0.00002, "0.00002"],
    [0.9999999, "1.00"], // an error of rounding
    [-0.25, "−0.25"],
    [0.125, "0.12"], // an exact half, as Python rounds it: the same as in the reason
    [0.625, "0.62"],
    [0.875, "0.88"],
    [-0.625, "−0.62"],
    [0.285, "0.28"], // less than a half in binary
    [-9.997e98, "−1.00e+99"],
    [null, "–"],
  ])("score %s reads %s", (value, text) => expect(scoreText(value)).toBe(text));

  it.each([
    [0.0456, 0.6994, "5–70"], // not 4–70: as the terminal has it
    [0.7389, 0.9193, "74–92"],
    [0.8408, 0.8717, "84.1–87.2"], // narrow
    [0, 1, "0–100"],
    [0.125, 0.375, "12–38"],
    [0.99943, 0.99998, "99.943–99.998"],
    [0.000018, 0.000566, "0.002–0.057"],
  ])("an interval from %s to %s reads %s", (low, high, text) => expect(boundsText(low, high)).toBe(text));

  it.each([
    [0.42, "$0.420"],
    [0.0123, "$0.012"],
    [0.0031, "$0.0031"],
    [0.00015, "$0.00015"],
    [0.0000001, "< $0.000001"],
    [1204, "$1,204.00"],
    [0, "$0"],
    [null, "–"],
    [undefined, "–"],
  ])("%s dollars read %s", (value, text) => expect(moneyText(value)).toBe(text));

  it.each([
    [0.0213, "21 ms"],
    [2.44, "2.4 s"],
    [59.96, "1 m 00 s"],
    [192, "3 m 12 s"],
    [7530, "2 h 05 m"],
    [null, "–"],
  ])("%s seconds read %s", (value, text) => expect(secondsText(value)).toBe(text));

  it.each([
    [30, "just now"],
    [300, "5 min ago"],
    [3 * 3600, "3 h ago"],
    [30 * 3600, "yesterday"],
    [4 * 86_400, "4 days ago"],
  ])("%d seconds back is %s", (past, text) => expect(agoText(1_000_000 - past, 1_000_000)).toBe(text));

  it("writes numbers with a true minus and thousands apart", () => {
    expect(numText(-1204.5)).toBe("−1,204.5");
  });
});

it.each([
  ["$0.60", "$0.60"],
  ["at least $0.60", "≥ $0.60"],
  ["unknown", "unknown"],
  ["", "–"],
])("a cost of %s", (cost_text, text) => {
  expect(costText({ cost_text })).toBe(text);
});
