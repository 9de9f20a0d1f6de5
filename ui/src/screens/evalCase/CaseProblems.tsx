import type { CaseChecked, FieldNote } from "../../data/types";
import styles from "./EvalCase.module.css";

const SHOWN = 5;

/** The errors of the case that is being written, wherever its field is. */
export function CaseProblems({ checked }: { checked: CaseChecked }) {
  const { errors, refused } = checked;
  const all = [...errors, ...refused];
  if (!all.length) return null;
  return (
    <section aria-label="What is wrong" className={`${styles.lost} panel`}>
      <p>{errors.length ? "This cannot be saved yet." : "This can be saved, but no run can start until it is corrected."}</p>
      <ul>
        {all.slice(0, SHOWN).map((note) => <li key={`${note.pointer} ${note.message}`}>{words(note)}</li>)}
        {all.length > SHOWN && <li>{all.length - SHOWN} more, at their fields</li>}
      </ul>
    </section>
  );
}

function words({ pointer, message, hint }: FieldNote) {
  return (
    <>
      {pointer && <code>{pointer}: </code>}
      {message}
      {hint && ` (${hint})`}
    </>
  );
}
