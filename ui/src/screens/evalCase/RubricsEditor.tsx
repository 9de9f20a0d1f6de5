import { Button } from "../../components/forms/Button";
import styles from "./EvalCase.module.css";
import { type Path, keyOf, moved, spelled } from "./editing/jsonEdit";
import { useEdit, useValue } from "./fields/EditContext";
import { type Json, isObject } from "./editing/exactJson";
import { ItemTools, JsonPlace, OthersFolded, TextPlace } from "./fields/jsonFields";

const RUBRIC = ["rubric_id", "rubric_content", "type", "description"];

/** Rubrics, of the case or of one turn. */
export function RubricsEditor({ path, whose }: { path: Path; whose: string }) {
  const { set, readOnly, isCamel } = useEdit();
  const value = useValue(path);
  if (value !== undefined && value !== null && !Array.isArray(value)) return <JsonPlace label={`Rubrics ${whose}`} path={path} />;
  const rubrics = value ?? [];
  const make = (): Json => {
    const [id, content, text] = isCamel ? ["rubricId", "rubricContent", "textProperty"] : ["rubric_id", "rubric_content", "text_property"];
    return { [id as string]: freeId(rubrics), [content as string]: { [text as string]: "" }, type: "FINAL_RESPONSE_QUALITY" };
  };
  return (
    <div role="group" aria-label={`Rubrics ${whose}`}>
      {rubrics.length > 0 && <span className={styles.label}>Rubrics {whose}</span>}
      {rubrics.map((rubric, index) => (
        <div key={index} className={styles.call}>
          <div className={styles.callFields}>
            <Rubric path={[...path, index]} rubric={rubric} />
          </div>
          <ItemTools
            what={`rubric ${index + 1}`}
            index={index}
            count={rubrics.length}
            move={(by) => set(path, moved(rubrics, index, by))}
            remove={() => set([...path, index], undefined)}
          />
        </div>
      ))}
      {!readOnly && <Button look="quiet" onClick={() => set(path, [...rubrics, make()])}>+ rubric {whose}</Button>}
    </div>
  );
}

function Rubric({ path, rubric }: { path: Path; rubric: Json }) {
  const { isCamel } = useEdit();
  const content = keyOf(rubric, "rubric_content");
  if (!isObject(rubric) || content === undefined || !isObject(rubric[content])) return <JsonPlace label="Rubric, as JSON" path={path} />;
  return (
    <>
      <TextPlace label="What must hold" path={[...path, content, spelled(rubric[content], "text_property", isCamel)]} lines />
      <div className={styles.pair}>
        <TextPlace label="Rubric id" path={[...path, spelled(rubric, "rubric_id", isCamel)]} />
        <TextPlace label="Type" path={[...path, "type"]} optional />
      </div>
      <TextPlace label="Description" path={[...path, "description"]} optional />
      <OthersFolded path={[...path, content]} names={["text_property"]} />
      <OthersFolded path={path} names={RUBRIC} />
    </>
  );
}

function freeId(rubrics: readonly Json[]): string {
  const taken = new Set(rubrics.map((one) => (isObject(one) ? one[keyOf(one, "rubric_id") ?? ""] : "")));
  for (let number = rubrics.length + 1; ; number++) if (!taken.has(`rubric_${number}`)) return `rubric_${number}`;
}
