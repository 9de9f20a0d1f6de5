import { useMemo } from "react";
import { Link } from "wouter";
import { useAddress } from "../../app/address";
import { bind, stepFocus, useKeys } from "../../app/keyboard";
import { useTitle } from "../../components/text/title";
import { pathOf, useData, useSource } from "../../data/queries";
import type { MatrixCell, MatrixHead, MatrixPage, MatrixRow, RunsPage } from "../../data/types";
import { Breakable, Id } from "../../components/text/Breakable";
import { Button } from "../../components/forms/Button";
import { CopyMarkdown } from "../../components/text/Copy";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { FilterBox } from "../../components/tables/FilterBox";
import { Percent } from "../../components/text/Num";
import { inkClass, outcomeWord, signOf } from "../../components/charts/Outcome";
import { Prose } from "../../components/text/Prose";
import { Skeleton } from "../../components/feedback/Skeleton";
import { TrialStrip } from "../../components/charts/TrialStrip";
import { type Column, Table } from "../../components/tables/Table";
import { boundsText, numText, scoreText } from "../../components/text/numberFormats";
import { DEFINITIONS } from "../../components/terms/definitions";
import { runName } from "../compare/comparisonText";
import { afterComma, shortCommit, unreadText } from "../runs/runColumns";
import styles from "./Matrix.module.css";
import { Scatter } from "./Scatter";
import { asMarkdown, readRunNames, rowMatcher, summary, whyText } from "./matrixText";

const MOST = 12;

/** Screen 4, of several runs: a row a case, a column a run. */
export function MatrixScreen() {
  useTitle("Side by side");
  const [query] = useAddress();
  const { live } = useSource();
  const names = readRunNames(query.get("runs"));
  const path = names.length ? pathOf("/api/matrix", { runs: names.join(",") }) : null;
  const { data: runs } = useData<RunsPage>("/api/runs?limit=200");
  const { data, error, refetch } = useData<MatrixPage>(path);
  return (
    <>
      {!data && <h1>Side by side</h1>}
      {data && path && <Head page={data} />}
      {live && <Columns names={names} page={path ? data : undefined} runs={runs} />}
      <ErrorNote error={error} retry={refetch} />
      {!path && <Empty inside title="Which runs?" does="Choose two or more above or in the list of runs to see their cases side by side." />}
      {path && !data && !error && (
        <div className="panel">
          <Skeleton rows={10} />
        </div>
      )}
      {path && data && <Scatter runs={data.runs} />}
      {path && data && <Rows page={data} />}
    </>
  );
}

function Head({ page }: { page: MatrixPage }) {
  return (
    <>
      <div className="row">
        <h1>{page.runs.length === 1 ? "One run" : `${page.runs.length} runs side by side`}</h1>
        <span className="grow" />
        <CopyMarkdown text={() => asMarkdown(page, page.rows)} />
      </div>
      <p className={styles.sentence}>{summary(page)}</p>
    </>
  );
}

