import { useState } from "react";
import type { AuditPage, AuditedJudge, JudgedClass } from "../../data/types";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { Button } from "../../components/forms/Button";
import { Term } from "../../components/terms/Term";
import { Breakable } from "../../components/text/Breakable";
import { Prose } from "../../components/text/Prose";
import { boundsText, numText, percentText } from "../../components/text/numberFormats";
import pictures from "../run/pictures/Pictures.module.css";
import styles from "./Audit.module.css";
import { ENOUGH, countedClasses, rateText } from "./auditText";

/** What the judges of an audit notice: of each class of faults the true negative rate, on its interval. */
export function JudgePictures({ page }: { page: AuditPage }) {
  if (!page.asked) return null;
  return (
    <section aria-label="Judges">
      <h2>Judges</h2>
      {page.judges.map((judge) => (
        <JudgePicture key={`${judge.metric} ${judge.model}`} judge={judge} />
      ))}
      <p className="dim small">
        <Prose text={page.asked} />
      </p>
    </section>
  );
}

function JudgePicture({ judge }: { judge: AuditedJudge }) {
  const [all, setAll] = useState(false);
  const weak = judge.classes.filter(isWeak);
  const shown = all || !weak.length ? judge.classes : weak;
  return (
    <div className={`${pictures.panel} panel ${styles.judge}`}>
      <h3>
        <Breakable text={judge.metric} /> <code className="dim"><Breakable text={judge.model} /></code>
      </h3>
      <ul className={styles.notes}>
        <li>{rateText(judge, "recorded")}</li>
        <li className={judge.passes_everything ? styles.bad : ""}>
          {rateText(judge, "mutants")}
          {judge.passes_everything && ": it passes everything"}
        </li>
        {judge.notes.map((note) => (
          <li key={note}>
            <Prose text={note} />
          </li>
        ))}
      </ul>
      {judge.classes.length > 0 && <Classes classes={shown} />}
      {weak.length > 0 && weak.length < judge.classes.length && (
        <div className={`${pictures.foot} no-print`}>
          <Button look="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "Show only what it does not notice" : `Show ${countedClasses(judge.classes.length - weak.length)} of which it notices at least 95 %`}
          </Button>
        </div>
      )}
    </div>
  );
}

function isWeak({ noticed }: JudgedClass): boolean {
  return (noticed.rate ?? 0) < ENOUGH;
}

function Classes({ classes }: { classes: readonly JudgedClass[] }) {
  return (
    <table className={`${pictures.table} ${styles.classes}`}>
      <thead>
        <tr>
          <th scope="col">Class of faults</th>
          <th scope="col">True negative rate: the share of its mutants that the judge fails</th>
          <th scope="col">Rate</th>
          <th scope="col"><Term name="confidenceInterval">95 % CI</Term></th>
          <th scope="col">Noticed</th>
        </tr>
      </thead>
      <tbody>
        {classes.map((one) => (
          <ClassRow key={one.label} one={one} />
        ))}
      </tbody>
    </table>
  );
}

function ClassRow({ one }: { one: JudgedClass }) {
  const { label, family, is_agent, noticed } = one;
  const bounds = boundsText(noticed.low, noticed.high);
  const text = `${label}: ${percentText(noticed.rate)} noticed, ${numText(noticed.count)} of ${numText(noticed.of)}, 95 % CI: ${bounds}`;
  return (
    <tr>
      <th scope="row">
        {label}
        <span className={styles.under}>{is_agent ? "an agent that does nothing" : family}</span>
      </th>
      <td className={pictures.picture}>
        <IntervalBar value={noticed.rate} low={noticed.low} high={noticed.high} mark={ENOUGH} tone={isWeak(one) ? "worse" : "better"} label={text} />
      </td>
      <td data-label="rate">{percentText(noticed.rate)}</td>
      <td data-label="95 % CI">{bounds}</td>
      <td data-label="noticed">
        {numText(noticed.count)} of {numText(noticed.of)}
      </td>
    </tr>
  );
}
