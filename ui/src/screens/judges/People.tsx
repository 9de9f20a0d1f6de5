import { Link } from "wouter";
import type { LabellingPage } from "../../data/types";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { Term } from "../../components/terms/Term";
import { Breakable } from "../../components/text/Breakable";
import { Clipped } from "../../components/text/Clipped";
import { countText, scoreText } from "../../components/text/numberFormats";
import styles from "./Label.module.css";
import { itemText, judgesPath, labelsText, personText, verdictWord } from "./labelText";

/** The agreement of people with each other, and the verdicts on which people or the judge differ. */
export function People({ page }: { page: LabellingPage }) {
  const { labellers, pairs, disputes, misses, run_id } = page;
  if (labellers.length === 0) return null;
  return (
    <div className={`panel ${styles.box}`}>
      <h2>People</h2>
      <ul className={styles.people}>
        {labellers.map(({ name, labels }) => (
          <li key={name}>
            <Breakable text={personText(name)} />: {countText(labels, "label")}
          </li>
        ))}
      </ul>
      {pairs.map((pair) => (
        <div key={`${pair.first}/${pair.second}`} className={styles.pair}>
          <div>
            <Breakable text={`${personText(pair.first)} and ${personText(pair.second)}`} />: {pair.differ} of {countText(pair.both_pass + pair.both_fail + pair.differ, "common label")} differ
          </div>
          <div className={styles.kappa}>
            <Term name="kappaOfPeople">kappa</Term> <span className="num">{scoreText(pair.kappa.value)}</span>
            {pair.kappa.value !== null && (
              <>
                <IntervalBar value={pair.kappa.value} low={pair.kappa.low} high={pair.kappa.high} from={-1} mark={0} label={`${personText(pair.first)} and ${personText(pair.second)}: Cohen’s kappa ${scoreText(pair.kappa.value)}, 95 % CI: ${scoreText(pair.kappa.low)} to ${scoreText(pair.kappa.high)}`} />
                <span className="dim small num">95 % CI: {scoreText(pair.kappa.low)} to {scoreText(pair.kappa.high)}</span>
              </>
            )}
          </div>
        </div>
      ))}
      {disputes.length > 0 && (
        <details>
          <summary>{countText(disputes.length, "verdict")} with different labels</summary>
          <ul className={styles.list}>
            {disputes.map(({ item, labels, counted, asked, answered }) => (
              <li key={`${item.position} ${itemText(item)}`}>
                <Link href={judgesPath(run_id, item)}><Breakable text={itemText(item)} /></Link>
                <div>{labelsText(labels)}</div>
                <div className="dim">{counted === null ? "No majority: left out of the calibration." : `The majority counts: ${verdictWord(counted)}.`}</div>
                <div className={styles.quote}><Clipped clip={asked} /></div>
                <div className={styles.quote}><Clipped clip={answered} /></div>
              </li>
            ))}
          </ul>
        </details>
      )}
      {misses.length > 0 && (
        <details>
          <summary>{countText(misses.length, "verdict")} of the judge differ{misses.length === 1 ? "s" : ""} from the label that counts</summary>
          <ul className={styles.list}>
            {misses.map(({ item, passes, note, reason }) => (
              <li key={`${item.position} ${itemText(item)}`}>
                <Link href={judgesPath(run_id, item)}><Breakable text={itemText(item)} /></Link>
                <div>
                  label {verdictWord(passes)}
                  {note && ` “${note}”`}, judge {verdictWord(!passes)}
                </div>
                {reason.text && <div className={styles.quote}><Clipped clip={reason} /></div>}
              </li>
            ))}
          </ul>
          <p className="dim small">Only cases that are not held out: use these to improve the rubrics or the model.</p>
        </details>
      )}
    </div>
  );
}
