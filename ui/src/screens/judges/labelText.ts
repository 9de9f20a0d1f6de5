import type { CalibrationPart, LabelPart, LabelledItem, LabellingPage } from "../../data/types";
import { pathOf } from "../../data/queries";
import { countText, numText } from "../../components/text/numberFormats";
import { safeText } from "../../components/text/safeText";

/** The page on which the verdicts of a metric's judge in a run are labelled. */
export function labelPath(run: string, metric: string): string {
  return `/judges/${encodeURIComponent(run)}/${encodeURIComponent(metric)}`;
}

/** The address of the labels of an item in the API. */
export function labelAddress(run: string, metric: string, { position, number }: LabelledItem): string {
  return `/api/runs/${run}/cases/${position}/trials/${number}/labels/${encodeURIComponent(metric)}`;
}

/** The case of an item, at its trial, with the verdicts of the judges. */
export function judgesPath(run: string, { position, number }: LabelledItem): string {
  return pathOf(`/runs/${run}/cases/${position}`, { trial: number + 1, tab: "judges" });
}

/** `rome, trial 2, turn 1, rubric polite`. */
export function itemText({ eval_id, number, turn, rubric_id }: LabelledItem): string {
  const parts = [eval_id, number ? `trial ${number + 1}` : "", turn === null ? "" : `turn ${turn + 1}`, rubric_id && `rubric ${rubric_id}`];
  return safeText(parts.filter(Boolean).join(", "));
}

export function personText(name: string): string {
  return name ? safeText(name) : "a person without a name";
}

export function verdictWord(passes: boolean): string {
  return passes ? "pass" : "fail";
}

/** `ann: pass · ben: fail “wrong day”`. */
export function labelsText(labels: readonly LabelPart[]): string {
  return labels.map(({ labeller, passes, note }) => `${personText(labeller)}: ${verdictWord(passes)}${note ? ` “${safeText(note)}”` : ""}`).join(" · ");
}

/** What the labels are still missing, in one sentence. */
export function wantedText({ progress, unlabelled }: Pick<LabellingPage, "progress" | "unlabelled">): string {
  const width = Math.round(progress.aim * 100);
  if (!progress.wanted) return `Both confidence intervals are at most ${width} percentage points wide: the judge can be calibrated.`;
  const rest = progress.wanted > unlabelled ? ` This run has ${unlabelled ? `only ${verdictsText(unlabelled)}` : "no verdict"} without a label: a run of more cases or trials has more.` : "";
  const share = progress.passes + progress.fails ? "At the present share of passes" : "If half of the labels are passes";
  return `${share}, about ${numText(progress.wanted)} more ${progress.wanted === 1 ? "label makes" : "labels make"} both confidence intervals at most ${width} percentage points wide.${rest}`;
}

function verdictsText(count: number): string {
  return countText(count, "verdict");
}

/** Whether the stored calibration has the present labels. */
export function storedText(calibration: CalibrationPart | null, current: boolean): string {
  if (!calibration) return "This judge is not calibrated.";
  return current ? "The stored calibration has these labels." : "The stored calibration has other labels.";
}
