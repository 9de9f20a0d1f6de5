import { chipAction } from "../../app/actions";
import { useParams } from "wouter";
import { useAddress } from "../../app/address";
import { useTitle } from "../../components/text/title";
import { useData } from "../../data/queries";
import type { AuditPage, AuditedCaseRow } from "../../data/types";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { Skeleton } from "../../components/feedback/Skeleton";
import { Chip } from "../../components/forms/Chip";
import { type Column, Table } from "../../components/tables/Table";
import { TermText } from "../../components/terms/TermText";
import { Breakable, Id } from "../../components/text/Breakable";
import { CopyLine, CopyMarkdown, CopySmall } from "../../components/text/Copy";
import { When } from "../../components/text/Num";
import { Prose } from "../../components/text/Prose";
import { countText, numText, percentText } from "../../components/text/numberFormats";
import styles from "./Audit.module.css";
import { Changes } from "./Changes";
import { ClassPicture } from "./ClassPicture";
import { JudgePictures } from "./JudgePicture";
import { GROUPS, GROUP_WORDS, auditMarkdown, casesOf, groupOf } from "./auditText";

/** One audit: what its eval sets catch, what they are blind to, and what would catch more. */
export function AuditScreen() {
  const audit = decodeURIComponent(useParams<{ audit: string }>().audit);
  const { data: page, error, refetch } = useData<AuditPage>(`/api/audits/${encodeURIComponent(audit)}`, { fresh: Infinity });
  useTitle(page ? `Audit of ${page.sets.map(({ eval_set_id }) => eval_set_id).join(", ")}` : "Audit");
  if (!page) return error ? <NotFound error={error} retry={refetch} /> : <Skeleton rows={10} />;
  return (
    <>
      <Head page={page} />
      {page.classes.some(({ caught }) => caught.of > 0) && (
        <section aria-label="Classes of faults">
          <h2>Classes of faults</h2>
          <ClassPicture page={page} />
        </section>
      )}
      <JudgePictures page={page} />
      <Notes page={page} />
      {page.changes.length > 0 && (
        <section aria-label="Changes that catch survivors">
          <h2>Changes that catch survivors</h2>
          <Changes groups={page.changes} />
        </section>
      )}
      <Cases page={page} />
    </>
  );
}

function NotFound({ error, retry }: { error: { message: string; status: number }; retry: () => unknown }) {
  if (error.status !== 404) return <ErrorNote error={error} retry={retry} />;
  return <Empty title="Audit not found" does={error.message} to="/audits" toName="All audits" />;
}

function Head({ page }: { page: AuditPage }) {
  const names = page.paths.length > 3 ? `${countText(page.paths.length, "eval set")}` : page.sets.map(({ eval_set_id }) => eval_set_id).join(", ");
  return (
    <header className={styles.head}>
      <div className="row">
        <h1>Audit of <Breakable text={names} /></h1>
        <span className="grow" />
        <CopyMarkdown text={() => auditMarkdown(page)} />
      </div>
      <p className={styles.verdict}>
        <TermText text={page.sentence} />
      </p>
      <p className={`${styles.facts} dim small`}>
        audit <code>{page.short}</code> <CopySmall text={page.run_id} what="Copy id of the audit" action="id">Copy id</CopySmall> · <When at={page.created_at} /> ·{" "}
        {numText(page.audited)} of {countText(page.cases.length, "case")} audited · scored by {page.configs.join(", ")} · seed {page.seed}
        {page.errors > 0 && ` · ${countText(page.errors, "mutant")} could not be scored`}
      </p>
      <CopyLine text={page.command} action="command" />
    </header>
  );
}

const CASES = "audited-cases";

