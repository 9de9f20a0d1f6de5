import styles from "./Counts.module.css";
import { outcomeWord } from "./Outcome";

const SIGNS: readonly (readonly [outcome: string, sign: string, tone: string])[] = [
  ["passed", "✓", "p"],
  ["failed", "✕", "f"],
  ["error", "!", "e"],
  ["inconclusive", "?", "i"],
  ["not_run", "–", "n"],
  ["skipped", "–", "n"],
];

/** How many cases ended how: 187 ✓ 11 ✕ 2 !. Those that are none are left out. */
export function Counts({ counts }: { counts: Readonly<Record<string, number>> }) {
  const found = SIGNS.filter(([outcome]) => counts[outcome]);
  const words = found.map(([outcome]) => `${counts[outcome]} ${outcomeWord(outcome)}`).join(", ");
  if (!found.length) return <span className="dim">–</span>;
  return (
    <span className={styles.counts} role="img" aria-label={words} title={words}>
      {found.map(([outcome, sign, tone]) => (
        <span key={outcome} className={styles[tone]}>
          {counts[outcome]} {sign}
        </span>
      ))}
    </span>
  );
}
