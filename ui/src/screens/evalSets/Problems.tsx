import type { ProblemNote } from "../../data/types";
import { Prose } from "../../components/text/Prose";
import { countText, numText } from "../../components/text/numberFormats";
import styles from "./EvalSets.module.css";

const SHOWN = 3;

/** The messages of `proctor check` on a file or a case, each with its place. */
export function Problems({ problems }: { problems: readonly ProblemNote[] }) {
  if (!problems.length) return null;
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const ordered = [...problems].sort((one, other) => Number(other.severity === "error") - Number(one.severity === "error"));
  return (
    <section aria-label="Problems" className={`${styles.problems} panel`}>
      {ordered.slice(0, SHOWN).map((one, index) => <Problem key={index} problem={one} />)}
      {ordered.length > SHOWN && (
        <details>
          <summary>
            {numText(ordered.length - SHOWN)} more{errors > SHOWN && `, ${countText(errors, "error")} in all`}
          </summary>
          {ordered.slice(SHOWN).map((one, index) => <Problem key={index} problem={one} />)}
        </details>
      )}
    </section>
  );
}

function Problem({ problem }: { problem: ProblemNote }) {
  const isError = problem.severity === "error";
  return (
    <p className={styles.problem}>
      <b className={isError ? styles.error : styles.warning}>
        <span aria-hidden>{isError ? "✕" : "!"}</span> {problem.severity}
      </b>{" "}
      <code>
        {problem.file === null ? "line " : `${problem.file}:`}
        {problem.line}:{problem.column}
      </code>{" "}
      {problem.field && <code className="dim">{problem.field}: </code>}
      <Prose text={problem.message} />
      {problem.hint && (
        <span className="dim">
          {" "}
          (<Prose text={problem.hint} />)
        </span>
      )}
    </p>
  );
}
