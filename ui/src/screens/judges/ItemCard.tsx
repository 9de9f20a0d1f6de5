import type { ItemToLabel, LabellingPage } from "../../data/types";
import { Clipped } from "../../components/text/Clipped";
import { Breakable } from "../../components/text/Breakable";
import styles from "./Label.module.css";

const QUESTIONS: Record<string, string> = {
  rubric: "Does the agent meet this rubric?",
  turn: "Is this response right?",
  trial: "Is what the agent did right?",
};

/** A verdict to label: the question, and the conversation up to it. Earlier turns are folded. */
export function ItemCard({ one, page }: { one: ItemToLabel; page: LabellingPage }) {
  const shown = one.item.turn === null ? one.turns : one.turns.slice(-1);
  const earlier = one.turns.slice(0, one.turns.length - shown.length);
  return (
    <div className={`panel ${styles.card}`}>
      <div className={styles.question}>
        <b>{QUESTIONS[page.unit]}</b>
        {one.rubric ? <div>{one.rubric}</div> : page.description && <div className="dim small">The metric: {page.description}</div>}
      </div>
      {earlier.length > 0 && (
        <details className={styles.earlier}>
          <summary>{earlier.length === 1 ? "1 earlier turn" : `${earlier.length} earlier turns`}</summary>
          {earlier.map((turn, index) => (
            <Turn key={index} turn={turn} />
          ))}
        </details>
      )}
      {shown.map((turn, index) => (
        <Turn key={index} turn={turn} />
      ))}
    </div>
  );
}

function Turn({ turn }: { turn: ItemToLabel["turns"][number] }) {
  return (
    <dl className={styles.turn}>
      <dt>User</dt>
      <dd><Clipped clip={turn.user} /></dd>
      {turn.calls.length > 0 && (
        <>
          <dt>Tool calls</dt>
          <dd>
            {turn.calls.map((call, index) => (
              <div key={index}><code><Breakable text={call} /></code></div>
            ))}
          </dd>
        </>
      )}
      <dt>Agent</dt>
      <dd className={styles.answer}>{turn.answer.text ? <Clipped clip={turn.answer} /> : <span className="dim">no response</span>}</dd>
      {turn.expected && (
        <>
          <dt>Expected</dt>
          <dd><Clipped clip={turn.expected} /></dd>
        </>
      )}
    </dl>
  );
}
