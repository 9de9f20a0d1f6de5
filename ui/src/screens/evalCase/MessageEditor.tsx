import { Button } from "../../components/forms/Button";
import styles from "./EvalCase.module.css";
import { type Path, keyOf, moveItem } from "./editing/jsonEdit";
import { useEdit, useNotes, useValue } from "./fields/EditContext";
import { type Json, type JsonObject, isObject } from "./editing/exactJson";
import { ItemTools, JsonInput, CollapsedOtherKeys, TextInput } from "./fields/jsonFields";

/** A message: its parts one by one; those that are no text (files, calls, code) as the JSON that they are. */
export function MessageEditor({ label, path }: { label: string; path: Path }) {
  const { set, readOnly } = useEdit();
  const content = useValue(path);
  const notes = useNotes(path);
  if (typeof content === "string") return <TextInput label={label} path={path} lines />;
  const parts = isObject(content) ? content.parts : undefined;
  if (content !== undefined && content !== null && (!isObject(content) || (parts !== undefined && parts !== null && !Array.isArray(parts)))) {
    return <JsonInput label={label} path={path} />;
  }
  const list = Array.isArray(parts) ? parts : [];
  const setParts = (next: Json[]): void => set([...path, "parts"], next);
  return (
    <div role="group" aria-label={label} className={styles.message}>
      {list.map((part, index) => (
        <div key={index} className={styles.part}>
          <Part label={list.length > 1 ? `${label}, part ${index + 1}` : label} path={[...path, "parts", index]} part={part} />
          {list.length > 1 && (
            <ItemTools
              what={`part ${index + 1} of ${label}`}
              index={index}
              count={list.length}
              move={(by) => setParts(moveItem(list, index, by))}
              remove={() => set([...path, "parts", index], undefined)}
            />
          )}
        </div>
      ))}
      {notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
      <div className={`row ${styles.foot}`}>
        {!list.length && <span className="dim">{label}: no parts</span>}
        {!readOnly && (
          <>
            <Button look="quiet" onClick={() => setParts([...list, { text: "" }])}>+ text</Button>
            <Button look="quiet" onClick={() => setParts([...list, { file_data: { file_uri: "", mime_type: "" } }])}>+ file</Button>
          </>
        )}
        <CollapsedOtherKeys path={path} names={["parts"]} usual={["role"]} />
      </div>
    </div>
  );
}

function Part({ label, path, part }: { label: string; path: Path; part: Json }) {
  if (isObject(part) && typeof part.text === "string") {
    const names = ["text"];
    const hasMore = Object.keys(part).length > 1;
    return (
      <div className={styles.callFields}>
        <TextInput label={`${label}${part.thought === true ? " (a thought)" : ""}`} path={[...path, "text"]} lines />
        {hasMore && <CollapsedOtherKeys path={path} names={names} />}
      </div>
    );
  }
  return <JsonInput label={`${label}: ${kindOf(part)}`} path={path} />;
}

const KINDS: readonly (readonly [name: string, words: string])[] = [
  ["inline_data", "a file, in it"],
  ["file_data", "a file"],
  ["function_call", "a call"],
  ["function_response", "a response"],
  ["executable_code", "code"],
  ["code_execution_result", "the result of code"],
];

function kindOf(part: Json): string {
  return KINDS.find(([name]) => keyOf(part, name) !== undefined)?.[1] ?? "something else";
}

/** The calls that are expected, in order. */
export function CallsEditor({ path }: { path: Path }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  if (value !== undefined && value !== null && !Array.isArray(value)) return <JsonInput label="Expected tool calls" path={path} />;
  const calls = value ?? [];
  return (
    <div role="group" aria-label="Expected tool calls">
      <span className={styles.label}>Expected tool calls</span>
      {!calls.length && <p className="dim small">None: the agent is expected to call no tool.</p>}
      {calls.map((call, index) => (
        <Call
          key={index}
          path={[...path, index]}
          call={call}
          index={index}
          count={calls.length}
          move={(by) => set(path, moveItem(calls, index, by))}
          copy={() => set(path, [...calls.slice(0, index + 1), call, ...calls.slice(index + 1)])}
        />
      ))}
      {!readOnly && <Button onClick={() => set(path, [...calls, { name: "", args: {} }])}>Add a call</Button>}
    </div>
  );
}

function Call({ path, call, index, count, move, copy }: { path: Path; call: Json; index: number; count: number; move: (by: number) => void; copy: () => void }) {
  const { set } = useEdit();
  const what = `call ${index + 1}`;
  const isPlain = isObject(call) && (keyOf(call, "name") !== undefined || keyOf(call, "args") !== undefined);
  return (
    <div className={styles.call}>
      <div className={styles.callFields}>
        {isPlain ? (
          <>
            <TextInput label={`Call ${index + 1}: tool`} path={[...path, "name"]} />
            <JsonInput label="Arguments, as JSON" path={[...path, "args"]} empty={{}} />
            <CollapsedOtherKeys path={path} names={["name", "args"]} usual={["id"]} />
          </>
        ) : (
          <JsonInput label={`Call ${index + 1}, as JSON`} path={path} />
        )}
      </div>
      <ItemTools what={what} index={index} count={count} move={move} copy={copy} remove={() => set(path, undefined)} />
    </div>
  );
}

export function emptyTurn(isCamel: boolean): JsonObject {
  return { [isCamel ? "userContent" : "user_content"]: { parts: [{ text: "" }], role: "user" } };
}
