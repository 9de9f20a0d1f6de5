import type { RunRow } from "../../data/types";
import { Breakable } from "../../components/text/Breakable";
import { OutcomeCounts } from "../../components/charts/OutcomeCounts";
import { Cost, Percent, Seconds, When } from "../../components/text/Num";
import { Outcome } from "../../components/charts/Outcome";
import { Sparkline } from "../../components/charts/Sparkline";
import type { Column } from "../../components/tables/Table";
import { numText, percentText } from "../../components/text/numberFormats";
import styles from "./RunsScreen.module.css";

export const COLUMNS: readonly Column<RunRow>[] = [
  { id: "agent", head: "Agent and sets", width: "minmax(116px, 1.6fr)", narrow: "minmax(0, 1.6fr)", cell: (row) => <Name row={row} /> },
  { id: "outcome", head: "Outcome", width: "136px", narrow: "114px", cell: (row) => <Standing row={row} /> },
  { id: "cases", head: "Cases", width: "minmax(0, 1.3fr)", optional: true, wideOnly: true, cell: (row) => <Cases row={row} /> },
  { id: "rate", head: "Cases passed, 95 % CI", term: "confidenceInterval", width: "164px", narrow: "66px", align: "end", cell: (row) => <Rate row={row} /> },
  { id: "trend", head: "Trend", term: "trend", width: "112px", optional: true, wideOnly: true, cell: (row) => <Trend row={row} /> },
  { id: "cost", head: "Cost", width: "112px", align: "end", optional: true, wideOnly: true, cell: (row) => <Cost of={row} /> },
  { id: "took", head: "Duration", width: "86px", align: "end", optional: true, wideOnly: true, cell: ({ duration }) => <Seconds value={duration} /> },
  { id: "commit", head: "Commit", width: "96px", optional: true, wideOnly: true, cell: ({ commit }) => <code className="dim">{shortCommit(commit)}</code> },
  { id: "when", head: "Started", width: "112px", align: "end", optional: true, cell: (row) => <When at={row.created_at} /> },
];

/** The beginning of a commit, with the `+` of a changed folder. */
export function shortCommit(commit: string | null): string {
  return commit ? commit.replace(/\+$/, "").slice(0, 9) + (commit.endsWith("+") ? "+" : "") : "–";
}

function Name({ row }: { row: RunRow }) {
  return (
    <>
      <b className={styles.agent}>
        {row.starred && <span role="img" aria-label="starred">★ </span>}
        <Breakable text={row.agent} />
      </b>
      <span className={styles.under} title={row.note || undefined}>
        {row.name && <><b>{row.name}</b> · </>}
        <Breakable text={row.sets.join(", ")} /> · <code>{row.short}</code>
        {row.imported_from && " · imported"}
      </span>
    </>
  );
}

function Standing({ row }: { row: RunRow }) {
  return <Outcome outcome={row.outcome ?? row.standing} />;
}

function Cases({ row }: { row: RunRow }) {
  return (
    <>
      <OutcomeCounts counts={row.state === "running" ? { ...row.counts, not_run: 0 } : row.counts} />
      <span className={styles.under}>
        of {numText(row.cases)}
        {row.num_runs > 1 && `, ${row.num_runs} trials each`}
        {liveText(row)}
        {row.stopped_by && ` · ${stoppedBy(row.stopped_by)}`}
      </span>
    </>
  );
}

/** How far a run is that is in progress: `, 12 trials stored, 4 in flight`; empty for any other run. */
export function liveText({ state, trials, in_flight }: Pick<RunRow, "state" | "trials" | "in_flight">): string {
  if (state !== "running") return "";
  return `, ${numText(trials)} ${trials === 1 ? "trial" : "trials"} stored${in_flight ? `, ${numText(in_flight)} in flight` : ""}`;
}

/** What a pass rate leaves out: `7 not run, 1 set could not be run`; of a run that is in progress `7 pending`. */
export function missingText({ counts, state, pass_rate }: Pick<RunRow, "counts" | "state" | "pass_rate">): string {
  const undecided = counts.not_run ? `${numText(counts.not_run)} ${state === "running" ? "pending" : "not run"}` : "";
  return [undecided, unreadText(pass_rate.unread_sets)].filter(Boolean).join(", ");
}

/** `1 set could not be run`; empty for none. */
export function unreadText(sets: number): string {
  return sets ? `${numText(sets)} ${sets === 1 ? "set" : "sets"} could not be run` : "";
}

/** A text that follows a comma, if there is one. */
export function afterComma(text: string): string {
  return text && `, ${text}`;
}

function Rate({ row }: { row: RunRow }) {
  const { pass_rate } = row;
  const missing = missingText(row);
  if (pass_rate.rate === null) {
    return (
      <>
        {pass_rate.of ? <span className="num">{numText(pass_rate.count)} of {numText(pass_rate.of)}</span> : <span className="dim">–</span>}
        {missing && <span className={styles.under}>{missing}</span>}
      </>
    );
  }
  return (
    <>
      <Percent value={pass_rate.rate} low={pass_rate.low} high={pass_rate.high} />
      <span className={styles.under}>
        {numText(pass_rate.count)} of {numText(pass_rate.of)}
      </span>
    </>
  );
}

function Trend({ row: { trend } }: { row: RunRow }) {
  if (trend.length < 2) return null;
  return <Sparkline values={trend.map(({ count, of }) => count / of)} width={88} label={trendText(trend)} />;
}

/** `cases passed in the last 3 runs: 62.5 % (5 of 8) to 87.5 % (7 of 8)`. */
export function trendText(trend: RunRow["trend"]): string {
  const text = (at: number) => {
    const { count, of } = trend.at(at) ?? { count: 0, of: 1 };
    return `${percentText(count / of)} (${numText(count)} of ${numText(of)})`;
  };
  return `cases passed in the last ${trend.length} runs: ${text(0)} to ${text(-1)}`;
}

const STOPPED: Readonly<Record<string, string>> = { "Ctrl-C": "cancelled", fail_fast: "stopped at the first case that did not pass" };

/** What ended a run before its end. The page's own Cancel is a Ctrl-C for the run. */
export function stoppedBy(stop: string): string {
  return STOPPED[stop] ?? stop;
}
