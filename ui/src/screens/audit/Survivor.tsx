import type { MutantLine, SurvivorPart } from "../../data/types";
import { Prose } from "../../components/text/Prose";
import { countText, numText } from "../../components/text/numberFormats";
import { StateRows } from "../case/FinalState";
import { Turn } from "../case/conversation/Turn";
import styles from "./Audit.module.css";
import { whyPassed } from "./auditText";

interface Props {
  line: MutantLine;
  part: SurvivorPart | undefined;
  open: boolean;
  onToggle: () => void;
}

/** A mutant that survives, like a failing case: what was recorded (expected), what was planted (actual), and why the case passes. */
export function Survivor({ line, part, open, onToggle }: Props) {
  return (
    <section className={styles.survivor} data-open={open || undefined} aria-label={`Mutant: ${line.label}`}>
      <button type="button" className={styles.summary} aria-expanded={open} onClick={onToggle}>
        <span className={styles.mark}>mutated</span>
        <span className={styles.what}>
          <b>{line.label}</b>
          {line.turn !== null && <span className="dim"> turn {numText(line.turn + 1)}</span>}
          <span className={styles.fault}>
            <Prose text={line.fault} />
          </span>
        </span>
      </button>
      {open && (part ? <Evidence part={part} /> : <p className="dim">The conversation of this mutant is not stored.</p>)}
    </section>
  );
}

function Evidence({ part }: { part: SurvivorPart }) {
  const why = whyPassed(part);
  return (
    <div className={styles.evidence}>
      <p>
        <b>Expected</b> is what was recorded, <b>actual</b> is the mutant.
        {part.recorded > 0 && <span className="dim"> {countText(part.recorded, "turn")} as recorded {part.recorded === 1 ? "is" : "are"} left out.</span>}
      </p>
      {part.turns.map((turn) => (
        <Turn key={turn.index} turn={turn} first at={null} on={false} sign={<span className={styles.mark}>mutated</span>} />
      ))}
      {part.state.length > 0 && <StateRows rows={part.state} />}
      <p className={styles.why}>
        <b>Why it passes:</b> {why.length ? why.join(" · ") : "no metric decides here"}
      </p>
    </div>
  );
}
