import { type ReactNode, useState } from "react";
import { Button } from "../../components/forms/Button";
import { Field, SelectField } from "../../components/forms/Field";
import { namesText, parseNames } from "../../components/forms/nameList";
import styles from "./EvalCase.module.css";
import { type Path, keyOf, keyFor } from "./editing/jsonEdit";
import { useEdit, useNotes, useValue } from "./fields/EditContext";
import { isObject } from "./editing/exactJson";
import { ObjectInput } from "./calls/ValueField";
import { JsonInput, CollapsedOtherKeys, OtherKeysInput, TextInput } from "./fields/jsonFields";
import { EXTENSION_KEYS, ExtensionFields } from "./ExtensionFields";
import { RubricsEditor } from "./RubricsEditor";
import { TurnsEditor } from "./TurnsEditor";

/** The keys of a case with their own fields; all others are under "Everything else". */
export const CASE = ["eval_id", "conversation", "conversation_scenario", "opening", "session_input", "final_session_state", "rubrics", "tags", ...EXTENSION_KEYS];

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <div className={`${styles.section} panel`}>{children}</div>
    </section>
  );
}

/** Every field of a case. */
export function CaseFields() {
  const { value, isCamel } = useEdit();
  const notes = useNotes([]);
  const key = (name: string): Path => [keyFor(value, name, isCamel)];
  const isScenario = keyOf(value, "conversation_scenario") !== undefined;
  const idKey = keyOf(value, "eval_id") ?? (isObject(value) && Object.hasOwn(value, "id") ? "id" : "eval_id");
  return (
    <>
      {notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
      <Section title="Case">
        <div className={styles.pair}>
          <TextInput label="Id" path={[idKey]} hint="Names the case: FILE:ID runs it alone." />
          <Tags path={key("tags")} />
        </div>
      </Section>
      {isScenario ? (
        <Scenario path={key("conversation_scenario")} opening={key("opening")} />
      ) : (
        <section aria-label="Conversation">
          <h2>Conversation</h2>
          <TurnsEditor path={key("conversation")} label="Turn" />
        </section>
      )}
      <Section title="Rubrics for every turn">
        <RubricsEditor path={key("rubrics")} label="of the case" />
      </Section>
      <Section title="Initial session">
        <Session path={key("session_input")} />
      </Section>
      <Section title="Expected final state">
        <FinalState path={key("final_session_state")} />
      </Section>
      <Section title="Expectations, rules and answer schema">
        <ExtensionFields />
      </Section>
      <Section title="Everything else">
        <OtherKeysInput
          path={[]}
          names={[...CASE, ...(idKey === "id" ? ["id"] : [])]}
          label="All keys of the case that have no field above, as JSON"
          hint="These keys stay unchanged: your own, and those of other tools."
        />
      </Section>
    </>
  );
}

function Tags({ path }: { path: Path }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  const isTexts = value === undefined || (Array.isArray(value) && value.every((tag) => typeof tag === "string" && tag));
  const [text, setText] = useState<string | null>(null);
  if (!isTexts) return <JsonInput label="Tags" path={path} />;
  const shown = text ?? namesText(isTexts && value ? (value as string[]) : []);
  const change = (next: string): void => {
    setText(next);
    const tags = parseNames(next);
    set(path, tags.length || Array.isArray(value) ? tags : undefined);
  };
  return (
    <Field label="Tags" hint={notes.hint ?? "Separated by commas; a tag with a comma in quotation marks."} error={notes.error}>
      {(props) => (
        <input type="text" autoComplete="off" readOnly={readOnly} value={shown} onChange={(event) => change(event.target.value)} onBlur={() => setText(null)} {...props} />
      )}
    </Field>
  );
}

const SCENARIO = ["starting_prompt", "conversation_plan", "user_persona"];

function Scenario({ path, opening }: { path: Path; opening: Path }) {
  const { isCamel } = useEdit();
  const value = useValue(path);
  const begins = useValue(opening);
  if (!isObject(value)) {
    return (
      <Section title="Scenario">
        <JsonInput label="Scenario, as JSON" path={path} />
      </Section>
    );
  }
  const key = (name: string): Path => [...path, keyFor(value, name, isCamel)];
  return (
    <>
      <Section title="Scenario: a simulated user">
        <TextInput label="First message of the user, word for word" path={key("starting_prompt")} lines />
        <TextInput label="Plan for the rest" path={key("conversation_plan")} lines />
        <Persona path={key("user_persona")} />
        <CollapsedOtherKeys path={path} names={SCENARIO} />
      </Section>
      <section aria-label="Opening">
        <h2>Opening: recorded turns before it</h2>
        {begins === undefined && <p className="dim small">None.</p>}
        <TurnsEditor path={opening} label="Opening turn" />
      </section>
    </>
  );
}

function Persona({ path }: { path: Path }) {
  const { set, readOnly, personas } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path, true);
  const chosen = typeof value === "string" ? value : value === undefined || value === null ? "" : "own";
  const known = personas.includes(chosen) || chosen === "" || chosen === "own" ? [] : [[chosen, chosen] as const];
  const options = [["", "No persona"] as const, ...personas.map((id) => [id, id] as const), ...known, ["own", "Custom persona, as JSON"] as const];
  const choose = (id: string): void => {
    if (id === "own") set(path, { id: "", description: "", behaviors: [] });
    else set(path, id || undefined);
  };
  return (
    <>
      <SelectField label="Persona" error={notes.error} hint={notes.hint} disabled={readOnly} value={chosen} options={options} onChange={(event) => choose(event.target.value)} />
      {chosen === "own" && <JsonInput label="Persona, as JSON" path={path} />}
    </>
  );
}

const SESSION = ["app_name", "user_id", "session_id", "state"];

function Session({ path }: { path: Path }) {
  const { set, readOnly, isCamel } = useEdit();
  const value = useValue(path);
  const notes = useNotes(path);
  if (value === undefined || value === null) {
    const [app, user] = isCamel ? ["appName", "userId"] : ["app_name", "user_id"];
    return (
      <div className="row">
        <span className="dim">A new, empty session.</span>
        {!readOnly && <Button onClick={() => set(path, { [app as string]: "", [user as string]: "", state: {} })}>Add an initial session</Button>}
      </div>
    );
  }
  if (!isObject(value)) return <JsonInput label="Session input, as JSON" path={path} />;
  const key = (name: string): Path => [...path, keyFor(value, name, isCamel)];
  return (
    <>
      {notes.error && <p role="alert" className={styles.error}>{notes.error}</p>}
      <div className={styles.pair}>
        <TextInput label="App" path={key("app_name")} />
        <TextInput label="User" path={key("user_id")} />
        <TextInput label="Session id" path={key("session_id")} optional hint="Only to use an existing session." />
      </div>
      <ObjectInput label="State" path={key("state")} addWhat="New key of the state" />
      <CollapsedOtherKeys path={path} names={[...SESSION, ...EXTENSION_KEYS]} />
      {!readOnly && <Button look="quiet" onClick={() => set(path, undefined)}>Remove the session</Button>}
    </>
  );
}

function FinalState({ path }: { path: Path }) {
  return (
    <ObjectInput
      label="Expected keys"
      path={path}
      addWhat="New expected key"
      hint="A stated key must exist and have this value. Other keys may have any value."
      valued
    />
  );
}
