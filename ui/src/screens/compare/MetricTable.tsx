import type { ComparisonPage, MeasuredLine } from "../../data/types";
import { Breakable } from "../../components/text/Breakable";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { Term } from "../../components/terms/Term";
import { type Column, Table } from "../../components/tables/Table";
import styles from "./Compare.module.css";
import { ciText, pairsText, probability, reaches, toneOf } from "./comparisonText";

/** Every metric: baseline, candidate, and the difference with its confidence interval around zero. */
export function MetricTable({ page }: { page: ComparisonPage }) {
  return (
    <section aria-label="Metrics">
      <h2>Metrics</h2>
      {page.measures.length > 0 && (
        <Table label="Metrics" rows={page.measures} columns={columnsOf(page)} idOf={({ name }) => name} keys={false} />
      )}
      <PValues page={page} />
      <Costs page={page} />
    </section>
  );
}

function columnsOf(page: ComparisonPage): Column<MeasuredLine>[] {
  const reach = reaches(page.measures);
  return [
    { id: "metric", head: "Metric", width: "minmax(0, 1.5fr)", narrow: "minmax(0, 1fr)", cell: (one) => <Name one={one} /> },
    { id: "base", head: "Baseline", width: "96px", align: "end", optional: true, cell: (one) => <Value text={one.base_text} /> },
    { id: "candidate", head: "Candidate", width: "96px", align: "end", optional: true, cell: (one) => <Value text={one.candidate_text} /> },
    {
      id: "difference",
      head: "Difference, CI",
      term: "difference",
      width: "minmax(0, 2fr)",
      narrow: "172px",
      cell: (one) => <Difference one={one} reach={reach(one)} />,
    },
    { id: "level", head: "CI level", term: "confidenceInterval", width: "78px", align: "end", optional: true, cell: (one) => (one.interval_text ? ciText(one.confidence).replace(" CI", "") : "–") },
    { id: "pairs", head: "Cases", term: "pairs", width: "84px", align: "end", optional: true, cell: pairsText },
  ];
}

/** A value, and below it its denominator: `70 % (21 of 30)`. */
function Value({ text }: { text: string }) {
  const [value, of] = text.replace(/\)$/, "").split(" (");
  return (
    <>
      {value}
      {of && <span className={styles.under}>{of}</span>}
    </>
  );
}

function Name({ one }: { one: MeasuredLine }) {
  return (
    <span className={one.decides ? "" : "dim"}>
      <Breakable text={one.label} />
      {one.verdict && <b className={one.decides ? styles[one.verdict] : ""}> {one.verdict}</b>}
      {one.apart ? (
        <span className={`${styles.aside} ${styles.warned}`}>not scored alike</span>
      ) : (
        !one.decides && <span className={styles.aside}>reported only</span>
      )}
      {one.too_few && <span className={`${styles.aside} dim`}>too few cases to test</span>}
    </span>
  );
}

function Difference({ one, reach }: { one: MeasuredLine; reach: number }) {
  const words = `${one.difference_text}${one.interval_text && `, ${ciText(one.confidence)}: ${one.interval_text}`}`;
  return (
    <span className={styles.difference}>
      <IntervalBar
        value={one.difference}
        low={one.low}
        high={one.high}
        from={-reach}
        to={reach}
        mark={0}
        tone={toneOf(one)}
        label={`${one.label}: ${words}`}
      />
      <span className={`${styles.figures} num`} aria-hidden>
        {minus(one.difference_text)} <span className="dim">{minus(one.interval_text)}</span>
      </span>
    </span>
  );
}

function minus(text: string): string {
  return text.replace(/(^|\s)-/g, "$1−");
}

/** The p-values, for readers who ask for them: the confidence intervals above lead to the same verdicts. */
function PValues({ page: { measures } }: { page: ComparisonPage }) {
  if (!measures.length) return null;
  return (
    <details className={styles.tests}>
      <summary>p-values</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Metric</th>
            <th scope="col">
              <Term name="pValue">p</Term>
            </th>
          </tr>
        </thead>
        <tbody>
          {measures.map(({ name, label, p_value, too_few }) => (
            <tr key={name}>
              <th scope="row">
                <Breakable text={label} />
              </th>
              <td className="num">{too_few ? "–" : probability(p_value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function Costs({ page: { costs } }: { page: ComparisonPage }) {
  return costs && <p className={`${styles.cost} dim small`}>Run cost: {costs.join(" → ")}</p>;
}
