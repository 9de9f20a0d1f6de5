import { useState } from "react";
import { useLocation, useParams } from "wouter";
import { useAddress } from "../../app/address";
import { useTitle } from "../../components/text/title";
import { pathOf, useChange, useData } from "../../data/queries";
import type { EvalCaseList, EvalCaseRow, EvalSetPage, CreatedSet } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { CopyLine } from "../../components/text/Copy";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { FilterBox } from "../../components/tables/FilterBox";
import { Skeleton } from "../../components/feedback/Skeleton";
import { type Column, Table } from "../../components/tables/Table";
import { Breakable, Id } from "../../components/text/Breakable";
import { countText, numText } from "../../components/text/numberFormats";
import { AuditLine } from "../audit/AuditLine";
import { RunButton } from "../start/RunDialog";
import { CasesBar, NewCaseDialog } from "./CasesBar";
import styles from "./EvalSets.module.css";
import { HeadDialog } from "./HeadDialog";
import { Problems } from "./Problems";
import { TextEditor } from "./TextEditor";
import { caseAddress, setAddress } from "./links";
import { matchesFilter } from "./caseFilter";

const COLUMNS: readonly Column<EvalCaseRow>[] = [
  { id: "case", head: "Case", width: "minmax(0, 1.1fr)", sortBy: ({ eval_id }) => eval_id, cell: (row) => <Case row={row} /> },
  { id: "asks", head: "First message of the user", width: "minmax(0, 1.8fr)", optional: true, below: "narrow", cell: ({ asks }) => <span className={styles.asks}>{asks}</span> },
  { id: "turns", head: "Turns", width: "88px", align: "end", sortBy: ({ turns }) => turns, first: "desc", cell: (row) => <Turns row={row} /> },
  { id: "calls", head: "Calls", width: "70px", align: "end", optional: true, sortBy: ({ calls }) => calls, first: "desc", cell: ({ calls }) => <span className="num">{numText(calls)}</span> },
  { id: "expects", head: "Also expected", width: "130px", optional: true, cell: (row) => <span className="dim">{expected(row)}</span> },
  { id: "problems", head: "Problems", width: "110px", optional: true, sortBy: ({ errors, warnings }) => errors * 1e6 + warnings, first: "desc", cell: (row) => <Signs row={row} /> },
];
const WITHOUT_PROBLEMS = COLUMNS.filter(({ id }) => id !== "problems");

function Case({ row }: { row: EvalCaseRow }) {
  return (
    <>
      <b className={styles.name}><Id text={row.eval_id || "(no id)"} /></b>
      {row.tags.length > 0 && <span className={styles.under}>{row.tags.map((tag) => `#${tag}`).join(" ")}</span>}
    </>
  );
}

function Turns({ row }: { row: EvalCaseRow }) {
  return row.kind === "scenario" ? <span className="dim">scenario</span> : <span className="num">{numText(row.turns)}</span>;
}

function Signs({ row: { errors, warnings } }: { row: EvalCaseRow }) {
  return (
    <span className="num">
      {errors > 0 && <b className={styles.error} title={countText(errors, "error")}>✕ {numText(errors)} </b>}
      {warnings > 0 && <b className={styles.warning} title={countText(warnings, "warning")}>! {numText(warnings)}</b>}
    </span>
  );
}

function expected({ rubrics, has_state }: EvalCaseRow): string {
  return [rubrics ? countText(rubrics, "rubric") : "", has_state ? "state" : ""].filter(Boolean).join(", ") || "–";
}

/** Screen 9: one eval set and its cases. */
export function EvalSetScreen() {
  const { set = "" } = useParams<{ set: string }>();
  const path = `/api/eval-sets/${encodeURIComponent(set)}`;
  const { data: page, error, refetch } = useData<EvalSetPage>(path);
  const cases = useData<EvalCaseList>(page && page.cases !== null ? `${path}/cases?limit=100000` : null);
  useTitle(page?.eval_set_id ?? "Eval set");
  const [query] = useAddress();
  const asText = query.get("as") === "text";
  if (!page) return error ? <NotFound error={error} retry={refetch} /> : <Skeleton rows={8} />;
  return (
    <>
      <Head page={page} />
      {page.cases === null || asText ? <TextEditor key={page.id} set={page.id} isUnreadable={page.cases === null} /> : <Problems problems={page.problems} />}
      {page.cases !== null && !asText &&
        (cases.data ? <Cases page={page} rows={cases.data.items} /> : cases.error ? <ErrorNote error={cases.error} retry={cases.refetch} /> : <Skeleton rows={8} />)}
    </>
  );
}

