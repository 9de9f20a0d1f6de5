import { Breakable } from "../text/Breakable";
import { OUTCOME_WORDS, capital } from "../terms/caseWords";
import styles from "./Outcome.module.css";
import tones from "./tones.module.css";

type OutcomeName =
  | "passed"
  | "failed"
  | "error"
  | "inconclusive"
  | "skipped"
  | "not_run"
  | "not_applicable"
  | "informational"
  | "recorded"
  | "running"
  | "unfinished";

const LOOKS: Record<string, OutcomeLook> = {
  passed: ["✓", capital(OUTCOME_WORDS.passed), "p"],
  failed: ["✕", capital(OUTCOME_WORDS.failed), "f"],
  error: ["!", capital(OUTCOME_WORDS.error), "e"],
  inconclusive: ["?", capital(OUTCOME_WORDS.inconclusive), "i"],
  skipped: ["–", capital(OUTCOME_WORDS.skipped), "n"],
  not_run: ["–", capital(OUTCOME_WORDS.not_run), "n"],
  not_applicable: ["–", capital(OUTCOME_WORDS.not_applicable), "n"],
  informational: ["·", capital(OUTCOME_WORDS.informational), "n"],
  pending: ["◌", "Pending", "n"],
  undecided: ["◌", "Undecided", "n"],
  recorded: ["◌", "Recorded", "n"],
  running: ["◌", "Running", "r"],
  unfinished: ["–", "Unfinished", "n"],
  regression: ["✕", "Regression", "f"],
  no_regression: ["✓", "No regression", "p"],
  no_difference: ["✓", "No difference seen", "p"],
  improvement: ["✓", "Improvement", "p"],
  worse: ["✕", "Worse", "f"],
  better: ["✓", "Better", "p"],
};

type OutcomeLook = readonly [sign: string, word: string, tone: string];

/** The outcome of each letter of a strip, in the order in which they are counted. */
export const OUTCOME_OF_LETTER: Readonly<Record<string, OutcomeName>> = { p: "passed", f: "failed", e: "error", i: "inconclusive", n: "not_run", s: "skipped", r: "recorded" };

interface Props {
  outcome: OutcomeName | (string & {}) | null;
  /** Other words than the outcome's own, in its colour: `tool_trajectory 0.40 < 0.9`. */
  children?: React.ReactNode;
}

/** An outcome as sign, word and colour: `✕ Failed`. An unknown one keeps its word and the quiet colour. */
export function Outcome({ outcome, children }: Props) {
  const [sign, word] = lookOf(outcome);
  return (
    <span className={`${styles.tag} ${filledClass(outcome)}`}>
      <span aria-hidden>{sign}</span>
      {children ? <span className="hidden">{word}: </span> : null}
      {children ? <span className={styles.text}>{typeof children === "string" ? <Breakable text={children} /> : children}</span> : <span>{word}</span>}
    </span>
  );
}

function lookOf(outcome: string | null): OutcomeLook {
  return LOOKS[outcome ?? "not_run"] ?? ["–", outcome ?? "", "n"];
}

/** The outcome of a case as it is shown: without a verdict, one of which trials were recorded is undecided. */
export function shownOutcome(outcome: string, trials: number): string {
  return outcome === "not_run" && trials > 0 ? "undecided" : outcome;
}

/** The outcome of a stored trial as it is shown: one without a verdict was recorded. */
export function shownTrial(outcome: string): string {
  return outcome === "not_run" ? "recorded" : outcome;
}

/** The word of an outcome, small: `not run`. */
export function outcomeWord(outcome: string | null): string {
  return lookOf(outcome)[1].toLowerCase();
}

/** The sign of an outcome: `✓`. */
export function signOf(outcome: string | null): string {
  return lookOf(outcome)[0];
}

/** The class of a sign or a word in the colour of an outcome. */
export function inkClass(outcome: string | null): string {
  return `${tones[lookOf(outcome)[2]]} ${tones.ink}`;
}

/** The class of text on the background of an outcome, in its colour. */
export function filledClass(outcome: string | null): string {
  return `${tones[lookOf(outcome)[2]]} ${tones.filled}`;
}
