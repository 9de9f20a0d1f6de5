import styles from "./Outcome.module.css";

export type OutcomeName =
  | "passed"
  | "failed"
  | "error"
  | "inconclusive"
  | "skipped"
  | "not_run"
  | "not_applicable"
  | "informational"
  | "running"
  | "unfinished";

const SIGNS: Record<string, [sign: string, word: string, tone: string]> = {
  passed: ["✓", "Passed", "p"],
  failed: ["✕", "Failed", "f"],
  error: ["!", "Error", "e"],
  inconclusive: ["?", "Inconclusive", "i"],
  skipped: ["–", "Skipped", "n"],
  not_run: ["–", "Not run", "n"],
  not_applicable: ["–", "Not applicable", "n"],
  informational: ["·", "Informational", "n"],
  running: ["◌", "Running", "r"],
  unfinished: ["–", "Unfinished", "n"],
  regression: ["✕", "Regression", "f"],
  no_regression: ["✓", "No regression", "p"],
  improvement: ["✓", "Improvement", "p"],
  worse: ["✕", "Worse", "f"],
  better: ["✓", "Better", "p"],
};

interface Props {
  outcome: OutcomeName | (string & {}) | null;
  /** Other words than the outcome's own, in its colour: `tool_trajectory 0.40 < 0.9`. */
  children?: React.ReactNode;
}

/** An outcome as sign, word and colour: `✕ Failed`. An unknown one keeps its word and the quiet colour. */
export function Outcome({ outcome, children }: Props) {
  const [sign, word, tone] = SIGNS[outcome ?? "not_run"] ?? ["–", outcome ?? "", "n"];
  return (
    <span className={`${styles.tag} ${styles[tone] ?? ""}`}>
      <span aria-hidden>{sign}</span>
      {children ? <span className="hidden">{word}: </span> : null}
      <span>{children ?? word}</span>
    </span>
  );
}

/** The word of an outcome, small: `not run`. */
export function outcomeWord(outcome: string | null): string {
  return (SIGNS[outcome ?? "not_run"]?.[1] ?? outcome ?? "").toLowerCase();
}
