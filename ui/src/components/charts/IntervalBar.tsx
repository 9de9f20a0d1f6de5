import styles from "./IntervalBar.module.css";

interface Props {
  value: number | null;
  low: number | null;
  high: number | null;
  /** The two ends of the scale; the same for all bars of a column. Default: 0 to 1. */
  from?: number;
  to?: number;
  /** A line that matters: 0 for a difference, the threshold for a score. */
  mark?: number | null;
  tone?: "worse" | "better" | "same" | "plain";
  /** The text for screen readers: "fell by 5 points, 95 % CI: −9.1 to −1.2". */
  label: string;
}

/** A value as a dot on its interval, against a line that matters. */
export function IntervalBar({ value, low, high, from = 0, to = 1, mark = null, tone = "plain", label }: Props) {
  const place = (at: number) => `${Math.min(100, Math.max(0, ((at - from) / (to - from || 1)) * 100))}%`;
  const sure = low !== null && high !== null;
  return (
    <span role="img" aria-label={label} title={label} className={`${styles.bar} ${styles[tone]}`}>
      {mark !== null && <s style={{ left: place(mark) }} />}
      {sure && <i style={{ left: place(low), right: `calc(100% - ${place(high)})` }} />}
      {value !== null && <u style={{ left: place(value) }} />}
    </span>
  );
}
