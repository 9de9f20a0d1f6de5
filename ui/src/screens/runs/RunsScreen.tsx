import { useEffect, useState } from "react";
import { Link, Redirect, useLocation } from "wouter";
import { useAddress } from "../../app/address";
import { useTitle } from "../../components/text/title";
import { pathOf, useData, useAvailable, useSource } from "../../data/queries";
import type { RunRow, RunsPage } from "../../data/types";
import { Button, LinkButton } from "../../components/forms/Button";
import { CopyMarkdown } from "../../components/text/Copy";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { FilterBox, type Offer } from "../../components/tables/FilterBox";
import { Skeleton } from "../../components/feedback/Skeleton";
import { type Choice, Table } from "../../components/tables/Table";
import { RunKinds } from "./RunKinds";
import styles from "./RunsScreen.module.css";
import { COLUMNS } from "./runColumns";
import { readFilter, runsPath } from "./runFilter";
import { asMarkdown, comparePath, listedCountText, summary } from "./runsText";

const BUSY = 2_000; // milliseconds between looks while something runs
const IDLE = 5_000;
const OFFERS: readonly Offer[] = [
  ["outcome:failed,error", "Failed or error"],
  ["outcome:inconclusive", "Inconclusive"],
  ["state:running", "Running"],
  ["since:7d", "Last 7 days"],
  ["starred", "Starred"],
];

/** Screen 1: the runs of the store, newest first. */
export function RunsScreen() {
  useTitle("Runs");
  const [query, setQuery] = useAddress();
  const line = query.get("q") ?? "";
  const before = query.get("before");
  const filter = readFilter(line);
  const { live } = useSource();
  const { data, error, refetch } = useRuns(live ? runsPath(filter, before) : "/api/runs"); // a file has the few that it has
  const [choice, chosen] = useChoice(data?.items ?? []);
  if (data && !data.total) return <NoRuns />;
  const rows = data?.items.filter(({ created_at }) => created_at >= filter.since) ?? [];
  const older = rows.length === data?.items.length ? data.next : null;
  const setLine = (q: string) => setQuery({ q, before: null });
  return (
    <>
      <div className="row">
        <RunKinds at="runs" />
        <span className={`grow ${styles.gap}`} />
        {live ? <Comparison chosen={chosen} /> : <FileComparisonLinks rows={rows} />}
        <CopyMarkdown text={() => asMarkdown(rows)} />
        {live && (
          <LinkButton to="/start" look="first">
            Start a run
          </LinkButton>
        )}
      </div>
      <p className={styles.sentence}>{data && !before && !line ? summary(data) : ""}</p>
      {live && (
        <FilterBox
          label="Filter runs"
          placeholder="agent:travel* outcome:failed"
          value={line}
          onChange={setLine}
          offers={OFFERS}
          found={data ? listedCountText(rows.length, data.total, before !== null || older !== null) : ""}
        />
      )}
      <ErrorNote error={error} retry={refetch} />
      {filter.problems.length > 0 && <ErrorNote error={{ message: filter.problems.join("; ") }} />}
      {data ? <RunTable rows={rows} choice={live ? choice : null} setLine={setLine} /> : !error && <Loading />}
      <Pages before={before} older={older} setBefore={(next) => setQuery({ before: next }, { push: true })} />
    </>
  );
}

/** The page of the list, read repeatedly: more often while something runs. */
function useRuns(path: string) {
  const [poll, setPoll] = useState(IDLE);
  const found = useData<RunsPage>(path, { poll });
  const busy = found.data?.items.some(({ state }) => state === "running") ?? false;
  useEffect(() => setPoll(busy ? BUSY : IDLE), [busy]);
  return found;
}

function RunTable({ rows, choice, setLine }: { rows: readonly RunRow[]; choice: Choice | null; setLine: (line: string) => void }) {
  if (!rows.length) {
    return (
      <Empty inside title="No matching run" does="Nothing matches the filter.">
        <Button action="showAll" does="show all runs" onClick={() => setLine("")}>Show all runs</Button>
      </Empty>
    );
  }
  return (
    <Table
      label="Runs"
      rows={rows}
      columns={COLUMNS}
      idOf={({ run_id }) => run_id}
      href={({ run_id }) => `/runs/${encodeURIComponent(run_id)}`}
      {...(choice ? { choice } : {})}
    />
  );
}

/** The runs that were chosen to be compared, oldest first; they stay chosen on other pages of the list. */
function useChoice(items: readonly RunRow[]): [Choice, readonly string[]] {
  const [chosen, setChosen] = useState<ReadonlyMap<string, number>>(new Map());
  const onChoose = (id: string, on?: boolean) =>
    setChosen((was) => {
      const next = new Map(was);
      if (on ?? !was.has(id)) next.set(id, items.find(({ run_id }) => run_id === id)?.created_at ?? 0);
      else next.delete(id);
      return next;
    });
  const inOrder = [...chosen].sort(([, one], [, other]) => one - other).map(([id]) => id);
  return [{ chosen: new Set(inOrder), onChoose, label: "Compare" }, inOrder];
}

function Comparison({ chosen }: { chosen: readonly string[] }) {
  const [, navigate] = useLocation();
  const path = comparePath(chosen);
  const go = () => path && navigate(path);
  const hint = chosen.length === 1 ? "choose one more" : "choose two or more with the boxes, or x";
  return (
    <Button onClick={go} disabled={!path && hint} action="compare" does="compare the chosen runs">
      Compare{chosen.length ? ` ${chosen.length}` : ""}
    </Button>
  );
}

/** Links to the comparisons that a file contains. */
function FileComparisonLinks({ rows }: { rows: readonly RunRow[] }) {
  const has = useAvailable();
  const oldestFirst = [...rows].sort((one, other) => one.created_at - other.created_at).map(({ run_id }) => run_id);
  const compare = comparePath(oldestFirst);
  const matrix = pathOf("/matrix", { runs: oldestFirst.join(",") });
  return (
    <>
      {compare !== null && compare !== matrix && has(`/api${compare}`) && <LinkButton to={compare} action="compare">Compare</LinkButton>}
      {has(`/api${matrix}`) && <LinkButton to={matrix} action="view" does="runs side by side">Side by side</LinkButton>}
    </>
  );
}

function Pages({ before, older, setBefore }: { before: string | null; older: string | null; setBefore: (to: string | null) => void }) {
  if (!before && !older) return null;
  return (
    <div className={`${styles.pages} row no-print`}>
      {before && <Button action="newest" does="newest runs" onClick={() => setBefore(null)}>Newest</Button>}
      <span className="grow" />
      {older && <Button action="older" does="older runs" onClick={() => setBefore(older)}>Older</Button>}
    </div>
  );
}

function Loading() {
  return (
    <div className="panel">
      <Skeleton rows={10} height="56px" />
    </div>
  );
}

function NoRuns() {
  const { live } = useSource();
  const has = useAvailable();
  if (!live && has("/api/audits")) return <Redirect to="/audits" replace />; // the file of an audit
  return (
    <Empty
      title="No runs yet"
      does="Evaluate an agent on an eval set. The run appears here when it starts."
      command="proctor eval AGENT EVAL_SET"
    >
      {live && (
        <p>
          <Link href="/audits">Audits of eval sets</Link>
        </p>
      )}
      {live && <p className="dim">New here? <code>proctor init</code> writes a first agent and its eval set.</p>}
    </Empty>
  );
}
