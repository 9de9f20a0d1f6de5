import styles from "./Strip.module.css";
import { outcomeWord } from "./Outcome";

// The letters of a strip, as the server sends them, and how each is drawn: shape and colour.
const LETTERS: Record<string, [sign: string, outcome: string, tone: string]> = {
  p: ["●", "passed", "p"],
  f: ["○", "failed", "f"],
  e: ["!", "error", "e"],
  i: ["?", "inconclusive", "i"],
  n: ["–", "not_run", "n"],
  s: ["–", "skipped", "n"],
};
const MOST = 10;

interface Props {
  /** A letter a trial, in order: `ppffe`. */
  strip: string;
  /** The trial that is being looked at: underlined. */
  at?: number;
  /** Draw them all, however many; else more than ten are counted: `●12 ○3`. */
  all?: boolean;
}

/** The trials of a case in a row: ●●○●!. Heard as "3 passed, 1 failed, 1 error". */
export function Strip({ strip, at, all = false }: Props) {
  if (!strip) return null;
  const drawn = all || strip.length <= MOST;
  return (
    <span className={styles.strip} role="img" aria-label={stripWords(strip)} title={stripWords(strip)}>
      {drawn
        ? [...strip].map((letter, index) => <Sign key={index} letter={letter} on={index === at} />)
        : counted(strip).map(([letter, count]) => (
            <span key={letter} className={styles.count}>
              <Sign letter={letter} />
              {count}
            </span>
          ))}
    </span>
  );
}

function Sign({ letter, on = false }: { letter: string; on?: boolean }) {
  const [sign, , tone] = LETTERS[letter] ?? ["–", "", "n"];
  return <span className={`${styles[tone] ?? ""} ${on ? styles.on : ""}`}>{sign}</span>;
}

function counted(strip: string): [letter: string, count: number][] {
  const counts = Object.keys(LETTERS).map((letter): [string, number] => [letter, strip.split(letter).length - 1]);
  return counts.filter(([, count]) => count > 0);
}

export function stripWords(strip: string): string {
  return counted(strip)
    .map(([letter, count]) => `${count} ${outcomeWord(LETTERS[letter]?.[1] ?? letter)}`)
    .join(", ");
}
