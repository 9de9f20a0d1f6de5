import styles from "./Steps.module.css";
import { type Piece, TextPieces } from "../text/TextPieces";

export type StepKind = "same" | "differs" | "missing" | "extra" | "moved" | "allowed";

export interface Step {
  /** Null: nothing is known of what was expected. */
  kind: StepKind | null;
  /** Empty: this side has nothing here. */
  expected: readonly Piece[];
  actual: readonly Piece[];
  /** A word behind the line: "not expected". Each kind has its own where this is not given. */
  note?: string | null;
  /** The actual side breaks a rule. */
  fault?: boolean;
  /** Shown below the actual side: the response of a tool. */
  below?: React.ReactNode;
}

const SIGNS: Record<StepKind, [sign: string, words: string]> = {
  same: ["=", "the same"],
  differs: ["≠", "differs"],
  missing: ["−", "missing"],
  extra: ["+", "not expected"],
  moved: ["⇄", "moved"],
  allowed: ["·", "allowed"],
};

interface Props {
  steps: readonly Step[];
  /** Heads of the two sides; `null` leaves the head out. */
  heads?: readonly [expected: string, actual: string] | null;
  /** The step that the address names: marked; the caller scrolls to it. */
  at?: number | null;
  /** Only one side has anything: it gets the whole width. */
  lone?: boolean;
  /** The id of a step's row (a deep link's target). */
  idOf?: (index: number) => string;
}

/** Expected left, actual right, one line a step, the sign of how they relate between them. */
export function Steps({ steps, heads = ["expected", "actual"], at = null, lone = false, idOf }: Props) {
  return (
    <div className={styles.steps} data-lone={lone || undefined} role="table" aria-label={heads ? heads.join(" and ") : "expected and actual"}>
      {heads && (
        <div role="row" className={styles.head}>
          <div role="columnheader">{heads[0]}</div>
          <div role="columnheader" className={styles.sign}>
            <span className="hidden">relation</span>
          </div>
          <div role="columnheader">{heads[1]}</div>
        </div>
      )}
      {steps.map((step, index) => (
        <Line key={index} words={heads ?? ["expected", "actual"]} step={step} on={index === at} id={idOf?.(index)} />
      ))}
    </div>
  );
}

interface LineProps {
  step: Step;
  /** What the two sides are called. */
  words: readonly [expected: string, actual: string];
  on: boolean;
  id: string | undefined;
}

function Line({ step, words: sides, on, id }: LineProps) {
  const [sign, words] = step.kind ? SIGNS[step.kind] : ["", ""];
  const note = step.note ?? (step.kind && !["same", "differs"].includes(step.kind) ? words : null);
  const noteLeft = !step.actual.length;
  return (
    <div role="row" id={id} className={`${styles.line} ${step.kind ? styles[step.kind] : ""}`} data-on={on || undefined} data-kind={step.kind} data-fault={step.fault || undefined}>
      <div role="cell" className={styles.expected} data-word={sides[0]} data-empty={!step.expected.length || undefined}>
        <TextPieces pieces={step.expected} side="expected" />
        {note && noteLeft && <span className={styles.note}> {note}</span>}
      </div>
      <div role="cell" className={styles.sign} title={words}>
        <span aria-hidden>{sign}</span>
        <span className="hidden">{words}</span>
      </div>
      <div role="cell" className={styles.actual} data-word={sides[1]} data-empty={!step.actual.length || undefined}>
        <TextPieces pieces={step.actual} side="actual" />
        {note && !noteLeft && <span className={styles.note}> {note}</span>}
      </div>
      {step.below && (
        <div role="cell" className={styles.below}>
          {step.below}
        </div>
      )}
    </div>
  );
}
