import type { FigurePart, JudgeRow, KnownJudgesPage } from "../../data/types";
import { UNKNOWN, clockText, percentText, scoreText } from "../../components/text/numberFormats";
import { mdCode, mdTable, mdText } from "../../components/text/markdown";

/** `3 judges gave verdicts in the last 12 runs: 2 are calibrated, 1 may agree with human labels only by chance.` */
export function summary({ items, runs }: KnownJudgesPage): string {
  const used = items.filter((row) => row.runs > 0);
  const count = (standing: JudgeRow["standing"]) => used.filter((row) => row.standing === standing).length;
  const parts = [
    countOrEmpty(count("calibrated"), "is calibrated", "are calibrated"),
    countOrEmpty(count("chance"), "may agree with human labels only by chance", "may agree with human labels only by chance"),
    countOrEmpty(count("void"), "has a calibration that is void", "have a calibration that is void"),
    countOrEmpty(count("unknown"), "is not calibrated", "are not calibrated"),
  ].filter(Boolean);
  const judges = used.length === 1 ? "One judge" : `${used.length} judges`;
  const where = runs === 1 ? "the only run" : `the last ${runs} runs`;
  return used.length ? `${judges} gave verdicts in ${where}: ${parts.join(", ")}.` : `No judge gave verdicts in ${where}.`;
}

function countOrEmpty(count: number, one: string, more: string): string {
  return count ? `${count} ${count === 1 ? one : more}` : "";
}

const TAGS = {
  calibrated: ["passed", "Calibrated"],
  chance: ["inconclusive", "May be chance"],
  void: ["error", "Void"],
  unknown: ["not_applicable", "Not calibrated"],
} as const;

/** An outcome's look, and the word. */
export function standingTag({ standing }: JudgeRow): readonly [outcome: string, word: string] {
  return TAGS[standing];
}

/** `0.81 (0.70–0.90)`; `–` if it is not defined. */
function figureText({ value, low, high }: FigurePart): string {
  return value === null ? UNKNOWN : `${scoreText(value)} (${scoreText(low)}–${scoreText(high)})`;
}

/** The figures in one line: `kappa 0.81 (95 % CI: 0.70–0.90) · true positive rate 92 % (55 of 60) · true negative rate 88 % (53 of 60) · 120 labels`. */
export function calibrationText({ kappa, tpr, tnr, labels, both_pass, judge_fails, judge_passes, both_fail }: NonNullable<JudgeRow["calibration"]>): string {
  const interval = kappa.value === null ? "" : ` (95 % CI: ${scoreText(kappa.low)} to ${scoreText(kappa.high)})`;
  const rate = (name: string, value: number | null, count: number, others: number) => `true ${name} rate ${percentText(value)} (${count} of ${count + others})`;
  const rates = `${rate("positive", tpr.value, both_pass, judge_fails)} · ${rate("negative", tnr.value, both_fail, judge_passes)}`;
  return `kappa ${scoreText(kappa.value)}${interval} · ${rates} · ${labels} ${labels === 1 ? "label" : "labels"}`;
}

/** The judge to calibrate next: one without a valid calibration, preferably with labels. */
export function nextToCalibrate(items: readonly JudgeRow[]): JudgeRow | null {
  const open = items.filter(({ standing, last_run }) => standing !== "calibrated" && last_run !== null);
  return open.find(({ labels }) => labels > 0) ?? open[0] ?? null;
}

export function calibrateCommand({ last_run, metric }: JudgeRow): string {
  return `proctor judge calibrate ${last_run ?? "latest"} --metric ${metric}`;
}

const HEADS = ["Metric", "Model", "Calibration", "Cohen’s kappa (95 % CI)", "True positive rate (95 % CI)", "True negative rate (95 % CI)", "Labels", "Last used"];

export function asMarkdown(items: readonly JudgeRow[]): string {
  return mdTable(HEADS, items.map(cells), [6]);
}

function figuresOf({ kappa, tpr, tnr, both_pass, judge_fails, both_fail, judge_passes }: NonNullable<JudgeRow["calibration"]>): string[] {
  const counted = (figure: FigurePart, count: number, others: number) => `${figureText(figure)}, ${count} of ${count + others}`;
  return [figureText(kappa), counted(tpr, both_pass, judge_fails), counted(tnr, both_fail, judge_passes)];
}

function cells(row: JudgeRow): string[] {
  const { calibration } = row;
  return [
    mdCode(row.metric),
    mdCode(row.model),
    mdText([standingTag(row)[1], ...row.void].join(": ")),
    ...(calibration ? figuresOf(calibration) : ["–", "–", "–"]),
    calibration ? String(calibration.labels) : "–",
    row.last_at === null ? "–" : clockText(row.last_at),
  ];
}
