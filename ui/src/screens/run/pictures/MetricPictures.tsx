import { Fragment, memo, useMemo, useState } from "react";
import type { CaseRow, MetricPart, RunPage } from "../../../data/types";
import { Histogram } from "../../../components/charts/Histogram";
import { Button } from "../../../components/forms/Button";
import { Breakable } from "../../../components/text/Breakable";
import { Copy } from "../../../components/text/Copy";
import { numText } from "../../../components/text/numberFormats";
import { Term } from "../../../components/terms/Term";
import { binFilter, canFilter, changeText, isSignificant, meanText, metricsMarkdown, missedParts, orderedMetrics, scoreBins } from "./metricRows";
import styles from "./Pictures.module.css";

const MOST = 6;

interface Props {
  page: RunPage;
  rows: readonly CaseRow[];
  /** Filters the table of cases. */
  onFilter: (text: string) => void;
}

/** Every metric of the run: how its scores are distributed, its mean, and how many cases missed it. */
export const MetricPictures = memo(function MetricPictures({ page, rows, onFilter }: Props) {
  const [all, setAll] = useState(false);
  const metrics = useMemo(() => orderedMetrics(page), [page]);
  const first = Math.min(MOST, metrics.filter(({ gate }) => gate).length) || MOST;
  const shown = all ? metrics : metrics.slice(0, first);
  return (
    <>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Metric</th>
            <th scope="col">Scores of the cases</th>
            <th scope="col"><Term name="meanScore">Mean</Term></th>
            <th scope="col">Threshold</th>
            <th scope="col">Missed in</th>
            {page.against && <th scope="col"><Term name="scoreChange">{`Change since ${page.against.short}`}</Term></th>}
          </tr>
        </thead>
        <tbody>
          {shown.map((metric) => (
            <MetricRow key={metric.name} metric={metric} rows={rows} since={page.against?.short ?? null} onFilter={onFilter} />
          ))}
        </tbody>
      </table>
      <div className={`${styles.foot} no-print`}>
        {metrics.length > first && (
          <Button look="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? `Show ${first === 1 ? "1 metric" : `${first} metrics`}` : `Show all ${metrics.length} metrics`}
          </Button>
        )}
        <Copy text={() => metricsMarkdown(page)} action="numbers">Copy the metrics</Copy>
      </div>
    </>
  );
});

interface RowProps {
  metric: MetricPart;
  rows: readonly CaseRow[];
  since: string | null;
  onFilter: (text: string) => void;
}

const MetricRow = memo(function MetricRow({ metric, rows, since, onFilter }: RowProps) {
  const { name, short, gate, thresholds, mean, change } = metric;
  const bins = useMemo(() => scoreBins(rows, name), [rows, name]);
  const isPressed = canFilter(name);
  return (
    <tr>
      <th scope="row" title={name}>
        <Breakable text={short} />
        {!gate && <span className="dim small"> reported only</span>}
      </th>
      <td className={styles.picture}>
        <Histogram label={name} bins={bins} marks={thresholds} onPress={isPressed ? (bin) => onFilter(binFilter(name, bin) ?? "") : undefined} />
      </td>
      <td data-label="mean">{meanText(mean)}</td>
      <td data-label="threshold">{thresholds.map((one) => numText(one)).join(" or ") || "–"}</td>
      <td data-label="missed in">
        {gate ? missedParts(metric).map(({ text, filter }, at) => (
          <Fragment key={text}>
            {at > 0 && ", "}
            {filter ? (
              <button type="button" className={`${styles.missed} ${filter.startsWith("error:") ? styles.error : ""}`} onClick={() => onFilter(filter)}>
                {text}
              </button>
            ) : text}
          </Fragment>
        )) : <span className="dim">–</span>}
      </td>
      {since && <td data-label={`since ${since}`}>{change ? <Change change={change} gate={gate} /> : <span className="dim">–</span>}</td>}
    </tr>
  );
});

function Change({ change, gate }: { change: NonNullable<MetricPart["change"]>; gate: boolean }) {
  const { value, low, high, cases } = change;
  const interval = low === null || high === null ? "" : `, 95 % CI: ${changeText(low)} to ${changeText(high)}`;
  return (
    <span className={gate && isSignificant(change) ? (value < 0 ? styles.worse : styles.better) : "dim"} title={`over ${numText(cases)} cases${interval}`}>
      {changeText(value)}
    </span>
  );
}
