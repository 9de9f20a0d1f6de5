import { useMemo, useState } from "react";
import { Link } from "wouter";
import type { CaseRow, RunPage } from "../../../data/types";
import { OUTCOME_OF_LETTER, filledClass, outcomeWord } from "../../../components/charts/Outcome";
import { trialSign } from "../../../components/charts/TrialStrip";
import { Button } from "../../../components/forms/Button";
import { Id } from "../../../components/text/Breakable";
import { useWidth } from "../../../components/charts/useWidth";
import { numText } from "../../../components/text/numberFormats";
import { useCasePath } from "../useShownCases";
import styles from "./Pictures.module.css";

const FIRST = 20;
const MORE = 100;
const NAME = 220; // pixels of a column of cases: the name, and each trial
const CELL = 30;

interface Props {
  page: RunPage;
  /** The cases of the table, in its order. */
  shown: () => readonly CaseRow[];
}

/** Every trial of the cases that the table shows, as a map: pressing a cell opens the trial. */
export function TrialMap({ page, shown }: Props) {
  const rows = useMemo(() => shown(), [shown]);
  const [most, setMost] = useState(FIRST);
  const [box, width] = useWidth();
  const trials = Math.max(1, ...rows.map(({ strip }) => strip.length));
  const drawn = rows.slice(0, most);
  const columns = Math.max(1, Math.floor(width / (NAME + trials * CELL)));
  const height = Math.ceil(drawn.length / columns);
  if (!rows.length) return <p className="dim">No case matches the filter.</p>;
  return (
    <>
      <section ref={box} className={styles.scroll} tabIndex={0} aria-label="Trials">
        {Array.from({ length: columns }, (_, column) => drawn.slice(column * height, (column + 1) * height))
          .filter((cases) => cases.length)
          .map((cases) => (
            <MapColumn key={cases[0]?.position} run={page.run_id} rows={cases} trials={trials} />
          ))}
      </section>
      <div className={`${styles.foot} no-print`}>
        <span className="dim small">
          {numText(Math.min(most, rows.length))} of {numText(rows.length)} cases, in the order of the table
        </span>
        {rows.length > most && (
          <Button look="quiet" onClick={() => setMost(most + MORE)}>
            Show {numText(Math.min(MORE, rows.length - most))} more
          </Button>
        )}
      </div>
    </>
  );
}

function MapColumn({ run, rows, trials }: { run: string; rows: readonly CaseRow[]; trials: number }) {
  return (
    <table className={styles.map}>
      <caption className="hidden">The outcome of each trial of each case</caption>
      <thead>
        <tr>
          <th scope="col">Case</th>
          {Array.from({ length: trials }, (_, trial) => (
            <th key={trial} scope="col">{trial + 1}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <MapRow key={row.position} run={run} row={row} />
        ))}
      </tbody>
    </table>
  );
}

function MapRow({ run, row }: { run: string; row: CaseRow }) {
  const path = useCasePath(run);
  return (
    <tr>
      <th scope="row">
        <Link href={path(row)} title={row.eval_id}>
          <span>
            <Id text={row.eval_id} />
          </span>
        </Link>
      </th>
      {[...row.strip].map((letter, index) => {
        const outcome = OUTCOME_OF_LETTER[letter] ?? "not_run";
        const words = `Trial ${index + 1} of ${row.eval_id}: ${outcomeWord(outcome)}`;
        return (
          <td key={index}>
            <Link href={path(row, index + 1)} className={filledClass(outcome)} tabIndex={-1} aria-label={words} title={words}>
              {trialSign(outcome)}
            </Link>
          </td>
        );
      })}
    </tr>
  );
}
