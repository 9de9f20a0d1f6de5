// Fields of one number, one choice, one mark, some words. Any other value is shown as JSON.
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { Button } from "../../../components/forms/Button";
import { CheckField, Field, SelectField } from "../../../components/forms/Field";
import { namesText, parseNames } from "../../../components/forms/nameList";
import styles from "../EvalCase.module.css";
import type { Path } from "../editing/jsonEdit";
import { useInvalid, useEdit, useNotes, useValue } from "./EditContext";
import { ExactNumber, type Json, readJson, isEqual, jsonError, writeJson } from "../editing/exactJson";
import { JsonTextArea, JsonInput } from "./jsonFields";

interface Props {
  label: string;
  path: Path;
  hint?: string;
}

function isNumber(value: Json | undefined): value is number | ExactNumber {
  return typeof value === "number" || value instanceof ExactNumber;
}

/** A number, in the digits that it is written in; emptied it is left out. */
export function NumberInput({ label, path, hint }: Props) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  const [text, setText] = useState(() => (isNumber(value) ? writeJson(value) : ""));
  const known = useRef(value);
  useLayoutEffect(() => {
    if (!isEqual(known.current, value)) setText(isNumber(value) ? writeJson(value) : "");
    known.current = value;
  }, [value]);
  const why = text.trim() === "" || (!jsonError(text) && isNumber(readJson(text))) ? "" : "Expected a number, such as 2 or 0.5.";
  useInvalid(why !== "");
  if (value !== undefined && !isNumber(value)) return <JsonInput label={label} path={path} />;
  const change = (next: string): void => {
    setText(next);
    const read = next.trim() === "" ? undefined : jsonError(next) ? null : readJson(next);
    if (read !== undefined && !isNumber(read)) return;
    known.current = read;
    set(path, read);
  };
  return (
    <Field label={label} hint={notes.hint ?? hint} error={why || notes.error}>
      {(props) => <input type="text" inputMode="decimal" autoComplete="off" readOnly={readOnly} value={text} onChange={(event) => change(event.target.value)} {...props} />}
    </Field>
  );
}

/** Yes, or not stated. */
export function CheckInput({ label, path }: Props) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  if (value !== undefined && typeof value !== "boolean") return <JsonInput label={label} path={path} />;
  return (
    <>
      <CheckField label={label} hint={notes.hint} disabled={readOnly} checked={value === true} onChange={(event) => set(path, event.target.checked || undefined)} />
      {notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
    </>
  );
}

/** One of some words; a word that is none of them stays, and can be chosen again. `usual`: what holds where nothing is stated. */
export function ChoiceInput({ label, path, hint, options, usual }: Props & { options: readonly (readonly [value: string, name: string])[]; usual: string }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  const [first] = useState(value);
  if (value !== undefined && typeof value !== "string") return <JsonInput label={label} path={path} />;
  const words = new Set(options.map(([word]) => word));
  const strange = [first, value].filter((word): word is string => typeof word === "string" && !words.has(word));
  const all = [["", usual] as const, ...options, ...[...new Set(strange)].map((word) => [word, word] as const)];
  return <SelectField label={label} hint={notes.hint ?? hint} error={notes.error} disabled={readOnly} value={value ?? ""} options={all} onChange={(event) => set(path, event.target.value || undefined)} />;
}

/** Words separated by commas; `single`: a single word is not a list. */
export function WordListInput({ label, path, hint, single = false, optional = false }: Props & { single?: boolean; optional?: boolean }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path, true);
  const [text, setText] = useState<string | null>(null);
  const isEmpty = value === undefined || value === null || (single && value === "");
  const words = isEmpty ? [] : Array.isArray(value) ? value : single ? [value] : null;
  const isWords = words !== null && words.every((word) => typeof word === "string" && word);
  if (!isWords) return <JsonInput label={label} path={path} />;
  const change = (next: string): void => {
    setText(next);
    const found = parseNames(next);
    const one = single && found.length < 2 && !Array.isArray(value);
    if (!found.length && optional) set(path, undefined);
    else set(path, one ? (found[0] ?? "") : found);
  };
  return (
    <Field label={label} hint={notes.hint ?? hint} error={notes.error}>
      {(props) => (
        <input type="text" autoComplete="off" spellCheck={false} readOnly={readOnly} value={text ?? namesText(words as string[])} onChange={(event) => change(event.target.value)} onBlur={() => setText(null)} {...props} />
      )}
    </Field>
  );
}

/** Fields, or their JSON for values that no field can show. */
export function FieldsOrJson({ label, path, children, foot }: { label: string; path: Path; children: ReactNode; foot?: ReactNode }) {
  const { set } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  const [asText, setAsText] = useState(false);
  return (
    <div role="group" aria-label={label}>
      <div className="row">
        <span className={styles.label}>{label}</span>
        <span className="grow" />
        <Button look="quiet" aria-label={`${label}: ${asText ? "Fields" : "As JSON"}`} onClick={() => setAsText(!asText)}>
          {asText ? "Fields" : "As JSON"}
        </Button>
        {foot}
      </div>
      {notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
      {notes.hint && <p className="dim small">{notes.hint}</p>}
      {asText ? <JsonTextArea label={`${label}, as JSON`} value={value ?? null} onChange={(next) => set(path, next)} rows={4} /> : children}
    </div>
  );
}
