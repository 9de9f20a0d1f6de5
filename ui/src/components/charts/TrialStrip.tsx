import styles from "./TrialStrip.module.css";
import { OUTCOME_OF_LETTER, inkClass, outcomeWord, signOf } from "./Outcome";

// A trial that passed or failed is drawn, so that many of them are seen as one shape; the others keep the sign of their outcome.
const RINGS: Readonly<Record<string, string>> = { passed: "●", failed: "○" };
const MAX_DRAWN = 10;

interface Props {
  /** A letter a trial, in order: `ppffe`. */
  strip: string;
  /** The trial that is shown: underlined. */
  at?: number;
  /** Draw them all, however many; else more than ten are counted: `●12 ○3`. */
  all?: boolean;
}

/** The trials of a case in a row: ●●○●!. Heard as "3 passed, 1 failed, 1 error". */
export function TrialStrip({ strip, at, all = false }: Props) {
  if (!strip) return null;
  const drawn = all || strip.length <= MAX_DRAWN;
  return (
    <span className={styles.strip} role="img" aria-label={stripText(strip)} title={stripText(strip)}>
      {drawn
        ? [...strip].map((letter, index) => <Sign key={index} letter={letter} on={index === at} />)
        : countLetters(strip).map(([letter, count]) => (
            <span key={letter} className={styles.count}>
              <Sign letter={letter} />
              {count}
            </span>
          ))}
    </span>
  );
}

function Sign({ letter, on = false }: { letter: string; on?: boolean }) {
  const outcome = OUTCOME_OF_LETTER[letter] ?? "not_run";
  const strong = outcome === "error" || outcome === "inconclusive";
  return <span className={`${inkClass(outcome)} ${strong ? styles.letter : ""} ${on ? styles.on : ""}`}>{trialSign(outcome)}</span>;
}

function countLetters(strip: string): [letter: string, count: number][] {
  const counts = Object.keys(OUTCOME_OF_LETTER).map((letter): [string, number] => [letter, strip.split(letter).length - 1]);
  return counts.filter(([, count]) => count > 0);
}

/** How a trial is drawn among others: `●`, `○`, `!`. */
export function trialSign(outcome: string): string {
  return RINGS[outcome] ?? signOf(outcome);
}

export function stripText(strip: string): string {
  return countLetters(strip)
    .map(([letter, count]) => `${count} ${outcomeWord(OUTCOME_OF_LETTER[letter] ?? letter)}`)
    .join(", ");
}
