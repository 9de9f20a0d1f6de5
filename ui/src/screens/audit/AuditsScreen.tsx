import { useAddress } from "../../app/address";
import { useTitle } from "../../components/text/title";
import { pathOf, useData } from "../../data/queries";
import type { AuditRow, AuditsPage } from "../../data/types";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { Skeleton } from "../../components/feedback/Skeleton";
import { Button } from "../../components/forms/Button";
import { type Column, Table } from "../../components/tables/Table";
import { Breakable } from "../../components/text/Breakable";
import { When } from "../../components/text/Num";
import { countText, numText, percentText } from "../../components/text/numberFormats";
import { RunKinds } from "../runs/RunKinds";
import styles from "./Audit.module.css";
import { totals } from "./auditText";

const PAGE = 100;

/** The audits of the store, newest first. No list of runs has them. */
export function AuditsScreen() {
  useTitle("Audits");
  const [query, setQuery] = useAddress();
  const before = query.get("before");
  const set = query.get("set");
  const { data, error, refetch } = useData<AuditsPage>(pathOf("/api/audits", { limit: PAGE, before, set }), { poll: 30_000 });
  if (data && !data.total) return <NoAudits />;
  return (
    <>
      <RunKinds at="audits" />
      <p className={styles.lead}>
        An audit plants faults into recorded conversations. A case that still passes does not notice them.
        {set !== null && <> Only audits of {set}. <Button look="quiet" action="showAll" onClick={() => setQuery({ set: null, before: null })}>Show all</Button></>}
      </p>
      <ErrorNote error={error} retry={refetch} />
      {data ? (
        <Table label="Audits" rows={data.items} columns={COLUMNS} idOf={({ run_id }) => run_id} href={({ run_id }) => `/audits/${encodeURIComponent(run_id)}`} />
      ) : (
        !error && <div className="panel"><Skeleton rows={6} height="56px" /></div>
      )}
      {(before || data?.next) && (
        <div className={`${styles.pages} row no-print`}>
          {before && <Button action="newest" does="newest audits" onClick={() => setQuery({ before: null }, { push: true })}>Newest</Button>}
          <span className="grow" />
          {data?.next && <Button action="older" does="older audits" onClick={() => setQuery({ before: data.next }, { push: true })}>Older</Button>}
        </div>
      )}
    </>
  );
}

const COLUMNS: readonly Column<AuditRow>[] = [
  { id: "sets", head: "Eval sets", width: "minmax(0, 1.3fr)", cell: (row) => <Sets row={row} /> },
  { id: "caught", head: "Mutants caught", width: "168px", narrow: "104px", align: "end", cell: (row) => <Caught row={row} /> },
  { id: "blind", head: "Blind to", width: "minmax(0, 1.6fr)", optional: true, cell: (row) => <Blind row={row} /> },
  { id: "any", head: "Passed by any agent", width: "134px", align: "end", optional: true, wideOnly: true, cell: (row) => <PassedByAny row={row} /> },
  { id: "when", head: "Audited", width: "112px", align: "end", optional: true, cell: ({ created_at }) => <When at={created_at} /> },
];

function Sets({ row }: { row: AuditRow }) {
  return (
    <>
      <b><Breakable text={row.sets.map(({ eval_set_id }) => eval_set_id).join(", ")} /></b>
      <span className={styles.under}>
        {countText(row.cases, "case")} · <code>{row.short}</code>
        {row.mutants.length > 0 && ` · only ${row.mutants.join(", ")}`}
      </span>
    </>
  );
}

function Caught({ row }: { row: AuditRow }) {
  const { count, of } = totals(row);
  if (!of) return <span className="dim">–</span>;
  return (
    <>
      <span className="num">{percentText(count / of)}</span>
      <span className={styles.under}>{numText(count)} of {numText(of)}</span>
    </>
  );
}

const FEW = 4;

function Blind({ row }: { row: AuditRow }) {
  const { blind, of } = totals(row);
  if (!blind.length) return <span className="dim">{of ? "nothing" : "–"}</span>;
  const more = blind.length > FEW ? ` and ${blind.length - FEW} more` : "";
  return <span className={styles.bad}>{blind.slice(0, FEW).join(", ") + more}</span>;
}

function PassedByAny({ row }: { row: AuditRow }) {
  const { passedByAny } = totals(row);
  return passedByAny ? <span className={styles.bad}>{countText(passedByAny, "case")}</span> : <span className="dim">none</span>;
}

function NoAudits() {
  return (
    <>
      <RunKinds at="audits" />
      <Empty
        inside
        title="No audits yet"
        does="An audit plants faults into the recorded conversations of an eval set, and reports which of them its cases notice. It calls no agent and no model."
        command="proctor audit EVAL_SET"
      />
    </>
  );
}

