import { Button } from "../../../components/forms/Button";
import styles from "../EvalCase.module.css";
import type { Path } from "../editing/jsonEdit";
import { useEdit, useTold, useValue } from "../fields/EditContext";
import { isObject } from "../editing/exactJson";
import { JsonPlace, KeyedPlace, OthersFolded, TextPlace } from "../fields/jsonFields";
import { CheckPlace, ChoicePlace, NumberPlace, WordsPlace } from "../fields/scalarFields";
import { ValuePlace } from "./ValueField";

/** How often a call may come, beside which call it is: of calls in order, of limits, or nothing of the sort. */
export type Times = "calls" | "limits" | "none";

const KEYS = ["tool", "args", "other_args", "response"];
const MORE: Readonly<Record<Times, readonly string[]>> = { calls: ["optional", "at_least", "at_most"], limits: ["at_least", "at_most"], none: [] };

/** Which call is meant: a tool's name, or a tool with its arguments, its response, and how often. */
export function CallPattern({ label, path, times = "none" }: { label: string; path: Path; times?: Times }) {
  const { set, readOnly } = useEdit();
  const value = useValue(path);
  const told = useTold(path);
  if (typeof value === "string") {
    return (
      <div role="group" aria-label={label} className={styles.named}>
        <TextPlace label={`${label}: tool`} path={path} hint="Any arguments." />
        {!readOnly && <Button look="quiet" aria-label={`${label}: + arguments, response …`} onClick={() => set(path, { tool: value })}>+ arguments, response …</Button>}
      </div>
    );
  }
  if (!isObject(value)) return <JsonPlace label={`${label}, as JSON`} path={path} />;
  return (
    <div role="group" aria-label={label}>
      {told.error && <p role="alert" className={styles.wrong}>{told.error}</p>}
      <WordsPlace label={`${label}: tool`} path={[...path, "tool"]} single hint="Its name; several with commas between them; * is any." />
      {times !== "none" && (
        <div className={styles.pair}>
          {times === "calls" && <CheckPlace label="Optional" path={[...path, "optional"]} />}
          <NumberPlace label="At least" path={[...path, "at_least"]} />
          <NumberPlace label="At most" path={[...path, "at_most"]} />
        </div>
      )}
      <Arguments path={path} closed={times === "calls"} />
      <Response path={[...path, "response"]} />
      <OthersFolded path={path} names={[...KEYS, ...MORE[times]]} exact />
    </div>
  );
}

function Arguments({ path, closed }: { path: Path; closed: boolean }) {
  const { set, readOnly } = useEdit();
  const args = useValue([...path, "args"]);
  const others = useValue([...path, "other_args"]);
  const other = <ChoicePlace label="Arguments that are not named" path={[...path, "other_args"]} usual={closed ? "must not be there" : "may be there"} options={[["allowed", "may be there (allowed)"], ["forbidden", "must not be there (forbidden)"]]} />;
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
      <KeyedPlace label="Arguments" path={[...path, "args"]} addWhat="New argument" valued hint={isObject(args) && !Object.keys(args).length ? "None: a call without arguments." : ""} />
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
      <ValuePlace label="Response" path={path} />
      {!readOnly && <Button look="quiet" aria-label="Remove the response" onClick={() => set(path, undefined)}>✕</Button>}
    </div>
  );
}
