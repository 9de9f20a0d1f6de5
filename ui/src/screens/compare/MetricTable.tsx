import type { ComparisonPage, MeasuredLine } from "../../data/types";
import { Breakable } from "../../components/text/Breakable";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { type Column, Table } from "../../components/tables/Table";
import { moneyText } from "../../components/text/numberFormats";
import styles from "./Compare.module.css";
import { probability, reaches, toneOf } from "./comparisonText";

/** Every metric: base, candidate, the difference with its interval around zero, and how probable it is by chance. */
export function MetricTable({ page }: { page: ComparisonPage }) {
  const sure = `${Number((100 * page.confidence).toPrecision(4))} %`;
  return (
    <section aria-label="Metrics">
      <h2>Metrics</h2>
      <Table label="Metrics" rows={page.measures} columns={columnsOf(page, sure)} idOf={({ name }) => name} keys={false} />
      <Costs page={page} />
    </section>
  );
}

function columnsOf(page: ComparisonPage, sure: string): Column<MeasuredLine>[] {
  const reach = reaches(page.measures);
  return [
    { id: "metric", head: "Metric", width: "minmax(0, 1.5fr)", narrow: "minmax(0, 1.2fr)", cell: (one) => <Name one={one} /> },
    { id: "base", head: "baseline", width: "96px", align: "end", optional: true, cell: (one) => one.base_text },
    { id: "candidate", head: "candidate", width: "96px", align: "end", optional: true, cell: (one) => one.candidate_text },
    {
      id: "difference",
      head: `difference, ${sure} CI`,
      width: "minmax(0, 2fr)",
      narrow: "minmax(0, 1fr)",
      cell: (one) => <Difference one={one} reach={reach(one)} sure={sure} />,
    },
    {
      id: "p",
      head: "p (Holm)",
      width: "84px",
      narrow: "64px",
      align: "end",
      cell: (one) => <span title={`p = ${probability(one.p_value)} before Holm's correction`}>{probability(one.decides ? one.adjusted : one.p_value)}</span>,
    },
    { id: "pairs", head: "cases", width: "72px", align: "end", optional: true, cell: ({ pairs }) => pairs.toLocaleString("en-US") },
  ];
}

function Name({ one }: { one: MeasuredLine }) {
  return (
    <span className={one.decides ? "" : "dim"}>
      <Breakable text={one.label} />
      {one.verdict && <b className={one.decides ? styles[one.verdict] : ""}> {one.verdict}</b>}
      {one.apart ? (
        <span className={`${styles.aside} ${styles.warned}`}>not comparable</span>
      ) : (
        !one.decides && <span className={styles.aside}>reported only</span>
      )}
    </span>
  );
}

function Difference({ one, reach, sure }: { one: MeasuredLine; reach: number; sure: string }) {
  const words = `${one.difference_text}, ${sure} CI: ${one.low_text} to ${one.high_text}`;
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
        {minus(one.difference_text)} <span className="dim">{`${minus(one.low_text)} to ${minus(one.high_text)}`}</span>
      </span>
    </span>
  );
}

function minus(text: string): string {
  return text.replace(/^-/, "−");
}

function Costs({ page: { base, candidate } }: { page: ComparisonPage }) {
  if (base.cost === null && candidate.cost === null) return null;
  return (
    <p className={`${styles.cost} dim small`}>
      Cost of the run: {moneyText(base.cost)} → {moneyText(candidate.cost)}
    </p>
  );
}
