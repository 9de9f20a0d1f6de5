import { type ReactNode, useEffect, useState } from "react";
import type { TurnPart } from "../../../data/types";
import { Clipped } from "../../../components/text/Clipped";
import { CauseNote } from "../CauseNote";
import { idOf } from "../caseLocation";
import { Answer } from "./Answer";
import styles from "./Conversation.module.css";
import { Passage } from "./Passage";
import { TurnScores } from "./TurnScores";
import { TurnSteps } from "./TurnSteps";
import { turnSummary } from "./folding";

interface Props {
  turn: TurnPart;
  /** Whether it is open at first. */
  first: boolean;
  /** The step that the address names. */
  at: number | null;
  /** Whether the address names this turn. */
  on: boolean;
  /** What the turn is marked as. Default: whether it is as expected. */
  sign?: ReactNode;
}

/** One turn: the user message, the steps, the final response, the scores. Its head folds and unfolds it. */
export function Turn({ turn, first, at, on, sign }: Props) {
  const [open, setOpen] = useState(first);
  useEffect(() => {
    if (on) setOpen(true);
  }, [on]);
  const name = `Turn ${turn.index + 1}`;
  return (
    <section id={idOf(turn.index)} className={styles.turn} data-on={on || undefined} data-open={open} aria-label={open ? name : undefined}>
      <h2>
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span className={styles.caret} aria-hidden>
            {open ? "▾" : "▸"}
          </span>
          <span className={styles.number}>{name}</span>
          {sign ?? <TurnSign turn={turn} />}
          {!open && <span className={styles.summary}>{turnSummary(turn)}</span>}
        </button>
      </h2>
      {open && (
        <div className="panel">
          <Passage role="user">
            <div className={styles.text}>
              <Clipped clip={turn.user} />
            </div>
            {turn.media.map((medium, index) => (
              <div key={index} className="dim small">
                with {medium}
              </div>
            ))}
          </Passage>
          <TurnSteps turn={turn} at={at} />
          <Answer turn={turn} />
          <TurnNotes turn={turn} />
          {turn.failure && <CauseNote cause={turn.failure} inside />}
          <TurnScores turn={turn} />
        </div>
      )}
    </section>
  );
}

/** Whether the turn went as expected; nothing where nothing is expected. */
function TurnSign({ turn }: { turn: TurnPart }) {
  const stated = turn.differs || turn.steps.some(({ kind }) => kind !== null) || turn.scores.some(({ gate, outcome }) => gate && outcome === "passed");
  if (!stated) return null;
  const [sign, words] = turn.differs ? ["✕", turn.failure ? "ended in an error" : "not as expected"] : ["✓", "as expected"];
  return (
    <span className={styles.verdict} data-differs={turn.differs || undefined}>
      <span aria-hidden>{sign} </span>
      {words}
    </span>
  );
}

function TurnNotes({ turn }: { turn: TurnPart }) {
  if (!turn.notes.length) return null;
  return (
    <div className={styles.foot}>
      {turn.notes.map((note, index) => (
        <div key={index}>
          <span className={styles.metric}>{note.label} </span>
          {note.text}
        </div>
      ))}
    </div>
  );
}
