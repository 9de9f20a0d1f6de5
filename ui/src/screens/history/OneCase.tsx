import { useCallback, useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { bind, useKeys } from "../../app/keyboard";
import { pathOf, useAvailable, useSource } from "../../data/queries";
import type { HistoryCase, HistoryPage, HistoryPoint, HistoryRunPart, Series } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { Breakable, Id } from "../../components/text/Breakable";
import { CopyLine, CopyMarkdown } from "../../components/text/Copy";
import { When } from "../../components/text/Num";
import { Outcome } from "../../components/charts/Outcome";
import { Prose } from "../../components/text/Prose";
import { TrialStrip } from "../../components/charts/TrialStrip";
import { type Column, Table } from "../../components/tables/Table";
import { numText, scoreText } from "../../components/text/numberFormats";
import { shortCommit } from "../runs/runColumns";
import { Chart } from "./Chart";
import styles from "./History.module.css";
import { RunStrip } from "./RunStrip";
import { type HistoryQuery, COURSES, asMarkdown, changesOf } from "./historyText";

const FIRST = 12; // metrics that are drawn at first, those that a run missed before the others: hundreds would take seconds

interface Row {
  point: HistoryPoint;
  run: HistoryRunPart;
  turned: boolean;
}

/** One case run by run, for each agent that ran it. */
export function OneCase({ page, options }: { page: HistoryPage; options: HistoryQuery }) {
  const [, navigate] = useLocation();
  const { live } = useSource();
  const { agent, limit, combine } = options;
  const all = pathOf("/history", { set: live ? null : options.set, agent, limit, combine }); // a file has some sets
  useKeys([bind("up", () => navigate(all), "up: all cases")]);
  const [first] = page.cases;
  if (!first) return null;
  return (
    <>
      <div className="row">
        <Link href={all}>← All cases</Link>
        <span className="grow" />
        <CopyMarkdown text={() => asMarkdown(page, page.cases)} />
      </div>
      <div className={`${styles.title} row`}>
        <h1><Id text={first.eval_id} /></h1>
        {page.cases.length === 1 && <CourseTag one={first} />}
        <span className="dim"><Id text={first.eval_set_id} /></span>
      </div>
      {page.cases.map((one) => (
        <OfAgent key={one.agent} page={page} one={one} several={page.cases.length > 1} />
      ))}
      <p className={`${styles.command} no-print`}>
        <CopyLine text={page.command} action="command" />
      </p>
    </>
  );
}

function CourseTag({ one }: { one: HistoryCase }) {
  return <Outcome outcome={COURSES[one.course][1]}>{COURSES[one.course][0]}</Outcome>;
}

/** The case in the runs of one agent: outcomes, every metric as a line, and what was changed in between. */
function OfAgent({ page, one, several }: { page: HistoryPage; one: HistoryCase; several: boolean }) {
  const [all, setAll] = useState(false);
  const runs = page.runs.filter(({ agent }) => !one.agent || agent === one.agent);
  const there = new Set(runs.map(({ run_id }) => run_id));
  const points = (page.points ?? []).filter(({ run_id }) => there.has(run_id));
  const turned = one.turning?.before ? one.turning.first : null;
  const where = new Map(points.map(({ run_id, position }) => [run_id, position]));
  const href = (run: string) => `/runs/${encodeURIComponent(run)}/cases/${where.get(run) ?? 0}`;
  const deciding = page.series.filter((series) => series.agent === one.agent && series.decides && series.points.some(({ score }) => score !== null));
  const drawn = all || deciding.length <= FIRST ? deciding : deciding.toSorted((a, b) => Number(wasMissed(b)) - Number(wasMissed(a))).slice(0, FIRST);
  const label = several ? `Runs of ${one.agent}` : "Runs";
  return (
    <section aria-label={several ? one.agent : undefined}>
      {several && (
        <div className={`${styles.title} row`}>
          <h2>{one.agent}</h2>
          <CourseTag one={one} />
        </div>
      )}
      <p className={styles.sentence}>{sentenceOf(one)}</p>
      <Turned one={one} />
      <RunStrip runs={runs} points={points} turned={turned} />
      <div className={styles.charts}>
        {drawn.map((series) => (
          <Chart key={series.name} name={series.name} of={one.agent} lines={[{ label: "", points: series.points, tone: 0 }]} runs={runs} changes={changesOf(page, one.agent)} turned={turned} href={href} />
        ))}
      </div>
      {drawn.length < deciding.length && (
        <Button look="quiet" action="showAll" does="show all metrics" onClick={() => setAll(true)}>
          Show all {numText(deciding.length)} metrics
        </Button>
      )}
      <h2>{label}</h2>
      <Runs page={page} points={points} deciding={deciding} turned={turned} label={label} />
    </section>
  );
}

function wasMissed({ points }: Series): boolean {
  return points.some(({ score, outcome }) => score !== null && outcome !== "passed");
}

function sentenceOf({ sentence }: HistoryCase): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

/** The known changes between the two runs where the outcome changed, and a link to both runs. */
function Turned({ one }: { one: HistoryCase }) {
  const has = useAvailable();
  const { turning } = one;
  if (!turning) return null;
  const compare =
    turning.before &&
    pathOf("/compare", { base: turning.before, candidate: turning.first, set: one.eval_set_id, case: one.eval_id });
  return (
    <div className={styles.turning}>
      {turning.changed.length > 0 && (
        <ul>
          {turning.changed.map(({ text, expected }) => (
            <li key={text} className={expected ? "" : styles.caution}>
              {text}
            </li>
          ))}
        </ul>
      )}
      {!turning.changed.length && turning.caution && <p className={styles.caution}>{turning.caution}</p>}
      {compare && has(`/api/compare/case?${compare.split("?")[1]}`) && <Link href={compare}>The two runs side by side</Link>}
    </div>
  );
}

interface RunsProps {
  page: HistoryPage;
  points: readonly HistoryPoint[];
  deciding: readonly Series[];
  turned: string | null;
  label: string;
}

function Runs({ page, points, deciding, turned, label }: RunsProps) {
  const rows = useMemo(() => {
    const runs = new Map(page.runs.map((run) => [run.run_id, run]));
    return points.flatMap((point): Row[] => {
      const run = runs.get(point.run_id);
      return run ? [{ point, run, turned: point.run_id === turned }] : [];
    });
  }, [page.runs, points, turned]);
  const columns = useMemo(() => columnsOf(deciding), [deciding]);
  const has = useAvailable();
  const href = useCallback(
    ({ run, point }: Row) => {
      const address = `/runs/${encodeURIComponent(run.run_id)}/cases/${point.position}`;
      return has(`/api${address}`) ? address : undefined;
    },
    [has],
  );
  return <Table label={label} rows={rows} columns={columns} idOf={({ run }) => run.run_id} href={href} />;
}

function columnsOf(deciding: readonly Series[]): Column<Row>[] {
  const scores = new Map(deciding.map((series) => [series.name, new Map(series.points.map((point) => [point.run_id, point.score]))]));
  return [
    { id: "run", head: "Run", width: "minmax(160px, 1fr)", narrow: "minmax(0, 1fr)", cell: (row) => <RunCell row={row} /> },
    { id: "outcome", head: "Outcome", width: "128px", narrow: "112px", cell: ({ point }) => <Outcome outcome={point.outcome} /> },
    { id: "trials", head: "Trials", width: "96px", narrow: "76px", cell: ({ point }) => <TrialStrip strip={point.strip} /> },
    ...deciding.slice(0, 3).map(
      ({ name }): Column<Row> => ({
        id: `score ${name}`,
        head: <span className={styles.metric}><Breakable text={name} /></span>,
        width: `minmax(96px, ${Math.min(140, Math.max(96, 34 + 7 * name.length))}px)`,
        align: "end",
        optional: true,
        cell: ({ run }) => scoreText(scores.get(name)?.get(run.run_id)),
      }),
    ),
    { id: "why", head: "Why, and what changed", width: "minmax(0, 2.2fr)", below: "narrow", cell: ({ point }) => <Why point={point} /> },
  ];
}

function RunCell({ row: { run, turned } }: { row: Row }) {
  return (
    <>
      <b>{run.short}</b> <code className="dim">{run.commit ? shortCommit(run.commit) : ""}</code>
      <span className={styles.under}>
        <When at={run.started_at} exact /> · {run.agent}
        {turned && <b className={styles.mark}> · the outcome changed here</b>}
      </span>
    </>
  );
}

function Why({ point }: { point: HistoryPoint }) {
  return (
    <>
      {point.reason && <span className={styles.why}><Prose text={point.reason} /></span>}
      {point.changed.map(({ text, expected }) => (
        <span key={text} className={`${styles.under} ${expected ? "" : styles.caution}`}>
          {text}
        </span>
      ))}
    </>
  );
}
