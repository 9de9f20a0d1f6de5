import type { CasePage, MarkedText, StepPart, TrialPage, TurnPart } from "../../data/types";
import { outcomeWord, shownOutcome, shownTrial } from "../../components/charts/Outcome";
import { mdCode, mdProse, mdText } from "../../components/text/markdown";
import { safeText } from "../../components/text/safeText";
import { scoreAgainstThreshold } from "./metricText";

const SIGNS: Record<string, string> = { same: "=", differs: "≠", missing: "−", extra: "+", moved: "⇄", allowed: "·" };

/** The case as Markdown for an issue: the verdict, then of the trial the turns in which something differs. */
export function caseMarkdown(page: CasePage, trial: TrialPage | undefined): string {
  const several = page.trials.length > 1;
  const lines = [
    `### ${mdCode(safeText(page.eval_id))}: ${outcomeWord(shownOutcome(page.outcome, page.trials.length))}`,
    "",
    `${mdProse(safeText(page.sentence))}. ${mdProse(safeText(page.reason))}`.trim(),
    "",
    `Run ${mdCode(page.short)}, ${mdText(safeText(page.agent))}, set ${mdText(safeText(page.eval_set_id))}${page.place ? `, ${mdCode(page.place)}` : ""}`,
  ];
  if (trial) {
    if (several) lines.push("", `**Trial ${trial.number + 1} of ${trial.trials}: ${outcomeWord(shownTrial(trial.outcome))}**`);
    const telling = trial.turns.filter(({ differs }) => differs);
    for (const turn of telling.length ? telling : trial.turns.slice(0, 3)) lines.push("", ...turnLines(turn));
    lines.push(...stateLines(trial));
    if (trial.failure) lines.push("", `${mdText(trial.failure.what)}: ${mdCode(safeText(trial.failure.error))}`);
  }
  lines.push("", mdCode(trial?.command ?? page.command));
  return lines.join("\n");
}

/** The transcript of a trial as text: what the user and the agent wrote, and the tool calls with their responses. */
export function transcriptText({ turns }: TrialPage): string {
  return turns.map((turn) => [`# Turn ${turn.index + 1}`, ...turnTranscript(turn)].join("\n")).join("\n\n");
}

function turnTranscript(turn: TurnPart): string[] {
  const lines = [`user: ${safeText(turn.user.text)}`];
  const messages = [...turn.messages];
  const addMessages = (before: number) => {
    while (messages[0] && messages[0].before <= before) lines.push(`${safeText(messages[0].author)}: ${safeText(messages.shift()?.text.text ?? "")}`);
  };
  for (const { actual, response, call } of turn.steps) {
    if (call !== null) addMessages(call);
    if (actual) lines.push(`call: ${plainText(actual)}`);
    if (response) lines.push(`response: ${safeText(response.text)}`);
  }
  addMessages(Number.POSITIVE_INFINITY);
  if (turn.answer.actual) lines.push(`agent: ${plainText(turn.answer.actual)}`);
  return lines;
}

function plainText({ pieces }: MarkedText): string {
  return safeText(pieces.map(({ text }) => text).join(""));
}

function turnLines(turn: TurnPart): string[] {
  const lines = [`**Turn ${turn.index + 1}**, user: ${mdText(safeText(turn.user.text.slice(0, 500)))}`, ""];
  for (const step of turn.steps) lines.push(...stepLines(step));
  const { expected, actual, same } = turn.answer;
  if (expected && actual && !same) lines.push(`- answer, expected: ${side(expected)}`, `- answer, actual: ${side(actual)}`);
  else if (actual) lines.push(`- answer: ${side(actual)}`);
  else if (expected) lines.push(`- no answer, expected: ${side(expected)}`);
  for (const score of turn.scores) {
    if (score.outcome === "failed" || score.outcome === "error") {
      lines.push(`- ✕ ${mdText(scoreAgainstThreshold(score))}${score.reason ? `: ${mdProse(safeText(score.reason))}` : ""}`);
    }
  }
  return lines;
}

function stepLines({ kind, expected, actual, broken }: StepPart): string[] {
  const sign = kind ? SIGNS[kind] : "·";
  const rules = broken.map((rule) => `  - ✕ breaks the rule: ${mdProse(safeText(rule))}`);
  if (kind === "differs") return [`- ${sign} expected ${code(expected)}`, `  actual ${code(actual)}`, ...rules];
  return [`- ${sign} ${code(actual ?? expected)}${kind === "allowed" ? " (allowed)" : ""}`, ...rules];
}

function stateLines(trial: TrialPage): string[] {
  const rows = trial.state.rows.filter(({ kind }) => kind !== null && kind !== "same");
  if (!rows.length) return [];
  const value = (clip: { text: string } | null) => (clip ? mdCode(safeText(clip.text)) : "not set");
  return ["", "**Final state**", "", ...rows.map((row) => `- ${mdText(safeText(row.key))}: ${value(row.expected)} → ${value(row.actual)}`)];
}

function side(marked: MarkedText): string {
  return marked.pieces.map(({ text, changed }) => (changed ? strong(safeText(text)) : mdText(safeText(text)))).join("");
}

/** A text in bold: white space at its ends stays outside, or the stars would be text. */
function strong(text: string): string {
  const [, before = "", inside = "", after = ""] = /^(\s*)(.*?)(\s*)$/s.exec(text) ?? [];
  return inside ? `${before && " "}**${mdText(inside)}**${after && " "}` : " ";
}

function code(marked: MarkedText | null): string {
  return marked ? mdCode(plainText(marked)) : "";
}
