import { useId, useRef, useState } from "react";
import { Button } from "../../../components/forms/Button";
import { SelectField } from "../../../components/forms/Field";
import styles from "../EvalCase.module.css";
import { type Path, moveItem } from "../editing/jsonEdit";
import { useEdit, useNotes, useValue } from "../fields/EditContext";
import { type Json, isObject } from "../editing/exactJson";
import { type FieldProps, CollapsedOtherKeys, ItemTools, JsonInput, JsonTextArea, TextInput, requireObject } from "../fields/jsonFields";
import { type Form, KIND_WORDS, type KindHistory, MATCH, OPTIONS, OPTION_WORDS, containsMatcher, kindOf, switchKind } from "./matchers";
import { CheckInput, ChoiceInput, NumberInput, WordListInput } from "../fields/scalarFields";

const PLAIN = "";
const INNER = "(inner)"; // no kind is called so

/** A value that is expected: itself, or a matcher of any kind with the fields of that kind; at any depth. */
export function ValueInput({ label, path }: { label: string; path: Path }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  const kind = kindOf(value);
  const canOpen = kind === PLAIN && (isObject(value) || Array.isArray(value));
  const left = useRef<KindHistory | null>(null);
  const [isOpen, setOpen] = useState(canOpen && containsMatcher(value));
  const shown = canOpen && isOpen ? INNER : kind;
  const choose = (next: string): void => {
    setOpen(next === INNER);
    if (next === INNER) return;
    left.current = switchKind(value, next, left.current);
    set(path, left.current.now);
  };
  const inner = Array.isArray(value) ? "a list, item by item" : "an object, key by key";
  const options = [
    [PLAIN, "exactly this value"] as const,
    ...(canOpen ? [[INNER, inner] as const] : []),
    ...Object.keys(OPTIONS).map((one) => [one, `${one}: ${KIND_WORDS[one] ?? ""}`] as const),
    ...[...new Set([kind, ...(left.current?.were.keys() ?? [])])]
      .filter((one) => one !== PLAIN && !Object.hasOwn(OPTIONS, one))
      .map((one) => [one, `${one} (unknown kind)`] as const),
  ];
  return (
    <div role="group" aria-label={label} className={styles.value}>
      <SelectField label={`${label} is`} error={shown === PLAIN ? null : notes.error} hint={notes.hint} disabled={readOnly} value={shown} options={options} onChange={(event) => choose(event.target.value)} />
      <div className={styles.valueFields}>
        <Inside label={label} path={path} shown={shown} value={value} />
      </div>
    </div>
  );
}

function Inside({ label, path, shown, value }: { label: string; path: Path; shown: string; value: Json | undefined }) {
  if (shown === PLAIN) return <JsonInput label={label} path={path} />;
  if (shown === INNER) return Array.isArray(value) ? <ListInput label={label} path={path} /> : <ObjectInput label={label} path={path} addWhat={`New key of ${label}`} valued />;
  const options = OPTIONS[shown];
  if (!options) return <JsonInput label={`${label}, as JSON`} path={path} />;
  return (
    <>
      <div className={styles.pair}>
        {Object.entries(options).map(([name, form]) => (
          <Option key={name} name={name} form={form} path={[...path, name]} />
        ))}
      </div>
      <CollapsedOtherKeys path={path} names={[MATCH, ...Object.keys(options)]} exact />
    </>
  );
}

function Option({ name, form, path }: { name: string; form: Form; path: Path }) {
  const label = OPTION_WORDS[name] ?? name;
  if (typeof form !== "string") {
    return <ChoiceInput label={label} path={path} usual={name === "spaces" ? "any is one blank" : "both, where both are there"} options={form.map((word) => [word, word])} />;
  }
  switch (form) {
    case "text":
      return <TextInput label={label} path={path} optional={name === "timezone"} />;
    case "number":
      return <NumberInput label={label} path={path} />;
    case "flag":
      return <CheckInput label={label} path={path} />;
    case "texts":
      return <WordListInput label={label} path={path} single optional />;
    case "values":
      return <ListInput label={label} path={path} />;
    case "any":
      return <JsonInput label={`${label}, as JSON`} path={path} />;
  }
}

/** Values one below the other. */
function ListInput({ label, path }: { label: string; path: Path }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  const id = useId();
  if (value !== undefined && !Array.isArray(value)) return <JsonInput label={label} path={path} />;
  const items = value ?? [];
  return (
    <div role="group" aria-labelledby={id} className={styles.whole}>
      <span id={id} className={styles.label}>{label}</span>
      {items.map((_, index) => (
        <div key={index} className={styles.call}>
          <div className={styles.callFields}>
            <ValueInput label={`Value ${index + 1}`} path={[...path, index]} />
          </div>
          <ItemTools what={`value ${index + 1}`} index={index} count={items.length} move={(by) => set(path, moveItem(items, index, by))} remove={() => set([...path, index], undefined)} />
        </div>
      ))}
      {notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
      {!readOnly && <Button look="quiet" onClick={() => set(path, [...items, ""])}>+ value</Button>}
    </div>
  );
}

/** An object, a key a row; its values are any JSON, or where they are `valued` matchers, too. */
export function ObjectInput({ path, label, hint, addWhat, valued = false }: FieldProps & { addWhat: string; valued?: boolean }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const [name, setName] = useState("");
  const [asText, setAsText] = useState(false);
  const notes = useNotes(path, !valued);
  const id = useId();
  const object = isObject(value) ? value : {};
  if (value !== undefined && value !== null && !isObject(value)) return <JsonInput label={label} path={path} />;
  const add = (): void => {
    if (!name || Object.hasOwn(object, name)) return;
    set(path, { ...object, [name]: "" });
    setName("");
  };
  return (
    <div role="group" aria-label={label}>
      <div className="row">
        <span className={styles.label}>{label}</span>
        <span className="grow" />
        <Button look="quiet" aria-pressed={asText} onClick={() => setAsText(!asText)}>
          {asText ? "Key by key" : "As JSON"}
        </Button>
      </div>
      {asText ? (
        <JsonTextArea label={`${label}, as JSON`} value={object} takes={requireObject} onChange={(next) => set(path, next)} rows={4} />
      ) : (
        <>
          {Object.keys(object).map((key) => (
            <div key={key} className={styles.keyed}>
              {valued ? (
                <ValueInput label={key === "" ? "(empty)" : key} path={[...path, key]} />
              ) : (
                <JsonTextArea label={key === "" ? "(empty)" : key} value={object[key] ?? null} rows={1} onChange={(next) => set([...path, key], next)} />
              )}
              {!readOnly && (
                <Button look="quiet" aria-label={`Remove ${key}`} onClick={() => set([...path, key], undefined)}>
                  ✕
                </Button>
              )}
            </div>
          ))}
          {!readOnly && (
            <form
              className="row"
              onSubmit={(event) => {
                event.preventDefault();
                add();
              }}
            >
              <input id={id} className={styles.keyName} aria-label={addWhat} placeholder={addWhat} value={name} autoComplete="off" onChange={(event) => setName(event.target.value)} />
              <Button type="submit" disabled={!name || Object.hasOwn(object, name)}>
                Add
              </Button>
            </form>
          )}
        </>
      )}
      {notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
      {(notes.hint ?? hint) && <p className="dim small">{notes.hint ?? hint}</p>}
    </div>
  );
}
