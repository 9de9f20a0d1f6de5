import { Button } from "../../components/forms/Button";
import styles from "./EvalCase.module.css";
import { type Path, keyOf, moveItem, keyFor } from "./editing/jsonEdit";
import { useEdit, useValue } from "./fields/EditContext";
import { type Json, isObject } from "./editing/exactJson";
import { ItemTools, JsonInput, CollapsedOtherKeys, TextInput } from "./fields/jsonFields";

const RUBRIC = ["rubric_id", "rubric_content", "type", "description"];

/** Rubrics, of the case or of one turn. */
export function RubricsEditor({ path, label }: { path: Path; label: string }) {
  const { set, readOnly, isCamel } = useEdit();
  const value = useValue(path);
  if (value !== undefined && value !== null && !Array.isArray(value)) return <JsonInput label={`Rubrics ${label}`} path={path} />;
  const rubrics = value ?? [];
  const make = (): Json => {
    const [id, content, text] = isCamel ? ["rubricId", "rubricContent", "textProperty"] : ["rubric_id", "rubric_content", "text_property"];
    return { [id as string]: freeId(rubrics), [content as string]: { [text as string]: "" }, type: "FINAL_RESPONSE_QUALITY" };
  };
  return (
    <div role="group" aria-label={`Rubrics ${label}`}>
      {rubrics.length > 0 && <span className={styles.label}>Rubrics {label}</span>}
      {rubrics.map((rubric, index) => (
        <div key={index} className={styles.call}>
          <div className={styles.callFields}>
            <Rubric path={[...path, index]} rubric={rubric} />
          </div>
          <ItemTools
            what={`rubric ${index + 1}`}
            index={index}
            count={rubrics.length}
            move={(by) => set(path, moveItem(rubrics, index, by))}
            remove={() => set([...path, index], undefined)}
          />
        </div>
      ))}
      {!readOnly && <Button look="quiet" onClick={() => set(path, [...rubrics, make()])}>+ rubric {label}</Button>}
    </div>
  );
}

function Rubric({ path, rubric }: { path: Path; rubric: Json }) {
  const { isCamel } = useEdit();
  const content = keyOf(rubric, "rubric_content");
  if (!isObject(rubric) || content === undefined || !isObject(rubric[content])) return <JsonInput label="Rubric, as JSON" path={path} />;
  return (
    <>
      <TextInput label="What must hold" path={[...path, content, keyFor(rubric[content], "text_property", isCamel)]} lines />
      <div className={styles.pair}>
        <TextInput label="Rubric id" path={[...path, keyFor(rubric, "rubric_id", isCamel)]} />
        <TextInput label="Type" path={[...path, "type"]} optional />
      </div>
      <TextInput label="Description" path={[...path, "description"]} optional />
      <CollapsedOtherKeys path={[...path, content]} names={["text_property"]} />
      <CollapsedOtherKeys path={path} names={RUBRIC} />
    </>
  );
}

function freeId(rubrics: readonly Json[]): string {
  const taken = new Set(rubrics.map((one) => (isObject(one) ? one[keyOf(one, "rubric_id") ?? ""] : "")));
  for (let number = rubrics.length + 1; ; number++) if (!taken.has(`rubric_${number}`)) return `rubric_${number}`;
}
