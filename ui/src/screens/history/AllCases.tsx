import { useCallback, useMemo } from "react";
import { chipAction } from "../../app/actions";
import { useAddress } from "../../app/address";
import { pathOf, useAvailable, useSource } from "../../data/queries";
import type { HistoryCase, HistoryPage } from "../../data/types";
import { Breakable, Id } from "../../components/text/Breakable";
import { Button } from "../../components/forms/Button";
import { Chip } from "../../components/forms/Chip";
import { CopyLine, CopyMarkdown } from "../../components/text/Copy";
import { Empty } from "../../components/feedback/Empty";
import { FilterBox } from "../../components/tables/FilterBox";
import { Outcome } from "../../components/charts/Outcome";
import { Prose } from "../../components/text/Prose";
import { type Column, Table } from "../../components/tables/Table";
import { numText } from "../../components/text/numberFormats";
import styles from "./History.module.css";
import { OverTime } from "./OverTime";
import { SmallStrip } from "./RunStrip";
import { type HistoryQuery, type StripRun, COURSES, type Course, asMarkdown, caseHref, hasAgents, stripOfSet, summary, caseMatcher } from "./historyText";

const LIMITS = ["20", "50", "100", "200", "0"];

/** All cases over the runs: those that matter first, and one metric as a line. */
export function AllCases({ page, options }: { page: HistoryPage; options: HistoryQuery }) {
  const [query, setQuery] = useAddress();
  const [text, only] = [query.get("q") ?? "", query.get("only") ?? ""];
  const shown = useMemo(() => page.cases.filter(caseMatcher(text, only)), [page.cases, text, only]);
  const several = useMemo(() => new Set(page.cases.map(({ eval_set_id }) => eval_set_id)).size > 1, [page.cases]);
  const columns = useMemo(() => columnsOf({ sets: several, agents: hasAgents(page) }, stripOfSet(page)), [several, page]);
  const { live } = useSource();
  const has = useAvailable();
  const href = useCallback(
    (one: HistoryCase) => {
      const address = caseHref(one, options);
      return has(`/api${address}`) ? address : undefined;
    },
    [options, has],
  );
  const unavailable = shown.some((one) => !href(one));
  return (
    <>
      <div className="row">
        <h1>History</h1>
        <span className="grow" />
        <CopyMarkdown text={() => asMarkdown(page, shown)} />
      </div>
      <p className={styles.sentence}>{summary(page)}</p>
      {page.unread.map((text) => <p key={text} className={styles.unread}>{text}</p>)}
      <Which page={page} options={options} />
      {(options.set || page.sets.length < 2) && <OverTime page={page} />}
      <h2>Cases</h2>
      <FilterBox
        label="Filter cases"
        placeholder="words in the name or the reason"
        value={text}
        onChange={(q) => setQuery({ q })}
        found={`${numText(shown.length)} of ${numText(page.cases.length)}`}
      />
      <div className={`${styles.kinds} row no-print`}>
        <Kinds page={page} only={only} choose={(to) => setQuery({ only: to })} />
        <span className="grow" />
        {live && <Limit options={options} />}
      </div>
      {shown.length ? (
        <Table label="Cases" rows={shown} columns={columns} idOf={(one) => `${one.agent}\n${one.eval_set_id}\n${one.eval_id}`} href={href} />
      ) : (
        <None page={page} narrowed={text !== "" || only !== ""} />
      )}
      {unavailable && (
        <p className="dim small">
          This file contains the runs of some cases only. For any case: <code>proctor history SET/CASE</code>
        </p>
      )}
      <p className={`${styles.command} no-print`}>
        <CopyLine text={page.command} action="command" />
      </p>
    </>
  );
}

/** The agent and the eval set: a metric over the runs needs one set. */
function Which({ page, options }: { page: HistoryPage; options: HistoryQuery }) {
  const [, setQuery] = useAddress();
  const { live } = useSource();
  const has = useAvailable();
  const sets = page.sets.filter((set) => has(pathOf("/api/history", { set })));
  return (
    <div className={`${styles.which} row no-print`}>
      {(sets.length > 1 || (live && options.set)) && (
        <Choose label="Eval set" all={live ? "all eval sets" : null} value={options.set} names={sets} choose={(set) => setQuery({ set })} />
      )}
      {live && (page.agents.length > 1 || options.agent) && (
        <Choose label="Agent" all="each agent" value={options.agent} names={page.agents} choose={(agent) => setQuery({ agent })} />
      )}
      {live && page.agents.length > 1 && !options.agent && (
        <Chip action="join" pressed={options.combine !== null} onPress={() => setQuery({ combine: options.combine === null ? "true" : null })}>
          All agents as one
        </Chip>
      )}
      {live && sets.length > 1 && !options.set && <span className="dim small">Choose an eval set to see its metrics.</span>}
    </div>
  );
}

