import { useState } from "react";
import type { AuditPage, FaultClass } from "../../data/types";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { Outcome } from "../../components/charts/Outcome";
import { Button } from "../../components/forms/Button";
import { Term } from "../../components/terms/Term";
import { boundsText, countText, numText, percentText } from "../../components/text/numberFormats";
import pictures from "../run/pictures/Pictures.module.css";
import styles from "./Audit.module.css";
import { ENOUGH, STANDING_WORDS, countedClasses } from "./auditText";

const TONES = { blind: "worse", weak: "plain", caught: "better", not_applicable: "same" } as const;

/** Of each class of faults the share of mutants that are caught, on its interval: the picture is the table. */
export function ClassPicture({ page }: { page: AuditPage }) {
  const [all, setAll] = useState(false);
  const applied = page.classes.filter(({ caught, errors }) => caught.of > 0 || errors > 0);
  const weak = applied.filter(({ standing }) => standing !== "caught");
  const shown = all || !weak.length ? applied : weak;
  const others = page.classes.filter((one) => !applied.includes(one));
  return (
    <div className={`${pictures.panel} panel`}>
      <table className={`${pictures.table} ${styles.classes}`}>
        <thead>
          <tr>
            <th scope="col">Class of faults</th>
            <th scope="col">Share of its mutants that are caught</th>
            <th scope="col">Share</th>
            <th scope="col"><Term name="confidenceInterval">95 % CI</Term></th>
            <th scope="col">Caught</th>
            <th scope="col">In cases</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <ClassRow key={one.name} one={one} />
          ))}
        </tbody>
      </table>
      <div className={pictures.foot}>
        {weak.length > 0 && weak.length < applied.length && (
          <span className="no-print">
            <Button look="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
              {all ? "Show only what is not caught" : `Show ${countedClasses(applied.length - weak.length)} of which at least 95 % are caught`}
            </Button>
          </span>
        )}
        {others.length > 0 && <span className="dim small">not applicable to these cases: {others.map(({ label }) => label).join(", ")}</span>}
      </div>
    </div>
  );
}

function ClassRow({ one }: { one: FaultClass }) {
  const { label, family, is_agent, caught, errors, cases, standing } = one;
  const [outcome, word] = STANDING_WORDS[standing];
  const share = `${label}: ${percentText(caught.rate)} caught, ${numText(caught.count)} of ${numText(caught.of)}, 95 % CI: ${boundsText(caught.low, caught.high)}`;
  return (
    <tr>
      <th scope="row">
        {label}
        <span className={styles.under}>{is_agent ? "an agent that does nothing" : family}</span>
      </th>
      <td className={pictures.picture}>
        <IntervalBar value={caught.rate} low={caught.of ? caught.low : null} high={caught.of ? caught.high : null} mark={ENOUGH} tone={TONES[standing]} label={share} />
      </td>
      <td data-label="share">{percentText(caught.rate)}</td>
      <td data-label="95 % CI">{caught.of ? boundsText(caught.low, caught.high) : "–"}</td>
      <td data-label="caught">
        {numText(caught.count)} of {numText(caught.of)}
        {errors > 0 && <span className="dim"> ({countText(errors, "error")})</span>}
      </td>
      <td data-label="in cases">{numText(cases)}</td>
      <td>
        <Outcome outcome={outcome}>{word}</Outcome>
      </td>
    </tr>
  );
}
