import { useState } from "react";
import type { RunPage } from "../../../data/types";
import { Button } from "../../../components/forms/Button";
import { Copy } from "../../../components/text/Copy";
import { Prose } from "../../../components/text/Prose";
import { numText } from "../../../components/text/numberFormats";
import { causeFilter, causesMarkdown, sinceText } from "./causes";
import styles from "./Pictures.module.css";

const FIRST = 8;

interface Props {
  page: RunPage;
  /** Filters the table of cases. */
  onFilter: (text: string) => void;
}

/** Why cases failed, each cause once: the cases with it, and how many the run before had. */
export function CausePictures({ page, onFilter }: Props) {
  const [all, setAll] = useState(false);
  const { causes, against } = page;
  const most = Math.max(1, ...causes.map(({ cases }) => cases));
  return (
    <>
      <table className={`${styles.table} ${styles.causes}`}>
        <thead>
          <tr>
            <th scope="col">Cause</th>
            <th scope="col">Cases</th>
            <th scope="col">{against ? `In ${against.short}` : ""}</th>
          </tr>
        </thead>
        <tbody>
          {causes.slice(0, all ? undefined : FIRST).map((cause) => (
            <tr key={cause.text}>
              <th scope="row">
                <Prose text={cause.text} />
              </th>
              <td className={styles.picture}>
                <button type="button" className={styles.missed} onClick={() => onFilter(causeFilter(cause))}>
                  {numText(cause.cases)} {cause.cases === 1 ? "case" : "cases"}
                </button>
                <span className={styles.share}>
                  <i data-failed style={{ width: `${(100 * cause.cases) / most}%` }} />
                </span>
              </td>
              <td data-label={against ? `in ${against.short}` : ""}>{cause.before === 0 ? <b className={styles.worse}>new</b> : sinceText(cause)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className={`${styles.foot} no-print`}>
        {causes.length > FIRST && (
          <Button look="quiet" onClick={() => setAll(!all)}>
            {all ? `Show ${FIRST} causes` : `Show all ${numText(causes.length)} causes`}
          </Button>
        )}
        <Copy text={() => causesMarkdown(page)} action="numbers">Copy the causes</Copy>
      </div>
    </>
  );
}
