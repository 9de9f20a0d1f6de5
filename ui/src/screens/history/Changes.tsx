import type { HistoryRunPart, RunChange } from "../../data/types";
import styles from "./History.module.css";
import { placeOf } from "./historyText";

const MOST = 4; // the newest; the others are behind a click

/** What changed between the runs, newest first. */
export function Changes({ changes, runs }: { changes: readonly RunChange[]; runs: readonly HistoryRunPart[] }) {
  const shown = changes.filter(({ before, first }) => placeOf(runs, before) >= 0 && placeOf(runs, first) >= 0);
  const short = new Map(runs.map((run) => [run.run_id, run.short]));
  const line = (one: RunChange) => (
    <li key={`${one.first} ${one.text}`} className={one.changed_by === "you" ? "" : styles.caution} title={one.command}>
      <code>
        {short.get(one.before)} → {short.get(one.first)}
      </code>{" "}
      {one.text}
    </li>
  );
  if (!shown.length) return null;
  const rest = shown.slice(MOST);
  return (
    <div className={styles.changes}>
      <ul aria-label="What changed, newest first">{shown.slice(0, MOST).map(line)}</ul>
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} earlier</summary>
          <ul>{rest.map(line)}</ul>
        </details>
      )}
    </div>
  );
}