function NotFound({ error, retry }: { error: { message: string; status: number }; retry: () => unknown }) {
  if (error.status !== 404) return <ErrorNote error={error} retry={retry} />;
  return <Empty title="Eval set not found" does={error.message} to="/eval-sets" toName="All eval sets" />;
}

function Head({ page }: { page: EvalSetPage }) {
  const [isEditing, setEditing] = useState(false);
  const [query, setQuery] = useAddress();
  const asText = query.get("as") === "text";
  return (
    <>
      <p className={`dim small ${styles.name}`}>{page.path}</p>
      <div className="row">
        <h1 className={styles.name}><Breakable text={page.name || page.eval_set_id || page.path} /></h1>
        {page.can_edit && page.has_head && <Button look="quiet" action="edit" does="edit the properties of the eval set" aria-label="Edit the properties of the eval set" onClick={() => setEditing(true)}>Edit</Button>}
        <span className="grow" />
        {page.cases ? <RunButton label="Run" title={`Run ${page.name || page.eval_set_id || page.path}`} source={pathOf("/api/start/of-set", { set: page.id })} /> : null}
        {page.cases !== null && <Button look="quiet" action="view" does={asText ? "show the cases" : "edit as text"} onClick={() => setQuery({ as: asText ? null : "text" })}>{asText ? "Show the cases" : "Edit as text"}</Button>}
      </div>
      {page.description && <p>{page.description}</p>}
      <p className="dim">
        {page.cases === null ? "This file cannot be read: correct its text here." : `${countText(page.cases, "case")} · ${page.kind}`}
        {page.cases !== null && page.why_not && (page.is_old ? " · only read here" : ` · ${page.why_not}`)}
      </p>
      {page.migrates_to !== null && <Migrate page={page} to={page.migrates_to} />}
      {page.cases ? <CopyLine text={page.command} action="command" /> : null}
      {page.eval_set_id !== null && <AuditLine set={page.eval_set_id} />}
      {isEditing && <HeadDialog page={page} close={() => setEditing(false)} />}
    </>
  );
}

function Migrate({ page, to }: { page: EvalSetPage; to: string }) {
  const [, navigate] = useLocation();
  const change = useChange<CreatedSet>(["/api/eval-sets"]);
  const path = `/api/eval-sets/${encodeURIComponent(page.id)}/migrate`;
  return (
    <div className={`row ${styles.migrate}`}>
      <Button action="migrate" busy={change.isPending} onClick={() => change.mutate({ method: "POST", path }, { onSuccess: ({ body }) => navigate(setAddress(body.id)) })}>
        Convert to the current format
      </Button>
      <span className="dim">writes {to}; this file stays unchanged</span>
      <ErrorNote error={change.error} />
    </div>
  );
}

function Cases({ page, rows }: { page: EvalSetPage; rows: readonly EvalCaseRow[] }) {
  const [query, setQuery] = useAddress();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isMaking, setMaking] = useState(false);
  const line = query.get("q") ?? "";
  const found = rows.filter((row) => matchesFilter(row, line));
  const choose = (id: string, on?: boolean): void =>
    setChosen((was) => {
      const next = new Set(was);
      if (on ?? !was.has(id)) next.add(id);
      else next.delete(id);
      return next;
    });
  const tags = [...new Set(rows.flatMap((row) => row.tags))].slice(0, 8).map((tag) => `tag:${tag}`).filter((offer) => !/\s/.test(offer));
  return (
    <>
      <div className="row">
        <h2>Cases</h2>
        <span className="grow" />
        {page.can_edit && <Button action="add" does="add a case" onClick={() => setMaking(true)}>New case</Button>}
      </div>
      <FilterBox label="Filter cases" placeholder="part of an id, tag:…, problems" value={line} onChange={(q) => setQuery({ q })} offers={tags} found={`${numText(found.length)} of ${numText(rows.length)}`} />
      {page.can_edit && <CasesBar set={page.id} chosen={rows.filter(({ eval_id }) => chosen.has(eval_id))} done={() => setChosen(new Set())} />}
      {found.length ? (
        <Table
          label="Cases"
          rows={found}
          columns={rows.some(({ errors, warnings }) => errors || warnings) ? COLUMNS : WITHOUT_PROBLEMS}
          idOf={({ eval_id }) => eval_id}
          href={({ eval_id }) => caseAddress(page.id, eval_id)}
          sort={query.get("sort") ?? ""}
          onSort={(sort) => setQuery({ sort })}
          {...(page.can_edit ? { choice: { chosen, onChoose: choose, label: "choose" } } : {})}
        />
      ) : (
        <p className="dim">{rows.length ? "No case matches this filter." : "No cases yet: add one here, or save a chat as one."}</p>
      )}
      <NewCaseDialog open={isMaking} close={() => setMaking(false)} set={page.id} />
    </>
  );
}
