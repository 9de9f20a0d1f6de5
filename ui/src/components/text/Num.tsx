import { agoText, boundsText, clockText, costText, numText, percentText, scoreText, secondsText } from "./numberFormats";
import styles from "./Num.module.css";

type Value = number | null | undefined;

/** A number, in figures of one width; what is not known is "–". */
export function Num({ value, digits = 3 }: { value: Value; digits?: number }) {
  return <span className="num">{numText(value, digits)}</span>;
}

/** A metric's score: 0.40. */
export function Score({ value }: { value: Value }) {
  return <span className="num">{scoreText(value)}</span>;
}

/** A share of 1: 92.5 %, with its 95 % confidence interval in small where it is given: `80–97`. Name the interval next to it. */
export function Percent({ value, low, high }: { value: Value; low?: Value; high?: Value }) {
  const sure = typeof low === "number" && typeof high === "number";
  return (
    <span className="num" title={sure ? `95 % confidence interval: ${percentText(low)} to ${percentText(high)}` : undefined}>
      {percentText(value)}
      {sure && (
        <span className={styles.interval}>
          {" "}
          {boundsText(low, high)}
        </span>
      )}
    </span>
  );
}

/** The cost of a run or a case: $0.012, ≥ $0.012. */
export function Cost({ of }: { of: { cost_text: string } }) {
  return (
    <span className={`num ${styles.cost}`} title={of.cost_text || "no cost was reported"}>
      {costText(of)}
    </span>
  );
}

/** A length of time, given in seconds: 3 m 12 s. */
export function Seconds({ value }: { value: Value }) {
  return <span className="num">{secondsText(value)}</span>;
}

/** A moment, given in seconds since 1970: "3 h ago", the clock's time on hover. `exact` shows the clock's time. */
export function When({ at, exact = false }: { at: Value; exact?: boolean }) {
  if (at === null || at === undefined) return <span>–</span>;
  const clock = clockText(at);
  return (
    <time className={`num ${styles.when}`} dateTime={new Date(at * 1000).toISOString()} title={clock}>
      {exact ? clock : agoText(at)}
    </time>
  );
}
