import { useState } from "react";
import { useLocation } from "wouter";
import { ACTIONS } from "../../app/actions";
import { bind, useKeys } from "../../app/keyboard";
import { pathOf, useChange, useData } from "../../data/queries";
import type { BaselinesPage, RunManagement, RunPage } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { Dialog } from "../../components/forms/Dialog";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { AreaField, TextField } from "../../components/forms/Field";
import styles from "./Run.module.css";
import { baselineWarnings, countOf, deletionText, partialExportText, replacedBaseline } from "./runText";

/** What people wrote about a run, and what else can be done with it. */
export function useManagement(run: string, live: boolean) {
  return useData<RunManagement>(live ? `/api/runs/${encodeURIComponent(run)}/management` : null, { fresh: 60_000 });
}

/** The star: pressed or not. */
export function Star({ page, management }: { page: RunPage; management: ReturnType<typeof useManagement> }) {
  const managed = management.data;
  const change = useAnnotation(page.run_id);
  const starred = managed?.starred ?? false;
  const toggle = () => change.mutate(annotationOf(page.run_id, { starred: !starred }));
  return (
    <>
      <Button look="quiet" aria-pressed={starred} aria-label="Star" action="star" reading={management.isPending} disabled={!managed && "it could not be read"} busy={change.isPending} onClick={toggle}>
        {starred ? "★" : "☆"}
      </Button>
      <ErrorNote error={change.error} />
    </>
  );
}

const PARTS = ["name", "note", "baseline", "export", "remove"] as const;
type Part = (typeof PARTS)[number];

/** The button and the dialog for name, note, baseline, export and deletion. */
export function Manage({ page, managed }: { page: RunPage; managed: RunManagement | undefined }) {
  const [part, setPart] = useState<Part | null>(null);
  useKeys(PARTS.map((one) => bind(one, () => setPart(one))));
  return (
    <>
      <Button title={`Name, note, baseline, export, deletion (${PARTS.map((one) => ACTIONS[one][0]).join(", ")})`} disabled={!managed} onClick={() => setPart("name")}>Manage …</Button>
      {managed && (
        <Dialog open={part !== null} begin={part ?? ""} onClose={() => setPart(null)} title={`Run ${page.short}`}>
          <NameAndNote page={page} managed={managed} />
          <Baseline page={page} managed={managed} />
          <Export page={page} />
          <Deletion page={page} managed={managed} />
        </Dialog>
      )}
    </>
  );
}

/** What is left out stays as it is: another person may have changed it meanwhile. */
type AnnotationChange = Partial<Pick<RunManagement, "name" | "note" | "starred">>;

function annotationOf(run: string, body: AnnotationChange) {
  return { method: "PUT", path: `/api/runs/${encodeURIComponent(run)}/annotation`, body } as const;
}

function useAnnotation(run: string) {
  return useChange<RunManagement>([`/api/runs/${encodeURIComponent(run)}/management`, "/api/runs?"]);
}

function NameAndNote({ page, managed }: { page: RunPage; managed: RunManagement }) {
  const [name, setName] = useState(managed.name);
  const [note, setNote] = useState(managed.note);
  const change = useAnnotation(page.run_id);
  const isChanged = name.trim() !== managed.name || note !== managed.note;
  return (
    <form
      className={styles.manage}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(annotationOf(page.run_id, { name, note }));
      }}
    >
      <TextField label="Name" data-begin="name" maxLength={200} value={name} onChange={({ target }) => setName(target.value)} />
      <AreaField label="Note" data-begin="note" maxLength={10_000} value={note} onChange={({ target }) => setNote(target.value)} />
      <p className="dim small">Name, note and star are stored with the run. Its evidence and verdicts stay unchanged.</p>
      <Button type="submit" look="first" busy={change.isPending} disabled={!isChanged}>Save</Button>
      {change.isSuccess && !isChanged && <span role="status" className="dim"> saved</span>}
      <ErrorNote error={change.error} />
    </form>
  );
}

