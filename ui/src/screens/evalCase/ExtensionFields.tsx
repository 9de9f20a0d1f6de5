import type { ReactNode } from "react";
import { Button } from "../../components/forms/Button";
import { ExpectationsEditor, Remove } from "./calls/ExpectationsEditor";
import { type Path, valueAt, toCamelCase, keyOf } from "./editing/jsonEdit";
import { useEdit } from "./fields/EditContext";
import { type Json, isObject } from "./editing/exactJson";
import { JsonInput } from "./fields/jsonFields";
import { RulesEditor } from "./calls/RulesEditor";
import styles from "./EvalCase.module.css";

/** What a case may state beyond the format, itself or in its session input. */
export const EXTENSION_KEYS = ["expectations", "trajectory_rules", "response_schema"];

interface Sort {
  name: string;
  /** Its label, and the text if it is absent. */
  label: string;
  none: string;
  make: string;
  begins: Json;
  show: (path: Path, label: string) => ReactNode;
}

const SORTS: readonly Sort[] = [
  {
    name: "expectations",
    label: "Expected tool calls, with matchers",
    none: "No calls are expected beyond those of the turns.",
    make: "State expectations",
    begins: { calls: [] },
    show: (path, label) => <ExpectationsEditor path={path} label={label} />,
  },
  {
    name: "trajectory_rules",
    label: "Rules for the calls",
    none: "No rules.",
    make: "State rules",
    begins: [{ never: "" }],
    show: (path, label) => <RulesEditor path={path} label={label} />,
  },
  {
    name: "response_schema",
    label: "Schema of the answers",
    none: "No schema for the answers.",
    make: "State a schema",
    begins: { type: "object", properties: {}, required: [] },
    show: (path, label) => (
      <div className={styles.withRemove}>
        <JsonInput label={`${label}, as JSON`} path={path} hint="A JSON Schema that every answer must match." />
        <Remove path={path} what={label} />
      </div>
    ),
  },
];

/** Expectations, rules and a schema, where the case has them: a new one is written into the case itself. */
export function ExtensionFields() {
  return SORTS.map((sort) => <One key={sort.name} sort={sort} />);
}

function One({ sort }: { sort: Sort }) {
  const { value, set, readOnly, isCamel } = useEdit();
  const session = keyOf(value, "session_input");
  const inCase = keyOf(value, sort.name);
  const inSession = session === undefined ? undefined : keyOf(valueAt(value, [session]), sort.name);
  const places: [Path, string][] = [];
  if (inCase !== undefined) places.push([[inCase], sort.label]);
  if (session !== undefined && inSession !== undefined) places.push([[session, inSession], `${sort.label} (in the session input)`]);
  if (places.length) return places.map(([path, label]) => <div key={label} className={styles.stated}>{sort.show(path, label)}</div>);
  const key = isCamel ? toCamelCase(sort.name) : sort.name;
  return (
    <div className={`row ${styles.stated}`}>
      <span className="dim">{sort.none}</span>
      {!readOnly && isObject(value) && <Button onClick={() => set([key], sort.begins)}>{sort.make}</Button>}
    </div>
  );
}
