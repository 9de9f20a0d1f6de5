import type { CaseRow, RunPage } from "../../../data/types";
import { Breakable, Id } from "../../../components/text/Breakable";
import { Cost } from "../../../components/text/Num";
import { Outcome, inkClass, outcomeWord, shownOutcome, signOf } from "../../../components/charts/Outcome";
import { CHANGE_WORDS } from "../../../components/terms/caseWords";
import { Prose } from "../../../components/text/Prose";
import { TrialStrip } from "../../../components/charts/TrialStrip";
import type { Column } from "../../../components/tables/Table";
import styles from "../Run.module.css";
import { rank } from "../caseFilter";
import { columnName, metricText, scoreOf } from "./metricScore";
import { decidingMetrics, mostMissed } from "../runText";

export const MOST_METRICS = 4;
export const MOST_CHOSEN = 6;
export const MOST_MEDIUM = 2; // on a page of medium width
const SCORE = 60; // pixels of a score and its margins

/** The columns of a run's cases: a metric each that decides, as far as there is room. */
export function columnsOf(page: RunPage, { costs, chosen }: { costs: boolean; chosen: readonly string[] | null }): Column<CaseRow>[] {
  const several = page.sets.length > 1;
  const metrics = chosen ? page.metrics.filter(({ name }) => chosen.includes(columnName(name))).slice(0, MOST_CHOSEN) : decidingMetrics(page, MOST_METRICS);
  const medium = mostMissed(metrics, MOST_MEDIUM);
  const few = metrics.length <= MOST_METRICS;
  const repeated = page.num_runs > 1;
  // the reason needs about 260 pixels; the cost, which arrives later, must not move it
  const room = metrics.length + Number(repeated) <= MOST_METRICS;
  return [
    {
      id: "case",
      head: "Case",
      width: "minmax(150px, 1.3fr)",
      narrow: "minmax(0, 1fr)",
      sortBy: (row) => row.eval_id,
      cell: (row) => <Name row={row} several={several} />,
    },
    { id: "outcome", head: "Outcome", width: "132px", narrow: "112px", sortBy: rank, cell: (row) => <Outcome outcome={page.state === "running" && row.outcome === "not_run" ? "pending" : shownOutcome(row.outcome, row.strip.length)} /> },
    ...(repeated ? [trials] : []),
    { id: "why", head: "Why", width: "minmax(200px, 2.2fr)", below: room ? "narrow" : "always", cell: (row) => <Why row={row} /> },
    ...metrics.map(({ name, short, thresholds }): Column<CaseRow> => ({
      id: columnName(name),
      head: <span className={styles.metric} title={`${name}${thresholds.length ? `, threshold ${thresholds.join(" or ")}` : ""}`}><Breakable text={short} /></span>,
      width: `minmax(${SCORE}px, ${few ? Math.min(116, Math.max(76, 34 + 7 * short.length)) : 84}px)`,
      ...(medium.some((one) => one.name === name) ? {} : { wideOnly: true }),
      align: "end",
      optional: true,
      sortBy: (row) => scoreOf(row, name) ?? null,
      cell: (row) => <MetricCell row={row} name={name} />,
    })),
    ...((chosen ? chosen.includes("cost") : costs) ? [cost] : []),
  ];
}

const trials: Column<CaseRow> = {
  id: "trials",
  head: "Trials",
  term: "trials",
  width: "minmax(76px, 138px)",
  optional: true,
  sortBy: (row) => (row.strip ? (row.strip.split("p").length - 1) / row.strip.length : null),
  cell: (row) => <TrialStrip strip={row.strip} />,
};

/** Whether the cost of a case is known, at least in part. */
export function hasCost({ cost_text }: CaseRow): boolean {
  return cost_text.includes("$");
}

const cost: Column<CaseRow> = {
  id: "cost",
  head: "Cost",
  width: "108px",
  align: "end",
  optional: true,
  first: "desc",
  sortBy: (row) => row.cost,
  cell: (row) => <Cost of={row} />,
};

/** A score: one that misses the threshold in the colour of a failure, one of a metric in error with the sign of an error. */
function MetricCell({ row, name }: { row: CaseRow; name: string }) {
  const text = metricText(row, name);
  if (!row.errors.includes(name)) return <span className={`num ${row.missed.includes(name) ? styles.missed : ""}`}>{text}</span>;
  return (
    <span className={`num ${inkClass("error")}`} title="Error: this metric failed, or no trial has a score">
      <span aria-hidden>{signOf("error")} </span>
      {text !== "error" && <span className="hidden">error: </span>}
      {text}
    </span>
  );
}

function Name({ row, several }: { row: CaseRow; several: boolean }) {
  return (
    <>
      <b className={row.outcome === "not_run" && !row.strip ? styles.waiting : undefined}>
        <Id text={row.eval_id} />
      </b>
      {(several || row.change || row.played) && (
        <span className={styles.under}>
          {[changeText(row), several ? row.eval_set_id : "", row.played ? "simulated user" : ""].filter(Boolean).join(" · ")}
        </span>
      )}
      {row.strip.length > 1 && (
        <span className={styles.strip}>
          <TrialStrip strip={row.strip} />
        </span>
      )}
    </>
  );
}

function Why({ row }: { row: CaseRow }) {
  if (row.why) {
    return (
      <span className={`${styles.why} ${row.outcome === "passed" ? "dim" : ""}`} title={row.why}>
        <Prose text={row.why} />
      </span>
    );
  }
  return row.outcome === "passed" && row.flaky ? <span className="dim">flaky</span> : null;
}

/** How a case differs from the run before: `was passed`, `has missing verdicts, was passed`, `changed within noise`. */
export function changeText(row: CaseRow): string {
  if (!row.change || !row.was) return "";
  const was = row.was === row.outcome ? "" : `was ${outcomeWord(row.was)}`;
  if (row.change === "worse" || row.change === "better") return was || CHANGE_WORDS[row.change === "worse" ? "fewer_pass" : "more_pass"][0];
  return [CHANGE_WORDS[row.change][0], was].filter(Boolean).join(", ");
}
