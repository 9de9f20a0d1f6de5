import { Button } from "../../../components/forms/Button";
import { SelectField } from "../../../components/forms/Field";
import { CallPattern, type Times } from "./CallPattern";
import styles from "../EvalCase.module.css";
import { type Path, moveItem, renameKey } from "../editing/jsonEdit";
import { useEdit, useNotes, useValue } from "../fields/EditContext";
import { type Json, isObject } from "../editing/exactJson";
import { ItemTools, JsonInput, CollapsedOtherKeys } from "../fields/jsonFields";
import { CheckInput, ChoiceInput, NumberInput, FieldsOrJson } from "../fields/scalarFields";

const GROUPS: readonly (readonly [key: string, words: string])[] = [
  ["any_of", "One of these"],
  ["any_order", "All of these, in any order"],
  ["in_order", "All of these, in this order"],
];
const BLOCK = ["turn", "calls", "others", "forbidden", "limits"];

/** What is expected of the calls: one expectation, or several that must all be met. */
export function ExpectationsEditor({ path, label }: { path: Path; label: string }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  if (isObject(value)) {
    return (
      <FieldsOrJson label={label} path={path} foot={<Remove path={path} what={label} />}>
        <Block path={path} />
        {!readOnly && <Button look="quiet" onClick={() => set(path, [value, { calls: [] }])}>+ another expectation</Button>}
      </FieldsOrJson>
    );
  }
  if (!Array.isArray(value)) return <JsonInput label={`${label}, as JSON`} path={path} />;
  return (
    <FieldsOrJson label={label} path={path} foot={<Remove path={path} what={label} />}>
      {value.map((_, index) => (
        <Item key={index} path={path} items={value} index={index} what="expectation">
          <b>Expectation {index + 1}</b>
          <Block path={[...path, index]} showsErrors />
        </Item>
      ))}
      {!readOnly && <Button look="quiet" onClick={() => set(path, [...value, { calls: [] }])}>+ another expectation</Button>}
    </FieldsOrJson>
  );
}

export function Remove({ path, what }: { path: Path; what: string }) {
  const { set, readOnly } = useEdit();
  return readOnly ? null : <Button look="quiet" aria-label={`Remove: ${what}`} onClick={() => set(path, undefined)}>✕</Button>;
}

/** One of a list, with what can be done with it. */
export function Item({ path, items, index, what, children }: { path: Path; items: readonly Json[]; index: number; what: string; children: React.ReactNode }) {
  const { set } = useEdit();
  return (
    <div className={styles.call}>
      <div className={styles.callFields}>{children}</div>
      <ItemTools
        what={`${what} ${index + 1}`}
        index={index}
        count={items.length}
        move={(by) => set(path, moveItem(items, index, by))}
        copy={() => set(path, [...items.slice(0, index + 1), items[index] ?? null, ...items.slice(index + 1)])}
        remove={() => set([...path, index], undefined)}
      />
    </div>
  );
}

/** `showsErrors`: errors of the whole expectation are shown here. */
function Block({ path, showsErrors = false }: { path: Path; showsErrors?: boolean }) {
  const value = useValue(path);
  const notes = useNotes(path);
  if (!isObject(value)) return <JsonInput label="Expectation, as JSON" path={path} />;
  return (
    <>
      {showsErrors && notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
      <div className={styles.pair}>
        <NumberInput label="Turn" path={[...path, "turn"]} hint="From 1. Empty: all turns together." />
        <ChoiceInput label="Other calls in between" path={[...path, "others"]} usual="forbidden (default)" options={[["allowed", "allowed"], ["forbidden", "forbidden"]]} />
      </div>
      <Calls path={[...path, "calls"]} label="Calls in this order" none="Any calls." make="State calls in order" grouped times="calls" />
      <Calls path={[...path, "forbidden"]} label="Forbidden calls" none="No call is forbidden." make="Forbid a call" first="" />
      <Calls path={[...path, "limits"]} label="Limited calls" none="No call is limited." make="Limit a call" first={{ tool: "", at_most: 1 }} times="limits" />
      <CollapsedOtherKeys path={path} names={BLOCK} exact />
    </>
  );
}

interface CallsProps {
  path: Path;
  label: string;
  none?: string;
  make?: string;
  /** What a new one is. */
  first?: Json;
  times?: Times;
  /** Groups of calls are allowed among them. */
  grouped?: boolean;
  /** Of alternatives: one may be several calls in order. */
  listed?: boolean;
}

function Calls({ path, label, none = "", make = "", first = "", times = "none", grouped = false, listed = false }: CallsProps) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  if (value === undefined) {
    return (
      <div className={`row ${styles.foot}`}>
        <span className="dim">{none}</span>
        {!readOnly && <Button look="quiet" onClick={() => set(path, grouped ? [] : [first])}>{make}</Button>}
      </div>
    );
  }
  if (!Array.isArray(value)) return <JsonInput label={`${label}, as JSON`} path={path} />;
  const add = (item: Json): void => set(path, [...value, item]);
  return (
    <div role="group" aria-label={label} className={styles.done}>
      <div className="row">
        <span className={styles.label}>{label}</span>
        <span className="grow" />
        {make && <Remove path={path} what={label} />}
      </div>
      {notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
      {value.map((item, index) => (
        <Item key={index} path={path} items={value} index={index} what={isGroup(item) || Array.isArray(item) ? "group" : "call"}>
          {grouped ? <CallOrGroup path={[...path, index]} label={`Call ${index + 1}`} listed={listed} /> : <CallPattern label={`Call ${index + 1}`} path={[...path, index]} times={times} />}
        </Item>
      ))}
      {!readOnly && (
        <div className="row">
          <Button look="quiet" onClick={() => add(first)}>+ call</Button>
          {grouped && GROUPS.map(([key, words]) => <Button key={key} look="quiet" onClick={() => add({ [key]: ["", ""] })}>+ {words.toLowerCase()}</Button>)}
          {listed && <Button look="quiet" onClick={() => add(["", ""])}>+ several calls in order</Button>}
        </div>
      )}
    </div>
  );
}

function isGroup(item: Json | undefined): boolean {
  return isObject(item) && GROUPS.some(([key]) => Object.hasOwn(item, key));
}

function CallOrGroup({ path, label, listed }: { path: Path; label: string; listed: boolean }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  if (listed && Array.isArray(value)) return <Calls path={path} label="These calls, in this order" grouped times="calls" />;
  const group = isObject(value) ? GROUPS.find(([key]) => Object.hasOwn(value, key))?.[0] : undefined;
  if (group === undefined || !isObject(value)) return <CallPattern label={label} path={path} times="calls" />;
  return (
    <div role="group" aria-label={`Group ${label.replace("Call ", "")}`}>
      {notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
      <div className={styles.pair}>
        <SelectField label="A group" disabled={readOnly} value={group} options={GROUPS} onChange={(event) => set(path, renameKey(value, group, event.target.value))} />
        <CheckInput label="Optional" path={[...path, "optional"]} />
      </div>
      <Calls path={[...path, group]} label="Its calls" grouped listed={group === "any_of"} times="calls" />
      <CollapsedOtherKeys path={path} names={[group, "optional"]} exact />
    </div>
  );
}
