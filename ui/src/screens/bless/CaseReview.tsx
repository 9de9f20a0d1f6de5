import { Fragment } from "react";
import { Link } from "wouter";
import type { BlessCase } from "../../data/types";
import { LeftOut } from "../../components/text/Clipped";
import { CheckField } from "../../components/forms/Field";
import { OUTCOME_OF_LETTER, Outcome, outcomeWord } from "../../components/charts/Outcome";
import { TrialStrip } from "../../components/charts/TrialStrip";
import { TextPieces } from "../../components/text/TextPieces";
import { Breakable, Id } from "../../components/text/Breakable";
import styles from "./Bless.module.css";

interface Props {
  run: string;
  one: BlessCase;
  on: boolean;
  toggle: (on: boolean) => void;
  choose: (trial: number) => void;
}

/** One case: its values that would change, with their paths in the file, and the lines of the file. */
export function CaseReview({ run, one, on, toggle, choose }: Props) {
  return (
    <section className={`panel ${styles.case}`} data-status={one.status} aria-label={one.eval_id}>
      <div className={styles.head}>
        {one.status === "changes" ? (
          <CheckField label={<b><Id text={one.eval_id} /></b>} checked={on} onChange={(event) => toggle(event.target.checked)} />
        ) : (
          <b><Id text={one.eval_id} /></b>
        )}
        <Outcome outcome={one.outcome} />
        {one.flaky && <span className={styles.warning}>flaky</span>}
        {one.strip && <TrialStrip strip={one.strip} {...(one.trial === null ? {} : { at: one.trial })} />}
        {one.trials > 1 && (one.status !== "refused" || one.choose) && <TrialChoice one={one} choose={choose} />}
        <span className="grow" />
        <Link href={`/runs/${run}/cases/${one.position}${one.trial === null ? "" : `?trial=${one.trial + 1}`}`}>see the case</Link>
      </div>
      {one.differ && one.status === "changes" && <p className={styles.warning}>The trials differ: the case would expect only what trial {(one.trial ?? 0) + 1} did.</p>}
      {one.status === "same" && <p className={styles.note}>The expectation already matches.</p>}
      {one.status === "refused" && <p className={styles.note}><Breakable text={refusalText(one)} /></p>}
      {one.changes.length > 0 && <Changes one={one} />}
      {one.lost.map((comment) => (
        <p key={comment} className={styles.warning}>
          warning: this comment is in the replaced text and would be lost: line {comment}
        </p>
      ))}
      {one.hunks.length > 0 && (
        <details className={styles.lines}>
          <summary>
            Lines of <code><Breakable text={one.path} /></code>
          </summary>
          <Hunks one={one} />
        </details>
      )}
    </section>
  );
}

/** The reason without the options of the command line: the page has controls for them. */
function refusalText({ why, choose, changed_since }: BlessCase): string {
  if (choose) return why.replace(/: choose one.*$/s, ": choose one.");
  return changed_since ? why.replace(/: run it again.*$/s, ": run it again, or include it above.") : why;
}

function TrialChoice({ one, choose }: { one: BlessCase; choose: (trial: number) => void }) {
  return (
    <label className={styles.choice}>
      <span className={one.choose ? styles.warning : "dim"}>{one.choose ? "accept which trial?" : "from trial"}</span>
      <select value={one.trial ?? ""} onChange={(event) => event.target.value && choose(Number(event.target.value))}>
        {one.trial === null && <option value="">choose</option>}
        {Array.from({ length: one.trials }, (_, number) => (
          <option key={number} value={number}>
            {number + 1}
            {one.strip && ` (${outcomeWord(OUTCOME_OF_LETTER[one.strip[number] ?? ""] ?? "not_run")})`}
          </option>
        ))}
      </select>
    </label>
  );
}

function Changes({ one }: { one: BlessCase }) {
  return (
    <div className={styles.changes}>
      {one.changes.map((change) => (
        <div key={change.path} className={styles.change}>
          <code className={styles.path}>
            <Path path={change.path} />
          </code>
          <div className={styles.before}>
            <span className="hidden">expected before: </span>
            {change.before ? <TextPieces pieces={change.before.pieces} side="before" /> : <span className="dim">not there</span>}
            {change.before && change.before.left_out > 0 && <LeftOut count={change.before.left_out} />}
          </div>
          <div className={styles.after}>
            <span className="hidden">expected from now on: </span>
            {change.after ? <TextPieces pieces={change.after.pieces} side="after" /> : <span className="dim">removed</span>}
            {change.after && change.after.left_out > 0 && <LeftOut count={change.after.left_out} />}
          </div>
        </div>
      ))}
    </div>
  );
}

/** It may be broken after a dot. */
function Path({ path }: { path: string }) {
  return path
    .split(/(?<=\.)/)
    .map((part, index) => (
      <Fragment key={index}>
        {index > 0 && <wbr />}
        {part}
      </Fragment>
    ));
}

const LONGEST = 400; // characters of a line that are shown: a set may be on one line

function Hunks({ one }: { one: BlessCase }) {
  return (
    <>
      {one.hunks.map((hunk) => (
        <pre key={hunk.before} className={styles.hunk} tabIndex={0}>
          <span className={styles.at}>
            line {hunk.before} → {hunk.after}
          </span>
          {hunk.lines.map((line, index) => (
            <span key={index} className={styles.hunkLine} data-sign={line.sign}>
              {line.sign} {line.text.slice(0, LONGEST)}
              {line.text.length > LONGEST && <LeftOut count={line.text.length - LONGEST} />}
            </span>
          ))}
        </pre>
      ))}
    </>
  );
}
