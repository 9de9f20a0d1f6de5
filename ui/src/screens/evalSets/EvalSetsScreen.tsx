import { useState } from "react";
import { useLocation } from "wouter";
import { useAddress } from "../../app/address";
import { useTitle } from "../../components/text/title";
import { useChange, useData } from "../../data/queries";
import type { EvalSetList, EvalSetRow, CreatedSet } from "../../data/types";
import { Breakable } from "../../components/text/Breakable";
import { Button } from "../../components/forms/Button";
import { Dialog } from "../../components/forms/Dialog";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { SelectField, TextField } from "../../components/forms/Field";
import { FilterBox } from "../../components/tables/FilterBox";
import { Prose } from "../../components/text/Prose";
import { Skeleton } from "../../components/feedback/Skeleton";
import { type Column, Table } from "../../components/tables/Table";
import { countText, numText } from "../../components/text/numberFormats";
import styles from "./EvalSets.module.css";
import { setAddress } from "./links";

const FORMS = { json: "JSON", yaml: "YAML", lines: "JSON lines" } as const;

const COLUMNS: readonly Column<EvalSetRow>[] = [
  { id: "path", head: "File", width: "minmax(0, 1.6fr)", sortBy: ({ path }) => path, cell: (row) => <Name row={row} /> },
  { id: "cases", head: "Cases", width: "80px", align: "end", sortBy: ({ cases }) => cases, first: "desc", cell: ({ cases }) => <span className="num">{numText(cases)}</span> },
  { id: "form", head: "Written as", width: "170px", optional: true, cell: (row) => <span className="dim">{row.is_old ? row.kind : FORMS[row.form as keyof typeof FORMS]}</span> },
  { id: "problems", head: "Problems", width: "minmax(0, 1.2fr)", optional: true, sortBy: ({ errors, warnings }) => errors * 1e6 + warnings, first: "desc", cell: (row) => <ProblemCounts row={row} /> },
];

function Name({ row }: { row: EvalSetRow }) {
  const name = row.name && row.name !== row.eval_set_id ? `${row.name} · ` : "";
  return (
    <>
      <b className={styles.name}><Breakable text={row.path} /></b>
      <span className={styles.under}>{row.eval_set_id === null ? "cannot be read" : `${name}${row.eval_set_id}`}</span>
      {row.errors + row.warnings > 0 && <span className={styles.narrowOnly}><ProblemCounts row={row} /></span>}
    </>
  );
}

function ProblemCounts({ row }: { row: { errors: number; warnings: number; first_problem?: string | null } }) {
  if (!row.errors && !row.warnings) return <span className="dim">none</span>;
  return (
    <span className={styles.problemCounts}>
      {row.errors > 0 && <b className={styles.error}>✕ {countText(row.errors, "error")} </b>}
      {row.warnings > 0 && <b className={styles.warning}>! {countText(row.warnings, "warning")} </b>}
      {row.first_problem && <span className={styles.under}><Prose text={row.first_problem} /></span>}
    </span>
  );
}

/** Screen 9: the eval sets of the project. */
export function EvalSetsScreen() {
  useTitle("Eval sets");
  const [query, setQuery] = useAddress();
  const [isMaking, setMaking] = useState(false);
  const { data, error, refetch } = useData<EvalSetList>("/api/eval-sets");
  if (!data) return error ? <ErrorNote error={error} retry={refetch} /> : <Skeleton rows={6} />;
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const rows = data.items.filter((row) => words.every((word) => `${row.path} ${row.eval_set_id} ${row.name}`.toLowerCase().includes(word)));
  const cases = data.items.reduce((sum, row) => sum + (row.cases ?? 0), 0);
  return (
    <>
      <div className="row">
        <h1>Eval sets</h1>
        <span className="grow" />
        <Button action="add" does="create an eval set" onClick={() => setMaking(true)}>New eval set</Button>
      </div>
      {data.items.length ? (
        <>
          <p className="dim">
            {countText(data.items.length, "file")} with {countText(cases, "case")} below this project’s folder.
          </p>
          <FilterBox label="Filter eval sets" placeholder="part of a path or an id" value={query.get("q") ?? ""} onChange={(q) => setQuery({ q })} found={`${numText(rows.length)} of ${numText(data.items.length)}`} />
          <Table label="Eval sets" rows={rows} columns={COLUMNS} idOf={({ id }) => id} href={({ id }) => setAddress(id)} sort={query.get("sort") ?? ""} onSort={(sort) => setQuery({ sort })} />
        </>
      ) : (
        <Empty inside title="No eval sets yet" does="Create one here, record a conversation, or let Proctor write an example." command="proctor init" />
      )}
      <NewSetDialog open={isMaking} close={() => setMaking(false)} folders={data.folders} />
    </>
  );
}

function NewSetDialog({ open, close, folders }: { open: boolean; close: () => void; folders: readonly string[] }) {
  const [, navigate] = useLocation();
  const [form, setForm] = useState({ name: "", folder: "", form: "json" });
  const change = useChange<CreatedSet>(["/api/eval-sets"]);
  const make = (): void => change.mutate({ method: "POST", path: "/api/eval-sets", body: form }, { onSuccess: ({ body }) => navigate(setAddress(body.id)) });
  const foot = (
    <Button look="first" busy={change.isPending} disabled={!form.name} onClick={make}>
      Create
    </Button>
  );
  return (
    <Dialog open={open} onClose={close} title="A new eval set" foot={foot}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (form.name) make();
        }}
      >
        <TextField label="Name" hint="Its id, and the name of its file: letters, digits, _" error={change.error?.message ?? null} value={form.name} onChange={(event) => setForm({ ...form, name: event.target.value })} />
        <SelectField label="Folder" value={form.folder} options={folders.map((one) => [one, one || "the project’s own"] as const)} onChange={(event) => setForm({ ...form, folder: event.target.value })} />
        <SelectField label="Written as" value={form.form} options={Object.entries(FORMS)} onChange={(event) => setForm({ ...form, form: event.target.value })} />
      </form>
    </Dialog>
  );
}
