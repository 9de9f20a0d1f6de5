import styles from "./OutcomeCounts.module.css";
import { OUTCOME_OF_LETTER, inkClass, outcomeWord, signOf } from "./Outcome";
import { numText } from "../text/numberFormats";

/** How many cases ended how: 187 ✓ 11 ✕ 2 !. Those that are none are left out. */
export function OutcomeCounts({ counts }: { counts: Readonly<Record<string, number>> }) {
  const outcomes = Object.values(OUTCOME_OF_LETTER).filter((outcome) => counts[outcome]);
  const words = outcomes.map((outcome) => `${numText(counts[outcome])} ${outcomeWord(outcome)}`).join(", ");
  if (!outcomes.length) return <span className="dim">–</span>;
  return (
    <span className={styles.counts} role="img" aria-label={words} title={words}>
      {outcomes.map((outcome) => (
        <span key={outcome} className={inkClass(outcome)}>
          {numText(counts[outcome])} {signOf(outcome)}
        </span>
      ))}
    </span>
  );
}
