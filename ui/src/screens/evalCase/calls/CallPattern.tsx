import { Button } from "../../../components/forms/Button";
import styles from "../EvalCase.module.css";
import type { Path } from "../editing/jsonEdit";
import { useEdit, useNotes, useValue } from "../fields/EditContext";
import { isObject } from "../editing/exactJson";
import { ObjectInput, ValueInput } from "./ValueField";
import { JsonInput, CollapsedOtherKeys, TextInput } from "../fields/jsonFields";
import { CheckInput, ChoiceInput, NumberInput, WordListInput } from "../fields/scalarFields";

/** How often a call may occur: an option of calls in order and of limits. */
export type Times = "calls" | "limits" | "none";

const KEYS = ["tool", "args", "other_args", "response"];
const MORE: Readonly<Record<Times, readonly string[]>> = { calls: ["optional", "at_least", "at_most"], limits: ["at_least", "at_most"], none: [] };

/** A pattern of a call: a tool's name, or a tool with its arguments, its response, and how often. */
export function CallPattern({ label, path, times = "none" }: { label: string; path: Path; times?: Times }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  if (typeof value === "string") {
    return (
      <div role="group" aria-label={label} className={styles.named}>
        <TextInput label={`${label}: tool`} path={path} hint="Any arguments." />
        {!readOnly && <Button look="quiet" aria-label={`${label}: + arguments, response …`} onClick={() => set(path, { tool: value })}>+ arguments, response …</Button>}
      </div>
    );
  }
  if (!isObject(value)) return <JsonInput label={`${label}, as JSON`} path={path} />;
  return (
    <div role="group" aria-label={label}>
      {notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
      <WordListInput label={`${label}: tool`} path={[...path, "tool"]} single hint="Its name; several separated by commas; * is any." />
      {times !== "none" && (
        <div className={styles.pair}>
          {times === "calls" && <CheckInput label="Optional" path={[...path, "optional"]} />}
          <NumberInput label="At least" path={[...path, "at_least"]} />
          <NumberInput label="At most" path={[...path, "at_most"]} />
        </div>
      )}
      <Arguments path={path} closed={times === "calls"} />
      <Response path={[...path, "response"]} />
      <CollapsedOtherKeys path={path} names={[...KEYS, ...MORE[times]]} exact />
    </div>
  );
}

function Arguments({ path, closed }: { path: Path; closed: boolean }) {
  const { set, readOnly } = useEdit();
  const args = useValue([...path, "args"]);
  const others = useValue([...path, "other_args"]);
  const other = <ChoiceInput label="Arguments that are not named" path={[...path, "other_args"]} usual={closed ? "forbidden (default)" : "allowed (default)"} options={[["allowed", "allowed"], ["forbidden", "forbidden"]]} />;
  if (args === undefined) {
    return (
      <>
        <div className={`row ${styles.foot}`}>
          <span className="dim">Any arguments.</span>
          {!readOnly && <Button look="quiet" onClick={() => set([...path, "args"], {})}>State arguments</Button>}
        </div>
        {others !== undefined && other}
      </>
    );
  }
  return (
    <div className={styles.done}>
      <ObjectInput label="Arguments" path={[...path, "args"]} addWhat="New argument" valued hint={isObject(args) && !Object.keys(args).length ? "None: a call without arguments." : ""} />
      {other}
      {!readOnly && <Button look="quiet" onClick={() => set([...path, "args"], undefined)}>Any arguments instead</Button>}
    </div>
  );
}

function Response({ path }: { path: Path }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  if (value === undefined) return readOnly ? null : <Button look="quiet" onClick={() => set(path, "")}>+ response</Button>;
  return (
    <div className={styles.withRemove}>
      <ValueInput label="Response" path={path} />
      {!readOnly && <Button look="quiet" aria-label="Remove the response" onClick={() => set(path, undefined)}>✕</Button>}
    </div>
  );
}
