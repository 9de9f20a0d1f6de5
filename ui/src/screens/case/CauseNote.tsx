import type { CausePart } from "../../data/types";
import { Clipped } from "../../components/text/Clipped";
import styles from "./CaseScreen.module.css";

/** What went wrong, where, and the whole traceback for who wants it. */
export function CauseNote({ cause, inside = false }: { cause: CausePart; inside?: boolean }) {
  return (
    <div className={inside ? styles.causeInside : styles.cause} role="note">
      <div>
        <b>{cause.what}</b>
        {cause.turn !== null && ` in turn ${cause.turn + 1}`}
        {cause.infrastructure && <span className="dim"> · infrastructure error (connection, limit or timeout): a retry may succeed</span>}
      </div>
      <div className={styles.error}>{cause.error}</div>
      {cause.place && (
        <div className={styles.place}>
          at {cause.place}
          {cause.code && <code> {cause.code}</code>}
        </div>
      )}
      {cause.traceback && (
        <details>
          <summary>Traceback</summary>
          <pre className={styles.traceback} tabIndex={0} role="region" aria-label="Traceback">
            <Clipped clip={cause.traceback} mono />
          </pre>
        </details>
      )}
    </div>
  );
}
