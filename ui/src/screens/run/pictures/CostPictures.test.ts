import { describe, expect, it } from "vitest";
import { sharesOf } from "./CostPictures";

describe("the shares of a cost", () => {
  it.each([
    ["of the cost", [{ cost: 1, tokens: 9 }, { cost: 3, tokens: 0 }], "Share of the cost", [0.25, 0.75]],
    ["of the known cost, without the unknown", [{ cost: 1, tokens: 9 }, { cost: null, tokens: 1 }], "Share of the known cost", [1, null]],
    ["of the tokens, if no cost is known", [{ cost: null, tokens: 9 }, { cost: null, tokens: 1 }], "Share of the tokens", [0.9, 0.1]],
    ["unknown, if nothing is known", [{ cost: null, tokens: 0 }], "Share of the tokens", [null]],
  ])("are %s", (_, money, of, shares) => {
    const found = sharesOf(money);
    expect([found.of, money.map(found.part)]).toEqual([of, shares]);
  });
});