/** The chosen runs; the address has them. */
function Columns({ names, page, runs }: { names: string[]; page: MatrixPage | undefined; runs: RunsPage | undefined }) {
  const [, setQuery] = useAddress();
  const set = (to: readonly string[]) => setQuery({ runs: to.join(",") }, { push: true });
  useKeys([
    ...(names.length < MOST ? [bind("add", () => stepFocus(`.${styles.add}`, 1), "add a run")] : []),
    ...(names.length ? [bind("remove", () => stepFocus(`.${styles.chosen} button`, 1), "next run to leave out; Enter leaves it out")] : []),
  ]);
  const others = (runs?.items ?? []).filter(({ run_id }) => !names.includes(run_id) && !page?.runs.some((run) => run.run_id === run_id));
  return (
    <div className={`${styles.columns} row no-print`} role="group" aria-label="Runs">
      {(page?.runs ?? names.map((name) => ({ run_id: name, short: name, agent: "" }))).map((run, at) => (
        <span key={run.run_id} className={styles.chosen}>
          <span>
            {run.agent} <code>{run.short}</code>
          </span>
          <Button look="quiet" aria-label={`Leave out run ${run.short}`} title="Leave out" onClick={() => set(names.filter((_, index) => index !== at))}>
            ✕
          </Button>
        </span>
      ))}
      {names.length < MOST && (
        <select
          aria-label="Add a run"
          className={styles.add}
          value=""
          onChange={(event) => event.target.value && set([...names, event.target.value])}
        >
          <option value="">Add a run …</option>
          {others.map((row) => (
            <option key={row.run_id} value={row.run_id}>
              {runName(row)}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

function Rows({ page }: { page: MatrixPage }) {
  const [query, setQuery] = useAddress();
  const [text, only] = [query.get("q") ?? "", query.get("only") === "different"];
  const shown = useMemo(() => page.rows.filter(rowMatcher(text, only)), [page.rows, text, only]);
  const columns = useMemo(() => columnsOf(page), [page]);
  const toggle = () => setQuery({ only: only ? null : "different" });
  useKeys([bind("differ", toggle)]);
  const wide = page.runs.length > 2;
  return (
    <section aria-label="Cases">
      <FilterBox
        label="Filter cases"
        placeholder="words in the name or the reason"
        value={text}
        onChange={(q) => setQuery({ q })}
        found={`${numText(shown.length)} of ${numText(page.rows.length)}`}
      />
      <label className={`${styles.switch} no-print`}>
        <input type="checkbox" checked={only} onChange={toggle} /> Only cases that differ
      </label>
      {shown.length ? (
        <div className={styles.wide} data-wide={wide || undefined} style={{ "--runs": page.runs.length } as React.CSSProperties} tabIndex={wide ? 0 : -1} role="region" aria-label="Runs side by side">
          <Table label="Cases" rows={shown} columns={columns} idOf={(row) => `${row.eval_set_id}\n${row.eval_id}`} />
        </div>
      ) : (
        <Empty inside title={only && !text ? "No case differs" : "No matching case"} does={only && !text ? "All runs agree on every case." : "Nothing matches the filter."}>
          <Button action="showAll" does="show all cases" onClick={() => setQuery({ q: null, only: null })}>Show all cases</Button>
        </Empty>
      )}
    </section>
  );
}

function columnsOf(page: MatrixPage): Column<MatrixRow>[] {
  const several = new Set(page.rows.map(({ eval_set_id }) => eval_set_id)).size > 1;
  return [
    { id: "case", head: "Case", width: "minmax(150px, 1.4fr)", narrow: "minmax(164px, 1.2fr)", cell: (row) => <Name row={row} several={several} /> },
    ...page.runs.map((run, at): Column<MatrixRow> => ({
      id: run.run_id,
      head: <RunHead run={run} />,
      width: "minmax(120px, 1fr)",
      narrow: "minmax(88px, 1fr)",
      cell: (row) => <Cell run={run} cell={row.cells[at] ?? null} metric={row.metric} />,
    })),
  ];
}

function Name({ row, several }: { row: MatrixRow; several: boolean }) {
  return (
    <>
      <b className={styles.name}>
        <Id text={row.eval_id} />
      </b>
      <span className={styles.under}>
        {several && `${row.eval_set_id} · `}
        <Breakable text={row.metric} />
      </span>
    </>
  );
}

function RunHead({ run }: { run: MatrixHead }) {
  return (
    <Link href={`/runs/${encodeURIComponent(run.run_id)}`} className={styles.head}>
      <b><Breakable text={run.agent} /></b>
      <span>
        <code>{run.short}</code> {run.commit && <code>{shortCommit(run.commit)}</code>}
      </span>
      <span>
        <span title={DEFINITIONS.passRate}>cases passed</span> {numText(run.passed.count)} of {numText(run.passed.of)}{run.passed.rate !== null && <> · <Percent value={run.passed.rate} /></>}{afterComma(unreadText(run.passed.unread_sets))}
      </span>
      {run.passed.rate !== null && (
        <span className="num" title={DEFINITIONS.confidenceInterval}>
          95 % CI: <span className={styles.bounds}>{boundsText(run.passed.low, run.passed.high)}</span>
        </span>
      )}
      {run.pass_hat && (
        <span className="num" title={DEFINITIONS.passHatK}>
          pass^{run.k} {scoreText(run.pass_hat.value)}, {numText(run.pass_hat.cases)} {run.pass_hat.cases === 1 ? "case" : "cases"}
        </span>
      )}
    </Link>
  );
}

function Cell({ run, cell, metric }: { run: MatrixHead; cell: MatrixCell | null; metric: string }) {
  if (!cell) return <span className="dim">–</span>;
  const word = outcomeWord(cell.outcome);
  return (
    <Link href={`/runs/${encodeURIComponent(run.run_id)}/cases/${cell.position}`} className={styles.cell} title={cell.why || word}>
      <span className={`${styles.sign} ${inkClass(cell.outcome)}`}>
        <span aria-hidden>{signOf(cell.outcome)}</span> <span className={cell.score === null ? "" : "hidden"}>{word}</span>
        {cell.score !== null && <span className="num">{scoreText(cell.score)}</span>}
      </span>
      {cell.score !== null && cell.metric !== metric && <span className={styles.under}><Breakable text={cell.metric} /></span>}
      {cell.strip.length > 1 && <TrialStrip strip={cell.strip} />}
      {cell.why && <span className={styles.why}><Prose text={whyText(cell.why, cell.metric)} /></span>}
    </Link>
  );
}
