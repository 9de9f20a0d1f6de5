import styles from "./OutcomeCounts.module.css";
import { LETTERS, inkOf, outcomeWord, signOf } from "./Outcome";
import { numText } from "../text/numberFormats";

/** How many cases ended how: 187 ✓ 11 ✕ 2 !. Those that are none are left out. */
export function Counts({ counts }: { counts: Readonly<Record<string, number>> }) {
  const found = Object.values(LETTERS).filter((outcome) => counts[outcome]);
  const words = found.map((outcome) => `${numText(counts[outcome])} ${outcomeWord(outcome)}`).join(", ");
  if (!found.length) return <span className="dim">–</span>;
  return (
    <span className={styles.counts} role="img" aria-label={words} title={words}>
      {found.map((outcome) => (
        <span key={outcome} className={inkOf(outcome)}>
          {numText(counts[outcome])} {signOf(outcome)}
        </span>
      ))}
    </span>
  );
}
