import { type ReactNode, useEffect, useState } from "react";
import type { ScorePart, StepPart, TurnPart } from "../../data/types";
import { Clipped, LeftOut } from "../../components/text/Clipped";
import { numText, secondsText } from "../../components/text/numberFormats";
import { Outcome } from "../../components/charts/Outcome";
import { Prose } from "../../components/text/Prose";
import { type Step, Steps } from "../../components/tables/Steps";
import { InlineDifference, TextPieces } from "../../components/text/TextPieces";
import { safeText } from "../../components/text/safeText";
import styles from "./CaseScreen.module.css";
import { CauseNote } from "./CauseNote";
import { idOf } from "./caseLocation";
import { type Stretch, stretches } from "./folding";
import { scoreAgainstThreshold } from "./metricText";

interface Props {
  turn: TurnPart;
  /** Whether it is open at first. */
  first: boolean;
  /** Whether it cannot be folded. */
  fixed: boolean;
  /** The step that the address names. */
  at: number | null;
  /** Whether the address names this turn. */
  on: boolean;
}

/** One turn: the user message, the steps, the final response, the scores. */
export function Turn({ turn, first, fixed, at, on }: Props) {
  const [open, setOpen] = useState(first);
  useEffect(() => {
    if (on) setOpen(true);
  }, [on]);
  if (!open && !fixed) return <FoldedTurn turn={turn} open={() => setOpen(true)} />;
  return (
    <section id={idOf(turn.index)} className={styles.turn} data-on={on || undefined} aria-label={`Turn ${turn.index + 1}`}>
      <h2>Turn {turn.index + 1}</h2>
      <div className="panel">
        <div className={styles.passage}>
          <div className={styles.who}>user</div>
          <Clipped clip={turn.user} />
          {turn.media.map((medium, index) => (
            <div key={index} className="dim small">
              with {safeText(medium)}
            </div>
          ))}
        </div>
        <TurnSteps turn={turn} at={at} />
        <Answer turn={turn} />
        <TurnNotes turn={turn} />
        {turn.failure && <CauseNote cause={turn.failure} inside />}
        <Foot turn={turn} />
      </div>
    </section>
  );
}

function FoldedTurn({ turn, open }: { turn: TurnPart; open: () => void }) {
  return (
    <button id={idOf(turn.index)} type="button" className={styles.foldedTurn} onClick={open} aria-expanded={false}>
      <span className={styles.foldedHead}>Turn {turn.index + 1}</span>
      <span className={styles.foldedText}>{safeText(turn.user.text.slice(0, 160))}</span>
      <span className="dim">{turn.steps.length ? `${turn.steps.length} ${turn.steps.length === 1 ? "call" : "calls"}` : ""}</span>
    </button>
  );
}

// --- steps and messages ---------------------------------------------------------------------------------------------------

/** Steps and the messages between them, in order. */
function TurnSteps({ turn, at }: { turn: TurnPart; at: number | null }) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const blocks: ReactNode[] = [];
  let message = 0;
  const lone = turn.steps.every(({ kind }) => kind === null);
  let headed = lone;
  const addMessages = (before: number) => {
    for (let next = turn.messages[message]; next && next.before <= before; next = turn.messages[++message]) {
      blocks.push(
        <div key={`message-${message}`} className={`${styles.passage} ${styles.message}`}>
          <div className={styles.who}>
            {safeText(next.author)}
            {next.thought ? ", thinking" : ""}
          </div>
          <Clipped clip={next.text} />
        </div>,
      );
    }
  };
  for (const part of splitAtMessages(turn, stretches(turn.steps, opened, at))) {
    addMessages(firstCall(turn.steps, part.from));
    blocks.push(
      part.folded ? (
        <button key={`fold-${part.from}`} type="button" className={styles.fold} onClick={() => setOpened(new Set([...opened, part.from]))}>
          … {numText(part.to - part.from)} more that match
        </button>
      ) : (
        <Steps
          key={`steps-${part.from}`}
          steps={turn.steps.slice(part.from, part.to).map((step) => asStep(step, turn))}
          heads={headed ? null : ["expected", "actual"]}
          lone={lone}
          at={at === null ? null : at - part.from}
          idOf={(index) => idOf(turn.index, part.from + index)}
        />
      ),
    );
    headed = true;
  }
  addMessages(Number.POSITIVE_INFINITY);
  return <>{blocks}</>;
}

/** Stretches, split at messages between two calls. */
function splitAtMessages(turn: TurnPart, all: readonly Stretch[]): Stretch[] {
  const messages = new Set(turn.messages.map(({ before }) => before));
  return all.flatMap((stretch) => {
    if (stretch.folded) return [stretch];
    const parts: Stretch[] = [];
    let from = stretch.from;
    for (let index = stretch.from + 1; index < stretch.to; index += 1) {
      const call = turn.steps[index]?.call;
      if (call !== null && call !== undefined && messages.has(call)) {
        parts.push({ from, to: index, folded: false });
        from = index;
      }
    }
    return [...parts, { from, to: stretch.to, folded: false }];
  });
}

function firstCall(steps: readonly StepPart[], from: number): number {
  return steps.slice(from).find(({ call }) => call !== null)?.call ?? Number.POSITIVE_INFINITY;
}

