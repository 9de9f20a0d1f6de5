import { describe, expect, it } from "vitest";
import { click, render } from "../../../test/render";
import type { HistoryPage } from "../../data/types";
import { OneCase } from "./OneCase";

const RUN = { run_id: "r", short: "r", agent: "a", started_at: 0, commit: null };
const series = (name: string, outcome: string) => ({ agent: "a", name, decides: true, points: [{ run_id: "r", score: 0.5, low: null, high: null, threshold: 0.2, outcome, count: 1 }] });
const PAGE = {
  command: "proctor history",
  runs: [RUN],
  changes: [],
  cases: [{ agent: "a", eval_id: "one", eval_set_id: "s", course: "broke", sentence: "passed", turning: null }],
  points: [{ run_id: "r", position: 0, outcome: "failed", strip: "", reason: "", changed: [] }],
  series: [...Array.from({ length: 20 }, (_, index) => series(`fine_${index}`, "passed")), series("missed", "failed")],
} as unknown as HistoryPage;

describe("the metrics of a case", () => {
  it("are drawn twelve at first, with those that a run missed before the others, and all on request", () => {
    const { host } = render(<OneCase page={PAGE} options={{ set: "s", case: "one" } as never} />);
    const charts = () => [...host.querySelectorAll("figcaption > b")].map((one) => one.textContent);
    expect(charts().slice(0, 2)).toEqual(["missed", "fine_0"]);
    expect(charts().length).toBe(12);
    click([...host.querySelectorAll("button")].find((one) => one.textContent === "Show all 21 metrics") ?? null);
    expect(charts().length).toBe(21);
  });
});
