import { useCallback, useEffect, useMemo, useState } from "react";
import { Redirect, useParams } from "wouter";
import { useAddress } from "../../app/address";
import { useTitle } from "../../components/text/title";
import { pathOf, useData, useAvailable, useSource } from "../../data/queries";
import type { AuditPage, CaseExtras, CaseRow, CasesPage, NotesPage, RunPage } from "../../data/types";
import { LinkButton } from "../../components/forms/Button";
import { CopyMarkdown, CopySmall } from "../../components/text/Copy";
import { Empty } from "../../components/feedback/Empty";
import { AvailableLink } from "../../components/forms/AvailableLink";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { When } from "../../components/text/Num";
import { Outcome } from "../../components/charts/Outcome";
import { Skeleton } from "../../components/feedback/Skeleton";
import { numText } from "../../components/text/numberFormats";
import { AuditLine } from "../audit/AuditLine";
import { RunButton } from "../start/RunDialog";
import { CaseTable } from "./CaseTable";
import { needsEvidence } from "./caseFilter";
import { ColumnChooser } from "./columns/ColumnChooser";
import { PreviousRate, Details, Scorings, Warnings } from "./Details";
import { KeyFigures } from "./KeyFigures";
import { LivePanel, Unfinished } from "./LivePanel";
import { Manage, Star, useManagement } from "./ManageRun";
import { RunPictures } from "./pictures/RunPictures";
import styles from "./Run.module.css";
import { type Live, useLive } from "./useLiveRun";
import { comparisonText, asMarkdown, sentenceOf, titleOf, unreadSetTexts } from "./runText";
import { type ShownCases, useExtraColumns, useShownCases } from "./useShownCases";

/** Screens 2 and 3: a run, live while it is under way, and the table of its cases. */
export function RunScreen() {
  const run = decodeURIComponent(useParams<{ run: string }>().run);
  const [query, setQuery] = useAddress();
  const { live: canWatch } = useSource();
  const scoring = canWatch ? query.get("judging") : null; // a file has one
  const base = `/api/runs/${encodeURIComponent(run)}`;
  const { page, isBrief, error, refetch, reads } = usePage(base, scoring);
  const watched = canWatch && page?.state === "running" ? page.run_id : null;
  const live = useLive(watched);
  const cases = useCases(`${base}/cases`, scoring, reads, watched ? Infinity : 2_000);
  useTitle(page ? titleOf(page) : "Run");
  if (!page) return error ? <NotFound run={run} error={error} retry={refetch} /> : <Loading />;
  return (
    <>
      <ErrorNote error={error} retry={refetch} />
      <Run page={page} isBrief={isBrief} live={live} watched={watched !== null} cases={cases} order={[query.get("q") ?? "", query.get("sort") ?? "", query.get("cols")]} setScoring={(to) => setQuery({ judging: to })} />
    </>
  );
}

const PAINT_TIME = 50; // milliseconds in which what was drawn is painted
const BRIEF = { brief: "true" }; // `server/http/static.py` names the same addresses

/** The page of a run: at first what a server knows without reading every case, which it begins to read after the first rows. */
function usePage(base: string, scoring: string | null) {
  const { live } = useSource();
  const first = useFirstRows(`${base}/cases`, scoring);
  const brief = useData<RunPage>(live ? pathOf(base, { judging: scoring, ...BRIEF }) : null, { keep: false, fresh: Infinity });
  const hasFirst = (brief.data || brief.error) && (first.data || first.error);
  const painted = usePainted(Boolean(hasFirst));
  const reads = !live || painted;
  const whole = useData<RunPage>(reads ? pathOf(base, { judging: scoring }) : null);
  return { page: whole.data ?? (hasFirst ? brief.data : undefined), isBrief: !whole.data && !whole.error, error: whole.error, refetch: whole.refetch, reads };
}

/** Whether what was drawn when `drawn` became true is on the screen: the server's long work must not delay that. */
function usePainted(drawn: boolean): boolean {
  const [painted, setPainted] = useState(false);
  useEffect(() => {
    if (!drawn) return undefined;
    const timer = setTimeout(() => setPainted(true), PAINT_TIME); // no frame: a page in the background has none
    return () => clearTimeout(timer);
  }, [drawn]);
  return painted;
}

function useFirstRows(path: string, scoring: string | null) {
  const { live } = useSource();
  return useData<CasesPage>(live ? pathOf(path, { judging: scoring, ...BRIEF }) : null, { keep: false, fresh: Infinity });
}