function asStep(step: StepPart, turn: TurnPart): Step {
  const several = turn.authors.length > 1 && step.author;
  const left = (step.expected?.left_out ?? 0) + (step.actual?.left_out ?? 0);
  const below = step.response || several || left > 0;
  return {
    kind: step.kind,
    expected: step.expected?.pieces ?? [],
    actual: step.actual?.pieces ?? [],
    ...(below
      ? {
          below: (
            <>
              {left > 0 && <LeftOut count={left} />}
              {several && <span className={styles.author}>{safeText(step.author)} </span>}
              {step.response && <Response step={step} />}
            </>
          ),
        }
      : {}),
  };
}

const MAX_INLINE = 160;

/** What a tool answered: short ones whole, long ones when they are asked for. */
function Response({ step }: { step: StepPart }) {
  const { response } = step;
  if (!response) return null;
  if (response.text.length <= MAX_INLINE && !response.left_out) {
    return (
      <span>
        <span aria-hidden>→ </span>
        <span className="hidden">answered </span>
        <Clipped clip={response} mono />
      </span>
    );
  }
  return (
    <details className={styles.response}>
      <summary>
        → <code>{safeText(response.text.slice(0, 100))}…</code> {numText(response.text.length + response.left_out)} characters
      </summary>
      <Clipped clip={response} mono />
    </details>
  );
}

// --- the answer ---------------------------------------------------------------------------------------------------------

function Answer({ turn }: { turn: TurnPart }) {
  const { expected, actual, same } = turn.answer;
  if (!expected && !actual) {
    return turn.failure ? null : (
      <div className={styles.passage}>
        <div className={styles.who}>no final response</div>
      </div>
    );
  }
  const left = (expected?.left_out ?? 0) + (actual?.left_out ?? 0);
  return (
    <div className={styles.passage}>
      <div className={styles.who}>{answerHead(Boolean(expected), Boolean(actual), same)}</div>
      {expected && actual && !same ? (
        <InlineDifference expected={expected.pieces} actual={actual.pieces} />
      ) : actual ? (
        <TextPieces pieces={actual.pieces} side="actual" />
      ) : (
        <TextPieces pieces={(expected?.pieces ?? []).map((piece) => ({ ...piece, changed: true }))} side="expected" />
      )}
      {left > 0 && <LeftOut count={left} />}
    </div>
  );
}

function answerHead(expected: boolean, actual: boolean, same: boolean): string {
  if (!expected) return "final response (the case expects no text)";
  if (!actual) return "final response: expected, but missing";
  return same ? "final response, as expected" : "final response, expected → actual";
}

// --- scores ---------------------------------------------------------------------------------------------------------------

function TurnNotes({ turn }: { turn: TurnPart }) {
  if (!turn.notes.length) return null;
  return (
    <div className={styles.passage}>
      {turn.notes.map((note, index) => (
        <div key={index}>
          <span className={styles.who}>{safeText(note.label)} </span>
          {safeText(note.text)}
        </div>
      ))}
    </div>
  );
}

function Foot({ turn }: { turn: TurnPart }) {
  const shown = turn.scores.filter((score) => score.outcome !== "not_applicable");
  const notApplicable = turn.scores.filter((score) => score.outcome === "not_applicable");
  const { usage } = turn;
  const took = [
    usage.seconds === null ? "" : secondsText(usage.seconds),
    usage.total_tokens === null ? "" : `${numText(usage.total_tokens)} tokens`,
    turn.authors.length > 1 ? turn.authors.join(" → ") : "",
    usage.models.join(", "),
  ];
  return (
    <div className={styles.foot}>
      <div className={styles.tags}>
        {shown.map((score) => (
          <Outcome key={score.name} outcome={score.outcome}>
            {safeText(scoreAgainstThreshold(score))}
          </Outcome>
        ))}
        <span className="dim">{safeText(took.filter(Boolean).join(" · "))}</span>
      </div>
      {shown.map((score) => (
        <Reason key={score.name} score={score} />
      ))}
      {notApplicable.length > 0 && (
        <div className={styles.reasons}>
          {notApplicable.map((score) => (
            <div key={score.name} className="dim">
              {safeText(`${score.name} does not apply here${score.reason ? `: ${score.reason}` : ""}`)}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

function Reason({ score }: { score: ScorePart }) {
  const missed = score.outcome === "failed" || score.outcome === "error";
  const nothing = !score.reason && !score.warning && !score.findings.length && !score.failure;
  if (nothing) return null;
  const details = (
    <>
      {score.reason && (
        <div>
          <Prose text={score.reason} />
        </div>
      )}
      {score.warning && <div className={styles.warning}>warning: {safeText(score.warning)}</div>}
      {score.findings.map((found, index) => (
        <div key={index} className={styles.finding}>
          <Outcome outcome={found.holds === null ? "inconclusive" : found.holds ? "passed" : "failed"}>{safeText(found.name)}</Outcome>
          <span>
            {safeText(found.text)} {found.why && <span className="dim">{safeText(found.why)}</span>}
          </span>
        </div>
      ))}
      {score.failure && <CauseNote cause={score.failure} inside />}
    </>
  );
  if (missed || score.warning) {
    return (
      <div className={styles.reasons}>
        <span className={styles.who}>{safeText(score.name)}</span>
        {details}
      </div>
    );
  }
  return (
    <details className={styles.reasons}>
      <summary className="dim">why {safeText(score.name)}</summary>
      {details}
    </details>
  );
}
