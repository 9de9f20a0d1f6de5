import type { ScorePart, TurnPart } from "../../../data/types";
import { Outcome } from "../../../components/charts/Outcome";
import { Prose } from "../../../components/text/Prose";
import { numText, secondsText } from "../../../components/text/numberFormats";
import { CauseNote } from "../CauseNote";
import { scoreAgainstThreshold } from "../metricText";
import styles from "./Conversation.module.css";

/** The scores of a turn with their reasons, its duration and its tokens. */
export function TurnScores({ turn }: { turn: TurnPart }) {
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
            {scoreAgainstThreshold(score)}
          </Outcome>
        ))}
        <span className="dim">{took.filter(Boolean).join(" · ")}</span>
      </div>
      {shown.map((score) => (
        <Reason key={score.name} score={score} />
      ))}
      {notApplicable.length > 0 && (
        <div className={styles.reasons}>
          {notApplicable.map((score) => (
            <div key={score.name} className="dim">
              {`${score.name} does not apply here${score.reason ? `: ${score.reason}` : ""}`}
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
      {score.warning && <div className={styles.warning}>warning: {score.warning}</div>}
      {score.findings.map((found, index) => (
        <div key={index} className={styles.finding}>
          <Outcome outcome={found.holds === null ? "inconclusive" : found.holds ? "passed" : "failed"}>{found.name}</Outcome>
          <span>
            {found.text} {found.why && <span className="dim">{found.why}</span>}
          </span>
        </div>
      ))}
      {score.failure && <CauseNote cause={score.failure} inside />}
    </>
  );
  if (missed || score.warning) {
    return (
      <div className={styles.reasons}>
        <span className={styles.metric}>{score.name}</span>
        {details}
      </div>
    );
  }
  return (
    <details className={styles.reasons}>
      <summary className="dim">why {score.name}</summary>
      {details}
    </details>
  );
}
