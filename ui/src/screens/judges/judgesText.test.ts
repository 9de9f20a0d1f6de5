import { describe, expect, it } from "vitest";
import type { JudgeRow } from "../../data/types";
import { asMarkdown, calibrateCommand, summary, nextToCalibrate } from "./judgesText";

function judge(more: Partial<JudgeRow> = {}): JudgeRow {
  return {
    metric: "safety_v1",
    model: "a-model",
    prompt: "e3eb1a87",
    standing: "unknown",
    void: [],
    calibration: null,
    runs: 1,
    last_run: "r1",
    last_at: 0,
    last_agent: "travel",
    labels: 0,
    ...more,
  };
}

describe("the judges", () => {
  it.each([
    [[judge()], 1, "One judge gave verdicts in the only run: 1 is not calibrated."],
    [
      [judge({ standing: "calibrated" }), judge({ standing: "calibrated" }), judge({ standing: "void" })],
      12,
      "3 judges gave verdicts in the last 12 runs: 2 are calibrated, 1 has a calibration that is void.",
    ],
    [[judge({ standing: "chance" })], 2, "One judge gave verdicts in the last 2 runs: 1 may agree with human labels only by chance."],
    [[judge({ standing: "calibrated", runs: 0 })], 3, "No judge gave verdicts in the last 3 runs."],
  ])("are summed up", (items, runs, words) => expect(summary({ items, runs })).toBe(words));

  it.each([
    ["none where all are calibrated", [judge({ standing: "calibrated" })], null],
    ["the one that people labelled", [judge({ metric: "a" }), judge({ metric: "b", labels: 3 })], "b"],
    ["the last one used", [judge({ metric: "a", standing: "void" }), judge({ metric: "b" })], "a"],
    ["none that no run has", [judge({ last_run: null })], null],
  ])("have one to hold against people: %s", (_, items, metric) => {
    expect(nextToCalibrate(items)?.metric ?? null).toBe(metric);
  });

  it("are copied, with the command that calibrates", () => {
    expect(calibrateCommand(judge())).toBe("proctor judge calibrate r1 --metric safety_v1");
    expect(asMarkdown([judge({ model: "a|b", last_at: null })]).split("\n")[2]).toBe(
      "| `safety_v1` | `a\\|b` | Not calibrated | – | – | – | – | – |",
    );
  });
});
