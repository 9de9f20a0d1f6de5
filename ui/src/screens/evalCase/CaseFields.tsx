import { type ReactNode, useState } from "react";
import { Button } from "../../components/forms/Button";
import { Field, SelectField } from "../../components/forms/Field";
import styles from "./EvalCase.module.css";
import { type Path, keyOf, spelled } from "./editing/jsonEdit";
import { useEdit, useTold, useValue } from "./fields/EditContext";
import { isObject } from "./editing/exactJson";
import { JsonPlace, KeyedPlace, OthersFolded, OthersPlace, TextPlace } from "./fields/jsonFields";
import { BEYOND, StatedFields } from "./ExtensionFields";
import { RubricsEditor } from "./RubricsEditor";
import { TurnsEditor } from "./TurnsEditor";

/** The keys of a case that have fields of their own; all others stand under "Everything else". */
export const CASE = ["eval_id", "conversation", "conversation_scenario", "opening", "session_input", "final_session_state", "rubrics", "tags", ...BEYOND];

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
  const told = useTold([]);
  const key = (name: string): Path => [spelled(value, name, isCamel)];
  const isScenario = keyOf(value, "conversation_scenario") !== undefined;
  const idKey = keyOf(value, "eval_id") ?? (isObject(value) && Object.hasOwn(value, "id") ? "id" : "eval_id");
  return (
    <>
      {told.error && <p role="alert" className={styles.wrong}>{told.error}</p>}
      <Section title="Case">
        <div className={styles.pair}>
          <TextPlace label="Id" path={[idKey]} hint="Names the case: FILE:ID runs it alone." />
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
        <RubricsEditor path={key("rubrics")} whose="of the case" />
      </Section>
      <Section title="Session it starts in">
        <Session path={key("session_input")} />
      </Section>
      <Section title="State expected at the end">
        <FinalState path={key("final_session_state")} />
      </Section>
      <Section title="What its tool calls and answers must keep to">
        <StatedFields />
      </Section>
      <Section title="Everything else">
        <OthersPlace
          path={[]}
          names={[...CASE, ...(idKey === "id" ? ["id"] : [])]}
          label="All keys of the case that have no field above, as JSON"
          hint="Kept as they are: keys of your own, and of other tools."
        />
      </Section>
    </>
  );
}

function Tags({ path }: { path: Path }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const told = useTold(path);
  const isTexts = value === undefined || (Array.isArray(value) && value.every((tag) => typeof tag === "string" && !tag.includes(",")));
  const [text, setText] = useState<string | null>(null);
  if (!isTexts) return <JsonPlace label="Tags" path={path} />;
  const shown = text ?? (Array.isArray(value) ? value.join(", ") : "");
  const change = (next: string): void => {
    setText(next);
    const tags = next.split(",").map((tag) => tag.trim()).filter(Boolean);
    set(path, tags.length || Array.isArray(value) ? tags : undefined);
  };
  return (
    <Field label="Tags" hint={told.hint ?? "With commas between them."} error={told.error}>
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
        <JsonPlace label="Scenario, as JSON" path={path} />
      </Section>
    );
  }
  const key = (name: string): Path => [...path, spelled(value, name, isCamel)];
  return (
    <>
      <Section title="Scenario: a user who is played">
        <TextPlace label="The user begins with, word for word" path={key("starting_prompt")} lines />
        <TextPlace label="Plan for the rest" path={key("conversation_plan")} lines />
        <Persona path={key("user_persona")} />
        <OthersFolded path={path} names={SCENARIO} />
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
  const told = useTold(path, true);
  const chosen = typeof value === "string" ? value : value === undefined || value === null ? "" : "own";
  const known = personas.includes(chosen) || chosen === "" || chosen === "own" ? [] : [[chosen, chosen] as const];
  const options = [["", "Nobody in particular"] as const, ...personas.map((id) => [id, id] as const), ...known, ["own", "One of its own, as JSON"] as const];
  const choose = (id: string): void => {
    if (id === "own") set(path, { id: "", description: "", behaviors: [] });
    else set(path, id || undefined);
  };
  return (
    <>
      <SelectField label="Who the user is" error={told.error} hint={told.hint} disabled={readOnly} value={chosen} options={options} onChange={(event) => choose(event.target.value)} />
      {chosen === "own" && <JsonPlace label="Persona, as JSON" path={path} />}
    </>
  );
}

const SESSION = ["app_name", "user_id", "session_id", "state"];

function Session({ path }: { path: Path }) {
  const { set, readOnly, isCamel } = useEdit();
  const value = useValue(path);
  const told = useTold(path);
  if (value === undefined || value === null) {
    const [app, user] = isCamel ? ["appName", "userId"] : ["app_name", "user_id"];
    return (
      <div className="row">
        <span className="dim">A new session with nothing in it.</span>
        {!readOnly && <Button onClick={() => set(path, { [app as string]: "", [user as string]: "", state: {} })}>State a session</Button>}
      </div>
    );
  }
  if (!isObject(value)) return <JsonPlace label="Session input, as JSON" path={path} />;
  const key = (name: string): Path => [...path, spelled(value, name, isCamel)];
  return (
    <>
      {told.error && <p role="alert" className={styles.wrong}>{told.error}</p>}
      <div className={styles.pair}>
        <TextPlace label="App" path={key("app_name")} />
        <TextPlace label="User" path={key("user_id")} />
        <TextPlace label="Session id" path={key("session_id")} optional hint="Only to pin a session that is there." />
      </div>
      <KeyedPlace label="State" path={key("state")} addWhat="New key of the state" />
      <OthersFolded path={path} names={[...SESSION, ...BEYOND]} />
      {!readOnly && <Button look="quiet" onClick={() => set(path, undefined)}>Remove the session</Button>}
    </>
  );
}

function FinalState({ path }: { path: Path }) {
  return (
    <KeyedPlace
      label="Keys that must stand so"
      path={path}
      addWhat="New expected key"
      hint="A key that is stated must be there, and be as it is said. Keys that are not stated may be anything."
      valued
    />
  );
}