/** What the audit found about cases and criteria as a whole. */
function Notes({ page }: { page: AuditPage }) {
  const [, setQuery] = useAddress();
  const groups = GROUPS.filter((group) => group === "any" || group === "redundant" || group === "left-out")
    .map((group) => [group, casesOf(page.cases, group).length] as const)
    .filter(([, count]) => count > 0);
  const idle = page.metrics.filter(({ is_idle }) => is_idle).length;
  const showCases = (group: string) => {
    setQuery({ show: group });
    document.getElementById(CASES)?.scrollIntoView();
  };
  if (!groups.length && !page.notes.length && !page.warnings.length) return null;
  const words = {
    any: (count: number) => `${countText(count, "case")} that an agent passes that does nothing`,
    redundant: (count: number) => countText(count, "redundant case"),
    "left-out": (count: number) => `${countText(count, "case")} without mutants`,
  };
  return (
    <section aria-label="Findings">
      <h2>{idle ? `Findings · ${countText(idle, "metric")} that never decides` : "Findings"}</h2>
      <ul className={styles.notes}>
        {groups.map(([group, count]) => (
          <li key={group}>
            <button type="button" className={group === "any" ? styles.problem : styles.link} onClick={() => showCases(group)}>
              {words[group as keyof typeof words](count)}
            </button>
          </li>
        ))}
        {[...page.notes, ...page.warnings].map((note) => (
          <li key={note}>
            <Prose text={note} />
          </li>
        ))}
      </ul>
    </section>
  );
}

// --- cases ----------------------------------------------------------------------------------------------------------------

function Cases({ page }: { page: AuditPage }) {
  const [query, setQuery] = useAddress();
  const group = groupOf(query.get("show"));
  const rows = casesOf(page.cases, group);
  const groups = GROUPS.filter((one) => one === group || casesOf(page.cases, one).length > 0);
  return (
    <section id={CASES} className={styles.cases} aria-label="Cases">
      <h2>Cases</h2>
      {groups.length > 1 && (
        <div className={`${styles.chips} row no-print`}>
          {groups.map((one, index) => (
            <Chip key={one} action={chipAction(index)} does={`only: ${GROUP_WORDS[one]}`} pressed={one === group} onPress={() => setQuery({ show: one === "all" ? null : one })}>
              {GROUP_WORDS[one]} {numText(casesOf(page.cases, one).length)}
            </Chip>
          ))}
        </div>
      )}
      <Table
        label="Cases"
        rows={rows}
        columns={COLUMNS}
        idOf={({ position }) => String(position)}
        href={({ position }) => `/audits/${encodeURIComponent(page.run_id)}/cases/${position}`}
        sort={query.get("sort") ?? ""}
        onSort={(sort) => setQuery({ sort })}
      />
    </section>
  );
}

const COLUMNS: readonly Column<AuditedCaseRow>[] = [
  { id: "case", head: "Case", width: "minmax(0, 1.2fr)", sortBy: ({ eval_id }) => eval_id, cell: (row) => <Name row={row} /> },
  { id: "caught", head: "Mutants caught", width: "132px", narrow: "96px", align: "end", sortBy: ({ caught }) => caught.rate, cell: (row) => <Caught row={row} /> },
  { id: "faults", head: "Not noticed", width: "minmax(0, 1.6fr)", optional: true, sortBy: ({ survivors }) => survivors, first: "desc", cell: (row) => <Faults row={row} /> },
];

function Name({ row }: { row: AuditedCaseRow }) {
  return (
    <>
      <b><Id text={row.eval_id} /></b>
      {row.same_as && <span className={styles.under}>redundant: asks and accepts the same as {row.same_as}</span>}
      {row.passed_by.length > 0 && <span className={`${styles.under} ${styles.bad}`}>passed by {row.passed_by.join(", ")}</span>}
      {row.problem && (
        <span className={`${styles.under} ${row.contradicts ? styles.bad : ""}`}>
          {row.contradicts ? "its own recorded conversation does not pass: " : "not audited: "}
          <Prose text={row.problem} />
        </span>
      )}
      {row.faults.length > 0 && <span className={`${styles.under} ${styles.narrow}`}>not noticed: {row.faults.join(", ")}</span>}
    </>
  );
}

function Caught({ row: { caught } }: { row: AuditedCaseRow }) {
  if (!caught.of) return <span className="dim">–</span>;
  return (
    <>
      <span className="num">{percentText(caught.rate)}</span>
      <span className={styles.under}>
        {numText(caught.count)} of {numText(caught.of)}
      </span>
    </>
  );
}

function Faults({ row }: { row: AuditedCaseRow }) {
  const errors = row.errors > 0 && <span className={`${styles.under} ${styles.bad}`}>{numText(row.errors)} could not be scored</span>;
  if (!row.faults.length && !errors) return <span className="dim">{row.caught.of ? "every mutant is caught" : "–"}</span>;
  return (
    <>
      <span>{row.faults.join(", ")}</span>
      {errors}
    </>
  );
}
