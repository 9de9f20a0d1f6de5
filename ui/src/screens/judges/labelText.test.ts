import { describe, expect, it } from "vitest";
import type { LabelPart, LabelledItem, LabellingPage } from "../../data/types";
import { itemText, judgesPath, labelAddress, labelPath, labelsText, storedText, wantedText } from "./labelText";

const ITEM: LabelledItem = { eval_set_id: "trips", eval_id: "rome", position: 3, number: 1, turn: 0, rubric_id: "polite" };
const LABEL: LabelPart = { metric: "", turn: 0, rubric_id: "", passes: true, note: "", labeller: "ann", labelled_at: 1 };

function progress(wanted: number, unlabelled: number, fails = 1): Pick<LabellingPage, "progress" | "unlabelled"> {
  return { unlabelled, progress: { aim: 0.2, wanted, passes: 0, fails } as LabellingPage["progress"] };
}

describe("labels", () => {
  it("have an item, with its addresses", () => {
    expect(itemText(ITEM)).toBe("rome, trial 2, turn 1, rubric polite");
    expect(itemText({ ...ITEM, number: 0, turn: null, rubric_id: "" })).toBe("rome");
    expect(labelPath("run1", "a/b")).toBe("/judges/run1/a%2Fb");
    expect(labelAddress("run1", "a/b", ITEM)).toBe("/api/runs/run1/cases/3/trials/1/labels/a%2Fb");
    expect(judgesPath("run1", ITEM)).toBe("/runs/run1/cases/3?trial=2&tab=judges");
  });

  it("of several people are in one line", () => {
    expect(labelsText([LABEL, { ...LABEL, labeller: "", passes: false, note: "wrong day" }])).toBe("ann: pass · a person without a name: fail “wrong day”");
  });

  it.each([
    ["some are missing", progress(40, 100), "At the present share of passes, about 40 more labels make both confidence intervals at most 20 percentage points wide."],
    ["there are none", progress(40, 100, 0), "If half of the labels are passes, about 40 more labels make"],
    ["one is missing", progress(1, 100), "At the present share of passes, about 1 more label makes both confidence intervals at most 20 percentage points wide."],
    ["the run has too few", progress(40, 1), "This run has only 1 verdict without a label: a run of more cases or trials has more."],
    ["the run has none", progress(40, 0), "This run has no verdict without a label: a run of more cases or trials has more."],
    ["none is missing", progress(0, 0), "Both confidence intervals are at most 20 percentage points wide: the judge can be calibrated."],
  ])("state what is missing: %s", (_, page, text) => expect(wantedText(page)).toContain(text));

  it.each([
    [null, false, "This judge is not calibrated."],
    [{} as never, true, "The stored calibration has these labels."],
    [{} as never, false, "The stored calibration has other labels."],
  ])("are those of the stored calibration, or not", (calibration, current, text) => expect(storedText(calibration, current)).toBe(text));
});
