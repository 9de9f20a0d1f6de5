import { numText } from "../text/numberFormats";
import styles from "./Histogram.module.css";
import type { Bin } from "./bins";

interface Props {
  /** What is counted: `response_match_score`. */
  label: string;
  bins: readonly Bin[];
  /** Lines that matter: the thresholds. */
  marks?: readonly number[];
  /** How a value reads. */
  text?: (value: number) => string;
  /** What pressing a bar does; left out where there is nothing to do. */
  onPress?: ((bin: Bin) => void) | undefined;
}

/** How many cases have which score: a bar for each interval, those that missed in the colour of a failure, below. */
export function Histogram({ label, bins, marks = [], text = numText, onPress }: Props) {
  const most = Math.max(1, ...bins.map(({ count }) => count));
  const [first, last] = [bins[0], bins.at(-1)];
  if (!first || !last) return <span className="dim">–</span>;
  const place = (value: number) => (100 * (value - first.from)) / (last.to - first.from || 1);
  const shown = marks.filter((mark) => mark >= first.from && mark <= last.to);
  return (
    <div className={styles.histogram}>
      <div className={styles.bars} role="group" aria-label={`${label}: cases by value`}>
        {bins.map((bin) => (
          <Bar key={bin.from} bin={bin} most={most} words={`${text(bin.from)} to ${text(bin.to)}: ${casesText(bin)}`} onPress={onPress} />
        ))}
        {shown.map((mark) => (
          <s key={mark} style={{ left: `${place(mark)}%` }} title={`threshold ${text(mark)}`} />
        ))}
      </div>
      <div className={styles.ends} aria-hidden>
        <span>{text(first.from)}</span>
        <span>{text(last.to)}</span>
      </div>
    </div>
  );
}

function Bar({ bin, most, words, onPress }: { bin: Bin; most: number; words: string; onPress: Props["onPress"] }) {
  const height = (count: number) => ({ height: count ? `max(2px, ${(100 * count) / most}%)` : "0" });
  const inside = (
    <>
      <i style={height(bin.count - bin.missed)} />
      <b style={height(bin.missed)} />
    </>
  );
  if (!bin.count) return <span className={styles.bar} />;
  return onPress ? (
    <button type="button" className={styles.bar} aria-label={`Show ${words}`} title={words} onClick={() => onPress(bin)}>
      {inside}
    </button>
  ) : (
    <span className={styles.bar} role="img" aria-label={words} title={words}>
      {inside}
    </span>
  );
}

function casesText({ count, missed }: Bin): string {
  const missedText = missed === count ? ", which missed" : `, ${numText(missed)} of them missed`;
  return `${numText(count)} ${count === 1 ? "case" : "cases"}${missed ? missedText : ""}`;
}