/** The cases of a run: at first its first rows, and, when they are there, every one. */
function useCases(path: string, scoring: string | null, reads: boolean, fresh: number) {
  const first = useFirstRows(path, scoring);
  const every = useData<CasesPage>(reads ? pathOf(path, { judging: scoring }) : null, { fresh });
  return { ...every, data: every.data ?? first.data, complete: every.data !== undefined };
}

/** Why there is no run; the id of an audit leads to its page. */
function NotFound({ run, error, retry }: { run: string; error: { message: string; status: number }; retry: () => unknown }) {
  const isUnknown = error.status === 404;
  const audit = useData<AuditPage>(isUnknown ? `/api/audits/${encodeURIComponent(run)}` : null, { fresh: Infinity });
  if (!isUnknown) return <ErrorNote error={error} retry={retry} />;
  if (audit.data) return <Redirect to={`/audits/${encodeURIComponent(audit.data.run_id)}`} replace />;
  if (!audit.error) return <Loading />;
  return <Empty title="Run not found" does={error.message} to="/runs" toName="All runs" />;
}

interface Props {
  page: RunPage;
  /** Whether the figures of the run are being read. */
  isBrief: boolean;
  live: Live;
  watched: boolean;
  cases: ReturnType<typeof useCases>;
  /** The filter, the order and the columns of the table. */
  order: readonly [text: string, sort: string, columns: string | null];
  setScoring: (scoring: string | null) => void;
}

function Run({ page, isBrief, live, watched, cases, order, setScoring }: Props) {
  const { live: hasServer } = useSource();
  const base = `/api/runs/${encodeURIComponent(page.run_id)}`;
  const several = !hasServer || page.judging === page.judgings.find(({ counts }) => counts)?.number ? null : page.judging;
  const notes = useData<NotesPage>(watched || !cases.complete ? null : pathOf(`${base}/notes`, { judging: several }), { fresh: Infinity }).data;
  const extras = useData<CaseExtras>(!watched && cases.complete ? pathOf(`${base}/case-extras`, { judging: several }) : null, { fresh: Infinity });
  const rows = useExtraColumns(useMergedRows(cases.data?.items, live.rows, watched), extras.data);
  const table = useShownCases(page, rows, ...order);
  const [text, sort] = order;
  const ordered = Boolean(text || sort); // the first rows are in another order, and lack their changes
  const lacksCases = cases.error !== null && !cases.complete; // the first rows stay, and the filter takes from these
  const lacksEvidence = !watched && !extras.data && !extras.error && needsEvidence(text, sort);
  const reading = (!lacksCases && ((ordered && !cases.complete) || lacksEvidence)) || table.searching;
  return (
    <>
      <Head page={page} watched={watched} complete={cases.complete} reading={reading || (!cases.complete && !lacksCases)} table={table} />
      {watched && <LivePanel live={live} page={page} />}
      {!watched && page.state !== "finished" && page.state !== "running" && <Unfinished page={page} writable={hasServer} />}
      {!watched && <KeyFigures page={page} notes={notes} />}
      <Warnings page={page} notes={notes} />
      <ErrorNote error={cases.error && { message: `${lacksCases && cases.data ? `The table has only the first ${numText(rows.length)} cases. ` : ""}${cases.error.message}` }} retry={cases.refetch} />
      {!watched && cases.data && !lacksCases && <RunPictures page={page} isBrief={isBrief} rows={rows} total={cases.data.total} shown={table.shown} extras={extras.data ?? (extras.error && null)} />}
      {cases.data ? (
        <CaseTable page={page} total={lacksCases ? rows.length : cases.data.total} table={table} reading={reading} watched={watched} tools={<><Scorings page={page} onChange={setScoring} /><ColumnChooser page={page} rows={rows} hidden={table.columns.filter(({ wideOnly }) => wideOnly).length} /></>} />
      ) : (
        !cases.error && <LoadingCases />
      )}
      <Details page={page} notes={notes} />
    </>
  );
}

/** The rows that were read, with those that were decided since; a pending case has not changed yet. */
function useMergedRows(read: readonly CaseRow[] | undefined, since: ReadonlyMap<number, CaseRow>, watched: boolean): readonly CaseRow[] {
  return useMemo(() => {
    if (!read) return [];
    if (!watched && !since.size) return read;
    return read.map((row) => {
      const newer = since.get(row.position);
      if (newer) return { ...newer, tags: row.tags };
      return row.outcome === "not_run" ? { ...row, change: null, was: null } : row;
    });
  }, [read, since, watched]);
}

