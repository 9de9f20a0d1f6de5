import { useState } from "react";
import type { StateRow, TrialPage } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { Empty } from "../../components/feedback/Empty";
import { type Step, Steps } from "../../components/tables/Steps";
import type { Piece } from "../../components/text/TextPieces";
import styles from "./CaseScreen.module.css";

/** The final session state: expected left, actual right. */
export function FinalState({ state }: { state: TrialPage["state"] }) {
  const [all, setAll] = useState(!state.stated);
  const expected = state.rows.filter((row) => row.kind !== null || row.expected);
  const rest = state.rows.filter((row) => row.kind === null && !row.expected);
  if (!state.known && !state.rows.length) {
    return (
      <Empty
        inside
        title="No final state was recorded"
        does="The agent did not report its session state. It can implement `final_state(session)`, change `session.state`, or emit events with a `state_delta`."
      />
    );
  }
  if (!state.rows.length) return <Empty inside title="The session state is empty" does="The agent set no key, and the case expects none." />;
  return (
    <>
      {!state.stated && <p className="dim">The case states no expected final state. This is the actual state.</p>}
      {!state.known && <p className="dim">The agent did not report its final state.</p>}
      {expected.length > 0 && (
        <StateRows rows={expected} />
      )}
      {rest.length > 0 && state.stated && (
        <p className={styles.folded}>
          <span>
            {rest.length} more {rest.length === 1 ? "key" : "keys"} without an expectation
          </span>
          <Button look="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "Hide them" : "Show them"}
          </Button>
        </p>
      )}
      {all && rest.length > 0 && (
        <div className="panel">
          <Steps steps={rest.map(asStep)} heads={null} lone />
        </div>
      )}
    </>
  );
}

/** Keys of the state: expected left, actual right. */
export function StateRows({ rows }: { rows: readonly StateRow[] }) {
  return (
    <div className="panel">
      <Steps steps={rows.map(asStep)} heads={["final state, expected", "actual"]} />
    </div>
  );
}

function asStep({ key, kind, expected, actual }: StateRow): Step {
  const differs = kind !== null && kind !== "same";
  const side = (value: StateRow["actual"], missing: string): Piece[] => [
    { text: `${key}: `, changed: false },
    { text: value ? value.text + (value.left_out ? "…" : "") : missing, changed: differs },
  ];
  if (kind === null && expected) return { kind, expected: side(expected, ""), actual: [], note: "actual value unknown" };
  return {
    kind,
    expected: kind === null || (kind === "extra" && !expected) ? [] : side(expected, "not set"),
    actual: kind === "missing" && !actual ? side(null, "not set") : side(actual, "not set"),
    note: "",
  };
}
