import { useRef } from "react";
import { Button } from "../../../components/forms/Button";
import { SelectField } from "../../../components/forms/Field";
import { CallPattern } from "./CallPattern";
import { Item, Remove } from "./ExpectationsEditor";
import styles from "../EvalCase.module.css";
import type { Path } from "../editing/jsonEdit";
import { useEdit, useNotes, useValue } from "../fields/EditContext";
import { type Json, type JsonObject, isObject } from "../editing/exactJson";
import { JsonInput, CollapsedOtherKeys, TextInput } from "../fields/jsonFields";
import { type KindHistory, switchKind } from "./matchers";
import { NumberInput, FieldsOrJson, WordListInput } from "../fields/scalarFields";

/** A kind of rule: its keys and their values; `second` is a call, or the maximum number of times. */
interface Kind {
  words: string;
  first: string;
  firstWords: string;
  second?: string;
  secondWords?: string;
}

/** By the key that distinguishes the kinds. */
const KINDS: Readonly<Record<string, Kind>> = {
  never: { words: "A is never called", first: "never", firstWords: "A, which is never called" },
  at_most: { words: "A is called at most N times", first: "call", firstWords: "A", second: "at_most", secondWords: "At most" },
  only_after: { words: "A is called only after B", first: "call", firstWords: "A", second: "only_after", secondWords: "B, which is called before" },
  implies_later: { words: "B is called after A", first: "call", firstWords: "A", second: "implies_later", secondWords: "B, which is called later" },
  before: { words: "A is not called before B", first: "no", firstWords: "A", second: "before", secondWords: "B" },
};
const OPTIONS = Object.entries(KINDS).map(([key, { words }]) => [key, words] as const);
const ROLES = new Set(Object.values(KINDS).flatMap(({ first, second }) => (second ? [first, second] : [first])));

/** Rules over the calls of the whole conversation. */
export function RulesEditor({ path, label }: { path: Path; label: string }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  if (!Array.isArray(value)) return <JsonInput label={`${label}, as JSON`} path={path} />;
  return (
    <FieldsOrJson label={label} path={path} foot={<Remove path={path} what={label} />}>
      {value.map((_, index) => (
        <Item key={index} path={path} items={value} index={index} what="rule">
          <Rule path={[...path, index]} number={index + 1} />
        </Item>
      ))}
      {!readOnly && <Button look="quiet" onClick={() => set(path, [...value, { never: "" }])}>+ rule</Button>}
    </FieldsOrJson>
  );
}

/** The kind of a rule, where it is of one and no more. */
export function ruleKind(rule: Json | undefined): string | null {
  if (!isObject(rule)) return null;
  const found = Object.keys(KINDS).filter((key) => Object.hasOwn(rule, key));
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** A rule of another kind about the same calls; keys that are none of its calls stay. */
export function convertRule(rule: JsonObject, from: string, to: string): JsonObject {
  const [old, kind] = [KINDS[from], KINDS[to]];
  if (!old || !kind) return rule;
  const made: JsonObject = { [kind.first]: rule[old.first] ?? "" };
  const second = old.second === undefined || old.second === "at_most" ? undefined : rule[old.second];
  if (kind.second) made[kind.second] = kind.second === "at_most" ? (rule.at_most ?? 1) : (second ?? "");
  for (const [key, item] of Object.entries(rule)) if (!ROLES.has(key)) made[key] = item;
  return made;
}

function Rule({ path, number }: { path: Path; number: number }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  const left = useRef<KindHistory | null>(null);
  const key = ruleKind(value);
  const kind = key === null ? undefined : KINDS[key];
  if (key === null || !kind || !isObject(value)) return <JsonInput label={`Rule ${number}, as JSON`} path={path} />;
  const choose = (next: string): void => {
    left.current = switchKind(value, next, left.current, key, () => convertRule(value, key, next));
    set(path, left.current.now);
  };
  const names = ["name", "same", kind.first, ...(kind.second ? [kind.second] : [])].filter((name) => name !== "same" || kind.second);
  return (
    <div role="group" aria-label={`Rule ${number}`}>
      <SelectField label={`Kind of rule ${number}`} error={notes.error} hint={notes.hint} disabled={readOnly} value={key} options={OPTIONS} onChange={(event) => choose(event.target.value)} />
      <div className={styles.done}>
        <CallPattern label={kind.firstWords} path={[...path, kind.first]} />
        {kind.second === "at_most" && <NumberInput label={kind.secondWords ?? ""} path={[...path, kind.second]} />}
        {kind.second && kind.second !== "at_most" && <CallPattern label={kind.secondWords ?? ""} path={[...path, kind.second]} />}
      </div>
      <div className={styles.pair}>
        {kind.second && <WordListInput label="Of the same" path={[...path, "same"]} single optional hint="Arguments that must be equal, paths too: order.id" />}
        <TextInput label="Name of the rule" path={[...path, "name"]} optional />
      </div>
      <CollapsedOtherKeys path={path} names={names} exact />
    </div>
  );
}
