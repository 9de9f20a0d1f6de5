import { useState } from "react";
import { useSource } from "../../../data/queries";
import type { CasePage, TrialPage } from "../../../data/types";
import { Button } from "../../../components/forms/Button";
import { Copy } from "../../../components/text/Copy";
import { Empty } from "../../../components/feedback/Empty";
import { numText } from "../../../components/text/numberFormats";
import caseStyles from "../CaseScreen.module.css";
import styles from "./Conversation.module.css";
import { CauseNote } from "../CauseNote";
import { StateRows } from "../FinalState";
import { Turn } from "./Turn";
import { transcriptText } from "../caseMarkdown";
import type { CaseLocation } from "../caseLocation";
import { foldsExpected, isOpen } from "./folding";

interface Props {
  page: CasePage;
  trial: TrialPage;
  location: CaseLocation;
  /** The trial's path in the API. */
  path: string;
}

/** One trial, turn by turn: expected left, actual right. */
export function Conversation({ page, trial, location, path }: Props) {
  const [all, setAll] = useState(false);
  const folds = foldsExpected(trial.turns);
  const folded = trial.turns.filter((turn) => !isOpen(turn, folds, location.turn)).length;
  return (
    <>
      <SimulatedUser page={page} trial={trial} />
      <Notes trial={trial} />
      {!trial.kept && (
        <Empty
          inside
          title="The evidence of this trial is not stored"
          does="Its verdict and scores are under Metrics. A run in a store has its evidence; an imported result has only what its file contains."
        />
      )}
      {trial.kept && (
        <div className={styles.folded}>
          {folded > 0 && (
            <>
              <span>
                {numText(trial.turns.length)} turns; {numText(folded)} as expected and collapsed
              </span>
              <Button look="quiet" action="fold" onClick={() => setAll(!all)}>
                {all ? "Collapse" : "Expand all"}
              </Button>
            </>
          )}
          <span className="grow" />
          <Copy text={() => transcriptText(trial)} action="transcript">Copy transcript</Copy>
        </div>
      )}
      {trial.turns.map((turn) => (
        <Turn
          key={`${turn.index}-${all}`}
          turn={turn}
          first={all || isOpen(turn, folds, location.turn)}
          at={turn.index === location.turn ? location.step : null}
          on={turn.index === location.turn}
        />
      ))}
      <StateDifferences trial={trial} />
      {trial.failure && !trial.turns.some(({ failure }) => failure) && <CauseNote cause={trial.failure} />}
      <EvidenceButton trial={trial} path={path} />
    </>
  );
}

/** Where the final state is not as stated, that belongs to the story. */
function StateDifferences({ trial }: { trial: TrialPage }) {
  const stated = trial.state.rows.filter(({ kind }) => kind !== null);
  if (!stated.some(({ kind }) => kind !== "same")) return null;
  return (
    <section aria-label="Final state">
      <h2>Final state</h2>
      <StateRows rows={stated} />
    </section>
  );
}

function Notes({ trial }: { trial: TrialPage }) {
  const notes = [...trial.attempts, ...trial.notes];
  if (!notes.length) return null;
  return (
    <ul className={caseStyles.notes}>
      {notes.map((note, index) => (
        <li key={index}>{note}</li>
      ))}
    </ul>
  );
}

/** Who played the user, by which plan, and what it got wrong. */
function SimulatedUser({ page, trial }: { page: CasePage; trial: TrialPage }) {
  const { played } = trial;
  if (!page.scenario.length && !played) return null;
  return (
    <details className={caseStyles.scenario} open={Boolean(played?.faults.length)}>
      <summary>
        Simulated user{played?.model ? `: ${played.model}` : ""}
        {played?.opening ? `, after ${played.opening} recorded turns` : ""}
        {played?.ended ? `; ended ${played.ended}` : ""}
        {played?.faults.length ? `; ${played.faults.length} simulator ${played.faults.length === 1 ? "error" : "errors"}` : ""}
      </summary>
      <dl className={caseStyles.plan}>
        {page.scenario.map(({ label, text }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
        {played?.faults.map((fault, index) => (
          <div key={`fault-${index}`}>
            <dt>{fault.label}</dt>
            <dd>{fault.text}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

/** The way to all of it: as a file, where there is a server. */
function EvidenceButton({ trial, path }: { trial: TrialPage; path: string }) {
  const { live } = useSource();
  if (!trial.kept || !live) return null;
  return (
    <p className={`${caseStyles.whole} no-print`}>
      <Button look="quiet" action="export" onClick={() => window.location.assign(`${path}/evidence`)}>
        Save the whole evidence (JSON)
      </Button>
    </p>
  );
}
