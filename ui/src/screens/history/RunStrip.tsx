import { Fragment } from "react";
import type { HistoryPoint, HistoryRunPart } from "../../data/types";
import { OUTCOME_OF_LETTER, filledClass, outcomeWord, signOf } from "../../components/charts/Outcome";
import { AvailableLink } from "../../components/forms/AvailableLink";
import styles from "./History.module.css";
import { type StripRun, runWords } from "./historyText";

const DRAWN = 24; // runs of a row that are drawn: the newest

const BORDERS: Readonly<Record<NonNullable<StripRun["changedBy"]>, [look: string | undefined, words: string]>> = {
  you: [styles.byYou, "you changed something before this run"],
  provider: [styles.byOther, "the provider changed before this run, or something else that is not in the manifest"],
  unknown: [styles.byOther, "you or the provider changed something before this run"],
};

/** What a case came to in each run, oldest first, small enough for a row. A line divides runs between which something changed. */
export function SmallStrip({ strip }: { strip: readonly StripRun[] }) {
  const shown = strip.slice(-DRAWN);
  const counts = countsOf(strip.map(({ letter }) => letter).join(""));
  const words = [...counts].map(([letter, count]) => `${OUTCOME_OF_LETTER[letter] ? outcomeWord(OUTCOME_OF_LETTER[letter]) : "not"} in ${count}`).join(", ");
  return (
    <span className={styles.small} role="img" aria-label={`${words} of ${strip.length} runs, newest last`} title={`${words}; newest last`}>
      {shown.length < strip.length && <span className="dim">…</span>}
      {shown.map(({ letter, changedBy }, index) => {
        const outcome = OUTCOME_OF_LETTER[letter];
        return (
          <Fragment key={index}>
            {index > 0 && changedBy && <b className={BORDERS[changedBy][0]} title={BORDERS[changedBy][1]} />}
            <i className={outcome ? filledClass(outcome) : styles.gap}>{outcome && signOf(outcome)}</i>
          </Fragment>
        );
      })}
    </span>
  );
}

export function countsOf(strip: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const letter of strip) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  return counts;
}

interface Props {
  /** Newest first, as the page has them. */
  runs: readonly HistoryRunPart[];
  points: readonly HistoryPoint[];
  /** The first run with the present outcome. */
  turned: string | null;
}

/** The runs of one case as squares that lead to it, oldest first, with each new commit; the run where the outcome changed is marked. */
export function RunStrip({ runs, points, turned }: Props) {
  const there = new Map(points.map((point) => [point.run_id, point]));
  return (
    <ol className={styles.runs} aria-label="Runs, oldest first">
      {[...runs].reverse().map((run, at, all) => (
        <li key={run.run_id} data-turned={run.run_id === turned || undefined}>
          <Square run={run} point={there.get(run.run_id)} turned={run.run_id === turned} />
          {all.length > 1 && at === all.length - 1 && <small>newest</small>}
          {run.commit && run.commit !== all[at - 1]?.commit && <code title={`from this run on: commit ${run.commit}`}>{run.commit.slice(0, 7)}</code>}
        </li>
      ))}
    </ol>
  );
}

function Square({ run, point, turned }: { run: HistoryRunPart; point: HistoryPoint | undefined; turned: boolean }) {
  const words = `${runWords(run)}: ${point ? outcomeWord(point.outcome) : "not in this run"}${turned ? ", the first run with this outcome" : ""}`;
  if (!point) return <span className={`${styles.square} ${styles.gap}`} title={words} role="img" aria-label={words} />;
  return (
    <AvailableLink to={`/runs/${encodeURIComponent(run.run_id)}/cases/${point.position}`} className={`${styles.square} ${filledClass(point.outcome)}`} words={words}>
      {signOf(point.outcome)}
    </AvailableLink>
  );
}