function Head({ page, watched, complete, reading, table }: { page: RunPage; watched: boolean; complete: boolean; reading: boolean; table: ShownCases }) {
  const { against } = page;
  const { live: hasServer } = useSource();
  const management = useManagement(page.run_id, hasServer);
  const managed = management.data;
  const has = useAvailable();
  const both = against && `/compare?base=${encodeURIComponent(against.run_id)}&candidate=${encodeURIComponent(page.run_id)}`;
  const compare = both && has(`/api${both}`) ? both : null;
  const [query] = useAddress();
  const filter = { q: query.get("q"), judging: query.get("judging") };
  const bless = hasServer && !watched && page.outcome !== "passed" && hasEvidence(page) ? pathOf(`/runs/${encodeURIComponent(page.run_id)}/bless`, filter.q ? filter : {}) : null;
  return (
    <header className={styles.head}>
      <div className="row">
        <h1>{titleOf(page)}</h1>
        {hasServer && <Star page={page} management={management} />}
        <Outcome outcome={watched ? "running" : page.state === "unfinished" ? "unfinished" : page.outcome} />
      </div>
      <p className={styles.sentence}>
        {watched ? "In progress: rows appear as cases are decided." : sentenceOf(page)}
        {against && !watched && (
          <>
            {" "}
            {sentenceCase(comparisonText(page))} <AvailableLink to={`/runs/${encodeURIComponent(against.run_id)}`}>{against.short}</AvailableLink>
            <PreviousRate page={page} />.
          </>
        )}
      </p>
      {unreadSetTexts(page).map((text) => <p key={text} className={styles.unread}>{text}</p>)}
      <div className={`row ${styles.actions}`}>
        {compare && <LinkButton to={compare} action="compare" does="compare with the previous run">Compare</LinkButton>}
        {hasServer && !watched && <RunAgain page={page} />}
        {bless && <LinkButton to={bless} action="bless">Bless …</LinkButton>}
        {hasServer && <Manage page={page} managed={managed} />}
        <CopyMarkdown reading={reading} disabled={!complete && "not all cases are read"} text={useCallback(() => asMarkdown(page, table.shown(), table.columns), [page, table])} />
      </div>
      {!managed && <ErrorNote error={management.error} retry={management.refetch} />}
      {managed?.note && <p className={styles.note}>{managed.note}</p>}
      <p className={`${styles.facts} dim small`}>
        {managed?.name && <><b>{managed.name}</b> · </>}
        {managed?.baselines.map((name) => <span key={name}>baseline <b>{name}</b> · </span>)}
        run <code>{page.short}</code> <CopySmall text={page.run_id} what="Copy id of the run" action="id">Copy id</CopySmall> · <When at={page.created_at} />
        {page.num_runs > 1 && ` · ${page.num_runs} trials per case`}
        {page.manifest.commit && (
          <>
            {" "}
            · <code>{page.manifest.commit.slice(0, 9)}</code>
          </>
        )}
        {!watched && page.figures.length > 0 && ` · ${page.figures.join(", ")}`}
        {page.judges.length > 0 && ` · ${[...new Set(page.judges.map(({ model }) => model))].join(", ")} as LLM judge`}
      </p>
      {!watched && complete && <AuditLine run={page.run_id} />}
    </header>
  );
}

/** The same run again, or only what did not pass in it. */
function RunAgain({ page }: { page: RunPage }) {
  const failures = page.cases - (page.counts.passed ?? 0) - (page.counts.skipped ?? 0);
  return (
    <>
      <RunButton label="Run again" title="Run again" source={pathOf("/api/start/repeat", { run: page.run_id })} />
      {failures > 0 && failures < page.cases && (
        <RunButton label="Run failures again" action="runFailures" title={`Run the ${failures === 1 ? "failure" : `${failures} failures`} again`} source={pathOf("/api/start/repeat", { run: page.run_id, failures: "true" })} />
      )}
    </>
  );
}

/** Whether any case was run, so that there is something to learn from it. */
function hasEvidence({ cases, counts }: RunPage): boolean {
  return (counts.not_run ?? 0) + (counts.skipped ?? 0) < cases;
}

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function Loading() {
  return (
    <>
      <h1 className="hidden">Run</h1>
      <div className={styles.loading}>
        <Skeleton rows={2} height="24px" />
      </div>
      <div className="panel">
        <Skeleton rows={1} height="62px" />
      </div>
      <LoadingCases />
    </>
  );
}

function LoadingCases() {
  return (
    <>
      <h2>Cases</h2>
      <div className="panel">
        <Skeleton rows={10} height="37px" />
      </div>
    </>
  );
}