interface ChooseProps {
  label: string;
  /** The label for all of them; null: one has to be chosen. */
  all: string | null;
  value: string | null;
  names: readonly string[];
  choose: (name: string) => void;
}

function Choose({ label, all, value, names, choose }: ChooseProps) {
  return (
    <label className={styles.choose}>
      <span>{label}</span>
      <select value={value ?? ""} onChange={(event) => choose(event.target.value)}>
        {all !== null && <option value="">{all}</option>}
        {value && !names.includes(value) && <option value={value}>{value}</option>}
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Kinds({ page, only, choose }: { page: HistoryPage; only: string; choose: (course: string | null) => void }) {
  const courses = (Object.keys(COURSES) as Course[]).filter((course) => page.counts[course]);
  return (
    <div className="row" role="group" aria-label="Status">
      {courses.map((course, index) => (
        <Chip key={course} action={chipAction(index)} does={`only: ${COURSES[course][0]}`} pressed={only === course} onPress={() => choose(only === course ? null : course)}>
          {COURSES[course][0]} <span className="num">{numText(page.counts[course])}</span>
        </Chip>
      ))}
    </div>
  );
}

function Limit({ options }: { options: HistoryQuery }) {
  const [, setQuery] = useAddress();
  const value = options.limit ?? "50";
  const limits = LIMITS.includes(value) ? LIMITS : [value, ...LIMITS];
  return (
    <label className={styles.limit}>
      <span>Show</span>
      <select value={value} onChange={(event) => setQuery({ limit: event.target.value === "50" ? null : event.target.value })}>
        {limits.map((one) => (
          <option key={one} value={one}>
            {one === "0" ? "all runs" : `the last ${one} runs`}
          </option>
        ))}
      </select>
    </label>
  );
}

function columnsOf(several: { sets: boolean; agents: boolean }, reached: (one: HistoryCase) => StripRun[]): Column<HistoryCase>[] {
  return [
    {
      id: "case",
      head: "Case",
      width: "minmax(0, 1.2fr)",
      narrow: "minmax(0, 1fr)",
      cell: (one) => (
        <>
          <b>
            <Id text={one.eval_id} />
          </b>
          {several.agents && <span className={styles.under}><Breakable text={one.agent} /></span>}
          {several.sets && <span className={styles.under}><Id text={one.eval_set_id} /></span>}
          <span className={styles.narrowOnly}><SmallStrip strip={reached(one)} /></span>
        </>
      ),
    },
    { id: "course", head: "Status", width: "200px", narrow: "150px", cell: ({ course }) => <Outcome outcome={COURSES[course][1]}>{COURSES[course][0]}</Outcome> },
    { id: "strip", head: "Runs, oldest → newest", width: "minmax(120px, 1.1fr)", optional: true, cell: (one) => <SmallStrip strip={reached(one)} /> },
    { id: "since", head: "Since when, and why", width: "minmax(0, 2.4fr)", below: "narrow", cell: (one) => <Since one={one} /> },
  ];
}

function Since({ one }: { one: HistoryCase }) {
  return (
    <>
      {one.sentence}
      {one.turning?.caution && <span className={`${styles.under} ${styles.caution}`}>{one.turning.caution}</span>}
      {one.why && <span className={`${styles.under} ${styles.why}`}><Prose text={one.why} /></span>}
    </>
  );
}

function None({ page, narrowed }: { page: HistoryPage; narrowed: boolean }) {
  const [, setQuery] = useAddress();
  if (narrowed)
    return (
      <Empty inside title="No matching case" does="Nothing matches the filter.">
        <Button action="showAll" does="show what matters" onClick={() => setQuery({ q: null, only: null })}>Show what matters</Button>
      </Empty>
    );
  return (
    <Empty inside title="Nothing fails" does={`All ${numText(page.cases.length)} cases passed, and none is flaky.`}>
      <Button action="showAll" does="show the cases that passed" onClick={() => setQuery({ only: "steady" })}>Show them</Button>
    </Empty>
  );
}
