import { useState } from "react";
import { pathOf, useAvailable, useData } from "../../../data/queries";
import type { CauseTrend, RunPage } from "../../../data/types";
import { Button } from "../../../components/forms/Button";
import { Sparkline } from "../../../components/charts/Sparkline";
import { Copy } from "../../../components/text/Copy";
import { Prose } from "../../../components/text/Prose";
import { numText } from "../../../components/text/numberFormats";
import { causeFilter, causesMarkdown, sinceText, trendLabel } from "./causes";
import styles from "./Pictures.module.css";

const FIRST = 8;

interface Props {
  page: RunPage;
  /** Filters the table of cases. */
  onFilter: (text: string) => void;
}

/** Why cases failed, each cause once: the cases with it, how many the run before or the baseline had, and how it went over the last runs. */
export function CausePictures({ page, onFilter }: Props) {
  const [all, setAll] = useState(false);
  const { causes, against } = page;
  const trend = useTrend(page);
  const sizes = new Map(trend?.causes.map((one) => [one.text, one]));
  const most = Math.max(1, ...causes.map(({ cases }) => cases));
  return (
    <>
      <table className={`${styles.table} ${styles.causes}`}>
        <thead>
          <tr>
            <th scope="col">Cause</th>
            <th scope="col">Cases</th>
            {against && <th scope="col">{`In ${against.kind === "previous" ? "" : `${against.kind}, `}${against.short}`}</th>}
            {trend && <th scope="col">Last {trend.runs.length} runs</th>}
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
              {against && <td data-label={`in ${against.short}`}>{cause.before === 0 ? <b className={styles.worse}>new</b> : sinceText(cause)}</td>}
              {trend && <Trend trend={trend} of={sizes.get(cause.text)} />}
            </tr>
          ))}
        </tbody>
      </table>
      <div className={`${styles.foot} no-print`}>
        {causes.length > FIRST && (
          <Button look="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? `Show ${FIRST} causes` : `Show all ${numText(causes.length)} causes`}
          </Button>
        )}
        <Copy text={() => causesMarkdown(page, trend)} action="numbers">Copy the causes</Copy>
      </div>
    </>
  );
}

/** The causes over the runs before; undefined until they are read, and if there is no run before. */
function useTrend(page: RunPage): CauseTrend | undefined {
  const has = useAvailable();
  const path = pathOf(`/api/runs/${encodeURIComponent(page.run_id)}/cause-trend`, { judging: page.judging });
  const { data } = useData<CauseTrend>(has(path) ? path : null, { fresh: 60_000 });
  return data && data.runs.length > 1 ? data : undefined;
}

function Trend({ trend, of }: { trend: CauseTrend; of: CauseTrend["causes"][number] | undefined }) {
  if (!of) return <td />;
  return (
    <td className={styles.trend} data-label={`last ${trend.runs.length} runs`}>
      <Sparkline values={of.sizes} to={Math.max(...of.sizes)} label={trendLabel(of, trend)} /> <span className="dim small">{of.since}</span>
    </td>
  );
}
