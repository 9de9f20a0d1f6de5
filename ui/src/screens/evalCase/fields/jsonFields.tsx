import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { Button } from "../../../components/forms/Button";
import { Field } from "../../../components/forms/Field";
import styles from "../EvalCase.module.css";
import { type Path, otherKeys, replaceOtherKeys } from "../editing/jsonEdit";
import { useInvalid, useEdit, useNotes, useValue } from "./EditContext";
import { type Json, type JsonObject, isObject, readJson, isEqual, jsonError, writeJson } from "../editing/exactJson";

export interface FieldProps {
  label: string;
  path: Path;
  hint?: string;
}

/** A text. Emptied it is an empty text, unless `optional`: then it is left out. */
export function TextInput({ label, path, hint, lines = false, optional = false }: FieldProps & { lines?: boolean; optional?: boolean }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  if (value !== undefined && value !== null && typeof value !== "string") return <JsonInput label={label} path={path} />;
  const change = (text: string): void => set(path, text === "" && optional ? undefined : text);
  const shown = value ?? "";
  return (
    <Field label={label} hint={notes.hint ?? hint} error={notes.error}>
      {(props) =>
        lines || shown.includes("\n") ? (
          <textarea rows={2} spellCheck readOnly={readOnly} value={shown} onChange={(event) => change(event.target.value)} {...props} />
        ) : (
          <input type="text" autoComplete="off" spellCheck={false} readOnly={readOnly} value={shown} onChange={(event) => change(event.target.value)} {...props} />
        )
      }
    </Field>
  );
}

/** Any JSON, as text. */
export function JsonInput({ label, path, hint, empty }: FieldProps & { empty?: Json }) {
  const { set } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path, true);
  return <JsonTextArea label={label} value={value ?? empty ?? null} onChange={(next) => set(path, next)} hint={notes.hint ?? hint} error={notes.error} />;
}

interface AreaProps {
  label: string;
  value: Json;
  onChange: (next: Json) => void;
  hint?: string | undefined;
  error?: string | null;
  /** What it has to be. */
  takes?: (value: Json) => string;
  rows?: number;
}

/** A text that has to be JSON. Invalid text stays as typed, and nothing is saved. */
export function JsonTextArea({ label, value, onChange, hint, error, takes, rows = 2 }: AreaProps) {
  const { readOnly } = useEdit();
  const [text, setText] = useState(() => writeJson(value, 2));
  const known = useRef(value);
  useLayoutEffect(() => {
    if (!isEqual(known.current, value)) setText(writeJson(value, 2)); // changed elsewhere: undone, or by another user
    known.current = value;
  }, [value]);
  const why = whyNot(text, takes);
  useInvalid(why !== "");
  const change = (next: string): void => {
    setText(next);
    if (whyNot(next, takes)) return;
    const read = readJson(next);
    if (isEqual(read, known.current)) return;
    known.current = read;
    onChange(read);
  };
  return (
    <Field label={label} hint={hint} error={why || error}>
      {(props) => (
        <textarea className={styles.code} rows={rows} spellCheck={false} readOnly={readOnly} value={text} onChange={(event) => change(event.target.value)} {...props} />
      )}
    </Field>
  );
}

function whyNot(text: string, takes?: (value: Json) => string): string {
  return jsonError(text) || (takes?.(readJson(text)) ?? "");
}

export function requireObject(value: Json): string {
  return isObject(value) ? "" : "Expected an object: { … }";
}

interface OthersProps {
  path: Path;
  names: readonly string[];
  /** The names are those keys and no others: they have no camelCase. */
  exact?: boolean;
}

/** All keys of an object that no field shows. Always there, so that nothing is hidden. */
export function OtherKeysInput({ path, names, label = "Everything else", hint, exact = false }: OthersProps & { label?: string; hint?: string }) {
  const { set } = useEdit();
  const value = useValue(path);
  const others = otherKeys(value, names, exact);
  if (!isObject(value) && value !== undefined) return null;
  const takes = (next: Json): string => {
    const bad = isObject(next) ? Object.keys(next).find((key) => !Object.hasOwn(otherKeys({ [key]: null }, names, exact), key)) : undefined;
    return requireObject(next) || (bad === undefined ? "" : `“${bad}” has its own field above.`);
  };
  return (
    <JsonTextArea label={label} hint={hint} value={others} takes={takes} rows={1} onChange={(next) => set(path, replaceOtherKeys(value, names, next as JsonObject, exact))} />
  );
}

/** The same, folded away where it holds nothing but what is `usual`, and not there where it holds nothing. */
export function CollapsedOtherKeys({ path, names, usual = [], exact = false }: OthersProps & { usual?: readonly string[] }) {
  const keys = Object.keys(otherKeys(useValue(path), names, exact));
  const [isOpen] = useState(() => keys.some((key) => !usual.includes(key)));
  const [wasThere, setWasThere] = useState(false);
  if (keys.length && !wasThere) setWasThere(true);
  if (!keys.length && !wasThere) return null;
  return (
    <details className={styles.more} open={isOpen || undefined}>
      <summary>{keys.length ? `More: ${keys.slice(0, 4).join(", ")}${keys.length > 4 ? " …" : ""}` : "More keys"}</summary>
      <OtherKeysInput path={path} names={names} label="More keys, as JSON" exact={exact} />
    </details>
  );
}

/** What can be done with one item of a list. */
export function ItemTools({ what, index, count, move, copy, remove }: { what: string; index: number; count: number; move?: (by: number) => void; copy?: () => void; remove: () => void }): ReactNode {
  const { readOnly } = useEdit();
  if (readOnly) return null;
  return (
    <span className={styles.tools}>
      {move && (
        <>
          <Button look="quiet" aria-label={`Move ${what} up`} disabled={index === 0} onClick={() => move(-1)}>↑</Button>
          <Button look="quiet" aria-label={`Move ${what} down`} disabled={index === count - 1} onClick={() => move(1)}>↓</Button>
        </>
      )}
      {copy && <Button look="quiet" aria-label={`Duplicate ${what}`} onClick={copy}>Duplicate</Button>}
      <Button look="quiet" aria-label={`Remove ${what}`} onClick={remove}>✕</Button>
    </span>
  );
}
