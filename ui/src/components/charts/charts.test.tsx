import { describe, expect, it } from "vitest";
import { render } from "../../../test/render";
import { OutcomeCounts } from "./OutcomeCounts";
import { IntervalBar } from "./IntervalBar";
import { Outcome } from "./Outcome";
import { pathThrough } from "./Sparkline";
import { type Step, type StepKind, Steps } from "../tables/Steps";
import { TrialStrip, stripText } from "./TrialStrip";
import { type Piece, TextPieces } from "../text/TextPieces";

const pieces = (...texts: string[]): Piece[] =>
  texts.map((text) => (text.startsWith("*") ? { text: text.slice(1), changed: true } : { text, changed: false }));

describe("an outcome", () => {
  it.each([
    ["passed", "✓Passed"],
    ["failed", "✕Failed"],
    ["error", "!Error"],
    ["inconclusive", "?Inconclusive"],
    ["not_run", "–Not run"],
    ["something new", "–something new"],
  ])("%s is sign and word", (outcome, text) => {
    expect(render(<Outcome outcome={outcome} />).host.textContent).toBe(text);
  });

  it("keeps its word for those who do not see its colour, with other words in it", () => {
    const { host } = render(<Outcome outcome="failed">trajectory 0.40 &lt; 0.9</Outcome>);
    expect(host.textContent).toBe("✕Failed: trajectory 0.40 < 0.9");
  });
});

describe("a strip of trials", () => {
  it.each([
    ["ppfei", "●●○!?", "2 passed, 1 failed, 1 error, 1 inconclusive"],
    ["pppppppppppf", "●11○1", "11 passed, 1 failed"],
    ["nns", "–––", "2 not run, 1 skipped"],
  ])("%s reads %s", (strip, drawn, words) => {
    const { host } = render(<TrialStrip strip={strip} />);
    expect(host.textContent).toBe(drawn);
    expect(stripText(strip)).toBe(words);
    expect(host.querySelector("[role=img]")?.getAttribute("aria-label")).toBe(words);
  });
});

describe("counts", () => {
  it("leave out zero counts, and have a text for screen readers", () => {
    const { host } = render(<OutcomeCounts counts={{ passed: 187, failed: 11, error: 2, inconclusive: 0 }} />);
    expect(host.textContent).toBe("187 ✓11 ✕2 !");
    expect(host.querySelector("[role=img]")?.getAttribute("aria-label")).toBe("187 passed, 11 failed, 2 error");
  });
});

describe("a difference of texts", () => {
  it("marks only what differs, as text", () => {
    const { host } = render(<TextPieces pieces={pieces("for ", "*<b>2</b>", " guests")} side="expected" />);
    expect(host.textContent).toBe("for <b>2</b> guests");
    expect([...host.querySelectorAll("del")].map((one) => one.textContent)).toEqual(["<b>2</b>"]);
    expect(host.querySelector("b")).toBeNull();
  });
});

describe("steps side by side", () => {
  const step = (kind: StepKind, expected: string, actual: string): Step => ({
    kind,
    expected: expected ? pieces(expected) : [],
    actual: actual ? pieces(actual) : [],
  });

  it.each([
    ["same", step("same", "find()", "find()"), ["find()", "=the same", "find()"]],
    ["differs", step("differs", "book(2)", "book(4)"), ["book(2)", "≠differs", "book(4)"]],
    ["missing", step("missing", "book()", ""), ["book() missing", "−missing", ""]],
    ["extra", step("extra", "", "sms()"), ["", "+not expected", "sms() not expected"]],
    ["allowed", step("allowed", "", "sms()"), ["", "·allowed", "sms() allowed"]],
    ["moved", step("moved", "a()", "a()"), ["a()", "⇄moved", "a() moved"]],
  ])("%s: one line, the sign between", (_, shown, cells) => {
    const { host } = render(<Steps steps={[shown]} heads={null} />);
    const found = [...host.querySelectorAll("[role=cell]")].map((cell) => cell.textContent);
    expect(found).toEqual(cells);
  });
});

describe("an interval", () => {
  it("is drawn at its values, and within its scale", () => {
    const { host } = render(<IntervalBar value={0} low={-30} high={5} from={-10} to={10} mark={0} label="fell" />);
    expect(host.querySelector("u")?.style.left).toBe("50%");
    expect(host.querySelector("i")?.style.left).toBe("0%");
    expect(host.querySelector("i")?.style.right).toBe("calc(25%)");
    expect(host.querySelector("[role=img]")?.getAttribute("aria-label")).toBe("fell");
  });
});

describe("a sparkline", () => {
  it.each([
    [[1, 2, 3], "M0 1L1 2L2 3"],
    [[1, null, 3, 4], "M0 1M2 3L3 4"],
    [[null, null], ""],
  ])("of %j is %s", (values, path) => {
    expect(pathThrough(values, (index) => index, (value) => value)).toBe(path);
  });
});
