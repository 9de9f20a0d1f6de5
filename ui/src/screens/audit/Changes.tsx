import type { ChangeGroup, ChangeLine } from "../../data/types";
import { Copy } from "../../components/text/Copy";
import { Mono } from "../../components/text/Mono";
import { Prose } from "../../components/text/Prose";
import { numText } from "../../components/text/numberFormats";
import { safeText } from "../../components/text/safeText";
import styles from "./Audit.module.css";

/** Changes of configs and cases that catch survivors, with what to paste. */
export function Changes({ groups }: { groups: readonly ChangeGroup[] }) {
  return groups.map(({ place, changes, snippets }) => (
    <div key={place} className={`${styles.change} panel`}>
      <h3>
        <Prose text={place} />
      </h3>
      <ul>
        {changes.map((change) => (
          <li key={change.change}>
            <Change change={change} />
          </li>
        ))}
      </ul>
      {snippets.map((snippet) => (
        <div key={snippet} className={styles.snippet}>
          <Copy text={snippet} label={`Copy the change of ${place}`}>
            Copy the change
          </Copy>
          <details>
            <summary>Show what is copied</summary>
            <Mono block>{safeText(snippet)}</Mono>
          </details>
        </div>
      ))}
    </div>
  ));
}

function Change({ change: { change, catches, of, faults, note } }: { change: ChangeLine }) {
  return (
    <>
      <code>{safeText(change)}</code>{" "}
      <span className={styles.good}>
        catches {numText(catches)} of {numText(of)}
        <span className="dim"> · tried: every recorded conversation still passes</span>
      </span>
      <span className={styles.under}>
        {safeText(faults.join(", "))}
        {note && ` · ${safeText(note)}`}
      </span>
    </>
  );
}
