import { type ReactNode, useState } from "react";
import { Button } from "../../components/forms/Button";
import styles from "./EvalCase.module.css";
import { type Path, keyOf, moveItem, textContent, keyFor } from "./editing/jsonEdit";
import { useEdit, useNotes, useValue } from "./fields/EditContext";
import { type Json, isObject } from "./editing/exactJson";
import { ItemTools, JsonInput, CollapsedOtherKeys, OtherKeysInput, TextInput } from "./fields/jsonFields";
import { CallsEditor, MessageEditor, emptyTurn } from "./MessageEditor";
import { RubricsEditor } from "./RubricsEditor";

const MANY = 40; // up to so many turns, the fields of all of them are drawn at once

const TURN = ["user_content", "final_response", "intermediate_data", "rubrics", "invocation_id"];
const OLDER = ["tool_uses", "tool_responses", "intermediate_responses"];

/** The turns in order; they can be added, moved, duplicated and removed. */
export function TurnsEditor({ path, label }: { path: Path; label: string }) {
  const { set, readOnly, isCamel } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  const [newest, setNewest] = useState(-1);
  if (value !== undefined && value !== null && !Array.isArray(value)) return <JsonInput label={label} path={path} />;
  const turns = value ?? [];
  const add = (): void => {
    setNewest(turns.length);
    set(path, [...turns, emptyTurn(isCamel)]);
  };
  return (
    <>
      {notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
      {turns.map((turn, index) => (
        <section key={index} className={`${styles.turn} panel`} aria-label={`${label} ${index + 1}`}>
          <div className={styles.turnHead}>
            <b>
              {label} {index + 1}
            </b>
            <span className="grow" />
            <ItemTools
              what={`${label} ${index + 1}`}
              index={index}
              count={turns.length}
              move={(by) => set(path, moveItem(turns, index, by))}
              copy={() => set(path, [...turns.slice(0, index + 1), turn, ...turns.slice(index + 1)])}
              remove={() => set([...path, index], undefined)}
            />
          </div>
          <Folded path={[...path, index]} turn={turn} open={turns.length <= MANY || index === newest}>
            <Turn path={[...path, index]} turn={turn} />
          </Folded>
        </section>
      ))}
      {!readOnly && <Button action="add" does="add a turn" onClick={add}>Add a turn</Button>}
    </>
  );
}

interface FoldedProps {
  path: Path;
  turn: Json;
  /** It begins open. */
  open: boolean;
  children: ReactNode;
}

/** One of very many turns: its fields appear on demand, or if it contains an error. */
function Folded({ path, turn, open, children }: FoldedProps) {
  const [isOpen, setOpen] = useState(open);
  const { error } = useNotes(path, true);
  if (error !== null && !isOpen) setOpen(true); // and it stays so when the error is gone
  if (isOpen) return children;
  return (
    <Button look="quiet" aria-expanded={false} onClick={() => setOpen(true)}>
      {summary(turn)}
    </Button>
  );
}

const EXCERPT = 100;

/** The beginning of the user message of a turn. */
function summary(turn: Json): string {
  const content = isObject(turn) ? turn[keyOf(turn, "user_content") ?? ""] : turn;
  const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : [content];
  const texts = parts.map((part) => (isObject(part) ? part.text : part)).filter((text): text is string => typeof text === "string" && text !== "");
  const text = texts.join(" ");
  return text === "" ? "Show this turn" : text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text;
}

function Turn({ path, turn }: { path: Path; turn: Json }) {
  const { isCamel } = useEdit();
  const notes = useNotes(path);
  if (typeof turn === "string") return <TextInput label="User message" path={path} lines />;
  if (!isObject(turn)) return <JsonInput label="Turn, as JSON" path={path} />;
  const key = (name: string): Path => [...path, keyFor(turn, name, isCamel)];
  return (
    <>
      {notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
      <MessageEditor label="User message" path={key("user_content")} />
      <Done path={key("intermediate_data")} />
      <Answer path={key("final_response")} />
      <RubricsEditor path={key("rubrics")} label="of this turn" />
      <details className={styles.more}>
        <summary>Id of the turn, and more keys</summary>
        <TextInput label="Invocation id" path={key("invocation_id")} optional />
        <OtherKeysInput path={path} names={TURN} label="More keys of this turn, as JSON" />
      </details>
    </>
  );
}

function Answer({ path }: { path: Path }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  if (value === undefined || value === null) {
    return (
      <div className="row">
        <span className="dim">No expected answer.</span>
        {!readOnly && <Button onClick={() => set(path, textContent("", "model"))}>Add an expected answer</Button>}
      </div>
    );
  }
  return (
    <div className={styles.withRemove}>
      <MessageEditor label="Expected answer" path={path} />
      {!readOnly && <Button look="quiet" aria-label="Remove the expected answer" onClick={() => set(path, undefined)}>✕</Button>}
    </div>
  );
}

/** What the agent is expected to do before it answers, in either of the format's two forms; each stays in its own. */
function Done({ path }: { path: Path }) {
  const { set, readOnly, isCamel } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  if (value === undefined || value === null) {
    return (
      <div className="row">
        <span className="dim">No expected tool calls: a trajectory metric expects that none is made.</span>
        {!readOnly && <Button onClick={() => set([...path, isCamel ? "toolUses" : "tool_uses"], [])}>Add expected calls</Button>}
      </div>
    );
  }
  if (!isObject(value)) return <JsonInput label="Intermediate data, as JSON" path={path} />;
  if (keyOf(value, "invocation_events") !== undefined) return <Events path={path} value={value} />;
  return (
    <div className={styles.done}>
      {notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
      <CallsEditor path={[...path, keyFor(value, "tool_uses", isCamel)]} />
      <Optional path={[...path, keyFor(value, "tool_responses", isCamel)]} label="Tool responses" hint="As the tools answered: [{ name, response }]" />
      <Optional path={[...path, keyFor(value, "intermediate_responses", isCamel)]} label="Intermediate responses" hint="Pairs of author and parts: [[ author, [{ text }] ]]" />
      <CollapsedOtherKeys path={path} names={OLDER} />
    </div>
  );
}

function Optional({ path, label, hint }: { path: Path; label: string; hint: string }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  if (value === undefined) {
    return readOnly ? null : <Button look="quiet" onClick={() => set(path, [])}>+ {label.toLowerCase()}</Button>;
  }
  return <JsonInput label={`${label}, as JSON`} path={path} hint={hint} />;
}

function Events({ path, value }: { path: Path; value: Json }) {
  const key = keyOf(value, "invocation_events") ?? "invocation_events";
  const events = isObject(value) ? value[key] : null;
  const names = Array.isArray(events) ? events.flatMap(callsOf) : [];
  return (
    <div className={styles.done}>
      <p className="dim small">
        As events, in the format’s current form; it stays so.{names.length > 0 && <> Calls: {names.join(", ")}.</>}
      </p>
      <JsonInput label="Events, as JSON" path={[...path, key]} />
      <CollapsedOtherKeys path={path} names={["invocation_events"]} />
    </div>
  );
}

function callsOf(event: Json): string[] {
  const content = isObject(event) ? event.content : null;
  const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : [];
  return parts.flatMap((part) => {
    const call = isObject(part) ? part[keyOf(part, "function_call") ?? ""] : null;
    return isObject(call) && typeof call.name === "string" ? [call.name] : [];
  });
}
