import { describe, expect, it } from "vitest";
import { withChanges } from "./address";

describe("the address", () => {
  it.each([
    ["", { q: "a b" }, "q=a+b"],
    ["q=x&sort=cost", { q: "y" }, "q=y&sort=cost"],
    ["q=x&sort=cost", { q: null }, "sort=cost"],
    ["q=x", { q: "" }, ""],
    ["", { q: "a&b=c" }, "q=a%26b%3Dc"],
  ])("%j with %j is %j", (search, changes, next) => expect(withChanges(search, changes)).toBe(next));
});
