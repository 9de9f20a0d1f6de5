import { Link, useLocation, useParams } from "wouter";
import { useAddress } from "../../app/address";
import { bind, useKeys } from "../../app/keyboard";
import { useTitle } from "../../components/text/title";
import { useAvailable, useData } from "../../data/queries";
import type { AuditedCasePage, MutantLine } from "../../data/types";
import { Outcome } from "../../components/charts/Outcome";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { Skeleton } from "../../components/feedback/Skeleton";
import { CopyLine, CopySmall } from "../../components/text/Copy";
import { Prose } from "../../components/text/Prose";
import { countText, numText } from "../../components/text/numberFormats";
import { Id } from "../../components/text/Breakable";
import { rowState } from "../../components/tables/useTableRows";
import styles from "./Audit.module.css";
import { Changes } from "./Changes";
import { Survivor } from "./Survivor";
import { countedMutants, survivorsOf } from "./auditText";

/** One case of an audit: each mutant that survives like a failing case, then those that are caught. */
export function AuditedCaseScreen() {
  const { audit = "", position = "" } = useParams();
  const path = `/api/audits/${encodeURIComponent(decodeURIComponent(audit))}/cases/${encodeURIComponent(position)}`;
  const { data: page, error, refetch } = useData<AuditedCasePage>(path, { fresh: Infinity, keep: false });
  useTitle(page ? `Audit of ${page.eval_id}` : "Audited case");
  if (page) return <AuditedCase page={page} key={page.position} />;
  if (!error) return <Skeleton rows={8} />;
  if (error.status !== 404) return <ErrorNote error={error} retry={refetch} />;
  return <Empty title="Case not found" does={error.message} to={`/audits/${audit}`} toName="The audit" />;
}

function AuditedCase({ page }: { page: AuditedCasePage }) {
  const survivors = survivorsOf(page);
  const rest = page.mutants.filter(({ fate }) => fate !== "survived");
  const [query, setQuery] = useAddress();
  const named = Number(query.get("mutant")) - 1;
  const open = query.get("mutant") === "none" ? null : (survivors.find(({ line }) => line.number === named) ?? survivors[0])?.line.number;
  const choose = (number: number | null) => setQuery({ mutant: number === null ? "none" : String(number + 1) });
  useCaseKeys(page, (by) => {
    const next = survivors[survivors.findIndex(({ line }) => line.number === open) + by];
    if (next) choose(next.line.number);
  });
  return (
    <>
      <Head page={page} />
      {survivors.length > 0 && <h2>The case does not notice {countedMutants(survivors.map(({ line }) => line))}</h2>}
      {survivors.map(({ line, part }) => (
        <Survivor key={line.number} line={line} part={part} open={line.number === open} onToggle={() => choose(line.number === open ? null : line.number)} />
      ))}
      {page.changes.length > 0 && (
        <>
          <h2>Changes of this case that catch survivors</h2>
          <Changes groups={page.changes} />
        </>
      )}
      {rest.length > 0 && <Others lines={rest} />}
    </>
  );
}

function useCaseKeys({ run_id, position, previous, next }: AuditedCasePage, step: (by: number) => void): void {
  const [, navigate] = useLocation();
  const up = `/audits/${encodeURIComponent(run_id)}`;
  const goTo = (to: AuditedCasePage["next"]) => to && navigate(`${up}/cases/${to.position}`);
  useKeys([
    bind("nextPart", () => step(1), "next surviving mutant"),
    bind("previousPart", () => step(-1), "previous surviving mutant"),
    bind("next", () => goTo(next), "next case"),
    bind("previous", () => goTo(previous), "previous case"),
    bind("up", () => navigate(up, { state: rowState("Cases", String(position)) }), "up to the audit"),
  ]);
}

function Head({ page }: { page: AuditedCasePage }) {
  const up = `/audits/${encodeURIComponent(page.run_id)}`;
  const has = useAvailable();
  const { caught } = page;
  return (
    <header className={styles.head}>
      <div className={`${styles.crumbs} row dim small`}>
        <Link href={up}>audit {page.short}</Link>
        <span>
          <Id text={page.eval_set_id} />, case {page.position + 1} of {numText(page.total)}
        </span>
        {page.place && <code>{page.place}</code>}
        <CopySmall text={`${page.eval_set_id}/${page.eval_id}`} what="Copy id of the case" action="id">Copy id</CopySmall>
        <span className="grow" />
        {[["← previous", page.previous, "k"] as const, ["next →", page.next, "j"] as const].map(
          ([words, to, key]) =>
            to && has(`/api${up}/cases/${to.position}`) && (
              <Link key={key} href={`${up}/cases/${to.position}`} title={`${to.eval_id} (${key})`} className="no-print">
                {words}
              </Link>
            ),
        )}
      </div>
      <div className="row">
        <h1><Id text={page.eval_id} /></h1>
        <Outcome outcome={page.problem ? "skipped" : page.survivors.length ? "failed" : "passed"}>
          {page.problem ? "Not audited" : page.survivors.length ? "Faults survive" : "Every mutant is caught"}
        </Outcome>
      </div>
      {page.problem ? (
        <p className={page.contradicts ? styles.bad : ""}>
          {page.contradicts && "Its own recorded conversation does not pass: "}
          <Prose text={page.problem} />
        </p>
      ) : (
        <p>
          The case catches {numText(caught.count)} of {countText(caught.of, "mutant")}. Each mutant is the recorded conversation with one planted fault, made
          for this audit. No agent was called.
        </p>
      )}
      {page.same_as && <p>Redundant: it asks and accepts the same as {page.same_as}.</p>}
      <CopyLine text={page.command} action="command" />
    </header>
  );
}

/** The mutants that the case notices, and by which metric; and those that could not be scored. */
function Others({ lines }: { lines: readonly MutantLine[] }) {
  const caught = lines.filter(({ fate }) => fate === "caught");
  const left = lines.filter(({ fate }) => fate !== "caught");
  return (
    <details className={styles.others}>
      <summary>
        Caught: {countedMutants(caught)}
        {left.length > 0 && `; not scored: ${countedMutants(left)}`}
      </summary>
      <div className="panel">
        <ul>
          {lines.map((line) => (
            <li key={line.number}>
              <b>{line.label}</b>
              {line.turn !== null && <span className="dim"> turn {line.turn + 1}</span>}: <Prose text={line.fault} />
              <span className={styles.under}>
                {line.fate === "caught" ? `failed by ${line.metrics.join(", ")}` : `could not be scored: ${line.reason}`}
              </span>
            </li>
          ))}
        </ul>
      </div>
    </details>
  );
}
