import type { ChangeGroup, ChangeLine } from "../../data/types";
import { Copy } from "../../components/text/Copy";
import { Mono } from "../../components/text/Mono";
import { Prose } from "../../components/text/Prose";
import { numText } from "../../components/text/numberFormats";
import styles from "./Audit.module.css";

/** Changes of configs and cases that catch survivors, with what to paste: for each change, or once for all of a config. */
export function Changes({ groups }: { groups: readonly ChangeGroup[] }) {
  return groups.map(({ place, changes, snippets }) => {
    const isEach = snippets.length === changes.length && snippets.length > 1;
    return (
      <div key={place} className={`${styles.change} panel`}>
        <h3>
          <Prose text={place} />
        </h3>
        <ul>
          {changes.map((change, index) => (
            <li key={change.change}>
              <Change change={change} />
              {isEach && <Snippet text={snippets[index] ?? ""} of={`${place}: ${change.change}`} />}
            </li>
          ))}
        </ul>
        {!isEach && snippets.map((snippet) => <Snippet key={snippet} text={snippet} of={place} />)}
      </div>
    );
  });
}

function Snippet({ text, of }: { text: string; of: string }) {
  return (
    <div className={styles.snippet}>
      <Copy text={text} label={`Copy the change of ${of}`}>
        Copy the change
      </Copy>
      <details>
        <summary>Show what is copied</summary>
        <Mono block>{text}</Mono>
      </details>
    </div>
  );
}

function Change({ change: { change, catches, of, faults, note } }: { change: ChangeLine }) {
  return (
    <>
      <code>{change}</code>{" "}
      <span className={styles.good}>
        catches {numText(catches)} of {numText(of)}
        <span className="dim"> · tried: every recorded conversation still passes</span>
      </span>
      <span className={styles.under}>
        {faults.join(", ")}
        {note && ` · ${note}`}
      </span>
    </>
  );
}
