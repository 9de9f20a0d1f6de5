import { describe, expect, it } from "vitest";
import { press, render } from "../../../test/render";
import type { MatrixHead } from "../../data/types";
import { Scatter } from "./Scatter";

const run = (run_id: string, count: number, cost: number) =>
  ({ run_id, short: run_id, agent: "a", passed: { count, of: 4, rate: count / 4, low: 0, high: 1 }, cost, seconds: { value: cost / 2, low: null, high: null }, tokens: null }) as Partial<MatrixHead> as MatrixHead;

describe("quality against expense", () => {
  const runs = [run("one", 0, 1), run("two", 2, 2), run("three", 4, 3)];

  it("is drawn across the next expense at a key", () => {
    const { host, at } = render(<Scatter runs={runs} />, "/matrix");
    const across = host.querySelector("select");
    expect(across?.value).toBe("cost");
    expect(across?.getAttribute("aria-keyshortcuts")).toBe("t");
    press("t");
    expect([across?.value, at()]).toEqual(["seconds", "/matrix?by=seconds"]);
    press("t");
    expect(across?.value).toBe("cost");
  });

  it("has its numbers below the front, which rises to the right, and above the axis", () => {
    const { host } = render(<Scatter runs={runs} />);
    const sides = [...host.querySelectorAll("svg a")].map((link) => Number(link.querySelector("text")?.getAttribute("y")) - Number(link.querySelector("circle")?.getAttribute("cy")));
    expect(sides.map(Math.sign)).toEqual([-1, 1, 1]);
  });
});