function Baseline({ page, managed }: { page: RunPage; managed: RunManagement }) {
  const [name, setName] = useState("main");
  const baselines = useData<BaselinesPage>("/api/baselines");
  const known = baselines.data?.items ?? [];
  const [agreed, setAgreed] = useState<string | null>(null); // the run that a person agreed to replace
  const path = `/api/runs/${encodeURIComponent(page.run_id)}`;
  const change = useChange<RunManagement>(["/api/runs", "/api/baselines"]);
  const replaced = replacedBaseline(known, name, page.run_id);
  if (managed.why_no_baseline) return <section className={styles.manage}><h2>Baseline</h2><p className="dim">This run cannot be a baseline: {managed.why_no_baseline}.</p></section>;
  return (
    <form
      className={styles.manage}
      onSubmit={(event) => {
        event.preventDefault();
        if (replaced && agreed !== replaced) setAgreed(replaced);
        else change.mutate({ method: "PUT", path: `${path}/baselines/${encodeURIComponent(name)}`, etag: replaced }, { onError: () => void baselines.refetch() });
      }}
    >
      <h2>Baseline</h2>
      {managed.baselines.map((one) => (
        <p key={one}>
          This run is the baseline <b>{one}</b>.{" "}
          <Button look="quiet" busy={change.isPending} onClick={() => change.mutate({ method: "DELETE", path: `${path}/baselines/${encodeURIComponent(one)}` })}>
            Remove {one}
          </Button>
        </p>
      ))}
      <TextField label="Name of the baseline" data-begin="baseline" value={name} onFocus={({ target }) => target.select()} onChange={({ target }) => setName(target.value.trim())} />
      <p className="dim small">
        Runs of {page.agent} on the same eval sets are then compared with this run instead of with the previous one, and{" "}
        <code>proctor compare {name} latest</code> finds it. It cannot be deleted while it is a baseline.
        {replaced && ` The baseline ${name} is now run ${replaced.slice(0, 6)}: this run replaces it.`}
      </p>
      {baselineWarnings(page).map((text) => <p key={text} className={styles.warned}>{text}</p>)}
      <Button type="submit" look={replaced && agreed === replaced ? "danger" : "plain"} busy={change.isPending} disabled={!name || managed.baselines.includes(name)}>
        {!replaced ? "Set as baseline" : agreed === replaced ? `Replace run ${replaced.slice(0, 6)} as ${name}` : "Set as baseline …"}
      </Button>
      <ErrorNote error={change.error} />
    </form>
  );
}

const FORMATS = { html: "HTML, one file", json: "JSON", jsonl: "JSON Lines", csv: "CSV", junit: "JUnit XML", markdown: "Markdown" };

function Export({ page }: { page: RunPage }) {
  const partial = partialExportText(page);
  return (
    <section className={styles.manage}>
      <h2>Export</h2>
      {partial && <p>{partial}</p>}
      <p className="row">
        {Object.entries(FORMATS).map(([format, name]) => (
          <a key={format} data-begin={format === "html" ? "export" : undefined} download href={pathOf(`/api/runs/${encodeURIComponent(page.run_id)}/export`, { format, judging: page.judging })}>
            {name}
          </a>
        ))}
      </p>
      <p className="dim small">JSON and JSON Lines have everything, CSV has a row for each trial. <code>proctor export {page.short}</code> writes the same files.</p>
    </section>
  );
}

function Deletion({ page, managed }: { page: RunPage; managed: RunManagement }) {
  const [, navigate] = useLocation();
  const [isSure, setSure] = useState(false);
  const change = useChange<null>(["/api/runs?"]);
  const remove = () => change.mutate({ method: "DELETE", path: `/api/runs/${encodeURIComponent(page.run_id)}` }, { onSuccess: () => navigate("/runs") });
  return (
    <section className={styles.manage}>
      <h2>Delete</h2>
      {managed.why_not_deleted ? <p className="dim">This run cannot be deleted: {managed.why_not_deleted}.</p> : <p>{deletionText(page, managed)}</p>}
      {!managed.why_not_deleted &&
        (isSure ? (
          <Button look="danger" busy={change.isPending} onClick={remove}>Delete {countOf(managed.trials, "trial")} for good</Button>
        ) : (
          <Button data-begin="remove" onClick={() => setSure(true)}>Delete …</Button>
        ))}
      <ErrorNote error={change.error} />
    </section>
  );
}
