import { describe, expect, it } from "vitest";
import { render } from "../../../test/render";
import { TermText } from "./TermText";

describe("the statistics of a sentence", () => {
  it.each([
    ["0 of 3 trials passed (95 % CI: 0–56 %).", ["95 % CI"]],
    ["fell by 5 points (97.5 % CI: −9 to −1)", ["97.5 % CI"]],
    ["calibrated: kappa 0.81 (95 % CI: 0.70 to 0.90), 120 labels", ["kappa", "95 % CI"]],
    ["true positive rate 92 % · true negative rate 88 %", ["true positive rate", "true negative rate"]],
    ["3 votes, 67\u202f% agree", ["67\u202f% agree"]],
    ["3 votes: 2 of 3 agree (67\u202f%)", ["2 of 3 agree"]],
    ["all 4 cases pass", []],
  ])("have a definition: %s", (text, terms) => {
    const { host } = render(<p><TermText text={text} /></p>);
    expect([...host.querySelectorAll("button")].map(({ textContent }) => textContent)).toEqual(terms);
    expect(host.textContent).toBe(text);
  });

  it("keep the signs around them", () => {
    const { host } = render(<p><TermText text="−9 points (95 % CI: −12 to −6), pass^3, more" /></p>);
    expect([...host.querySelectorAll("span.joined, [class*=joined]")].map(({ textContent }) => textContent)).toEqual(["(95 % CI:", "pass^3,"]);
  });
});
