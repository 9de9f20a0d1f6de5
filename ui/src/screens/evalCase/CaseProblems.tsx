import type { CaseChecked, FieldNote } from "../../data/types";
import { numText } from "../../components/text/numberFormats";
import styles from "./EvalCase.module.css";

const SHOWN = 5;

/** The problems of the case that is being written, wherever their fields are; a warning may have no field. */
export function CaseProblems({ checked }: { checked: CaseChecked }) {
  const { errors, refused, warnings } = checked;
  return (
    <>
      <Notes notes={[...errors, ...refused]} label="What is wrong" look={styles.lost}>
        {errors.length ? "This cannot be saved yet." : "This can be saved, but no run can start until it is corrected."}
      </Notes>
      <Notes notes={warnings} label="Warnings" look={styles.warnings}>
        {warnings.length === 1 ? "Warning:" : "Warnings:"}
      </Notes>
    </>
  );
}

interface NotesProps {
  notes: readonly FieldNote[];
  label: string;
  look: string | undefined;
  children: string;
}

function Notes({ notes, label, look, children }: NotesProps) {
  if (!notes.length) return null;
  return (
    <section aria-label={label} className={`${look} panel`}>
      <p>{children}</p>
      <List notes={notes.slice(0, SHOWN)} />
      {notes.length > SHOWN && (
        <details>
          <summary>{numText(notes.length - SHOWN)} more</summary>
          <List notes={notes.slice(SHOWN)} />
        </details>
      )}
    </section>
  );
}

function List({ notes }: { notes: readonly FieldNote[] }) {
  return <ul>{notes.map((note) => <li key={`${note.pointer} ${note.message}`}>{words(note)}</li>)}</ul>;
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
