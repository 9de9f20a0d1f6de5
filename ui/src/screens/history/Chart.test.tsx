import { describe, expect, it } from "vitest";
import { render } from "../../../test/render";
import type { HistoryRunPart } from "../../data/types";
import { Chart } from "./Chart";
import type { Point } from "./chartPaths";
import { PASS_RATE } from "./historyText";

const run = (run_id: string) => ({ run_id, short: run_id, agent: "a", started_at: 0, commit: null, stopped_by: "" }) as Partial<HistoryRunPart> as HistoryRunPart;
const point = (run_id: string, score: number, more: Partial<Point> = {}): Point => ({ run_id, score, low: null, high: null, threshold: null, outcome: "informational", count: 4, not_run: 0, unread_sets: 0, ...more });

describe("a run with a part of the cases", () => {
  it("is drawn at the bottom: it has no rate", () => {
    const points = [point("none", 0), point("all", 1), point("cancelled", 1, { not_run: 16 }), point("unread", 1, { unread_sets: 1 }), point("chosen", 1, { chosen: "4 of 20 cases chosen" })];
    const { host } = render(<Chart name={PASS_RATE} lines={[{ label: "", points, tone: 0 }]} runs={[...points].reverse().map(({ run_id }) => run(run_id))} href={(id) => id} />);
    const tops = [...host.querySelectorAll("circle")].map((one) => Number(one.getAttribute("cy")));
    const [none, all] = tops;
    expect(all).toBeLessThan(none ?? 0);
    expect(tops.slice(2)).toEqual([none, none, none]);
  });
});

describe("the first run", () => {
  it("stays off the figures of the axis", () => {
    const points = [point("one", 0), point("two", 1)];
    const { host } = render(<Chart name={PASS_RATE} lines={[{ label: "", points, tone: 0 }]} runs={[...points].reverse().map(({ run_id }) => ({ ...run(run_id), commit: "4f2c91a" }))} href={(id) => id} />);
    const axis = Number(host.querySelector("line")?.getAttribute("x1"));
    expect(Number(host.querySelector("circle")?.getAttribute("cx"))).toBeGreaterThanOrEqual(axis + 8);
    const commit = [...host.querySelectorAll("text")].find((one) => one.textContent === "4f2c91a");
    expect([commit?.getAttribute("text-anchor"), Number(commit?.getAttribute("x"))]).toEqual(["start", axis]);
  });
});
