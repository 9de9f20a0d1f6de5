import { useEffect, useRef } from "react";
import { useLocation, useParams } from "wouter";
import { useAddress } from "../../app/address";
import { bind, useKeys } from "../../app/keyboard";
import { useTitle } from "../../components/text/title";
import { pathOf, useData, useSource } from "../../data/queries";
import type { CasePage, TrialPage } from "../../data/types";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { Skeleton } from "../../components/feedback/Skeleton";
import { Tabs } from "../../components/forms/Tabs";
import { rowState } from "../../components/tables/useTableRows";
import { ToolFlow } from "./flow/ToolFlow";
import { Judges } from "./judges/Judges";
import { Waterfall } from "./spans/Waterfall";
import styles from "./CaseScreen.module.css";
import { Conversation } from "./conversation/Conversation";
import { CaseList } from "./CaseList";
import { CaseHead } from "./CaseHead";
import { type CaseOrder, useCaseOrder } from "./useCaseOrder";
import { Metrics } from "./Metrics";
import { FinalState } from "./FinalState";
import { type Difference, type CaseLocation, differences, idOf, nextDifference, readCaseLocation, trialToShow } from "./caseLocation";

const FRESH = { fresh: 60_000 } as const; // evidence does not change, verdicts seldom

/** Screen 5: one case with its trials. The waterfall (6) and the judges (7) are tabs of it. */
export function CaseScreen() {
  const { run = "", position = "" } = useParams();
  const [query, setQuery] = useAddress();
  const location = readCaseLocation(query);
  const { live } = useSource();
  const scoring = live ? query.get("judging") : null; // a file has one
  const base = `/api/runs/${encodeURIComponent(run)}/cases/${encodeURIComponent(position)}`;
  const { data, error, refetch } = useData<CasePage>(pathOf(base, { judging: scoring }), FRESH);
  useTitle(data ? data.eval_id : "Case");
  if (!data) return error ? <NotFound error={error} run={run} retry={refetch} /> : <Skeleton rows={8} />;
  return <LoadedCase page={data} base={base} scoring={scoring} location={location} setQuery={setQuery} key={`${run}/${position}`} />;
}

function NotFound({ error, run, retry }: { error: { message: string; status: number }; run: string; retry: () => unknown }) {
  if (error.status !== 404) return <ErrorNote error={error} retry={retry} />;
  return <Empty title="Case not found" does={error.message} to={`/runs/${encodeURIComponent(run)}`} toName="The run" />;
}

interface LoadedProps {
  page: CasePage;
  base: string;
  scoring: string | null;
  location: CaseLocation;
  setQuery: ReturnType<typeof useAddress>[1];
}

function LoadedCase({ page, base, scoring, location, setQuery }: LoadedProps) {
  const number = trialToShow(page, location.trial);
  const trialPath = number === null ? null : `${base}/trials/${number}`;
  const { data: trial, error, refetch } = useData<TrialPage>(trialPath && pathOf(trialPath, { judging: scoring }), { ...FRESH, keep: false });
  const goTo = (next: number) => setQuery({ trial: String(next + 1), turn: null, step: null });
  const goDifference = (one: Difference | null) => {
    if (one) setQuery({ tab: one.tab === "state" ? "state" : null, turn: numberFrom1(one.turn), step: numberFrom1(one.step) });
  };
  const [query] = useAddress();
  const order = useCaseOrder(page, query, scoring);
  useCaseKeys(page, order, number, trial, location, goTo, goDifference);
  useScroll(location, trial);
  const found = trial ? differences(trial) : [];
  return (
    <CaseList order={order}>
      <CaseHead page={page} order={order} number={number} trial={trial} onTrial={goTo} differences={found.length} onNext={() => goDifference(nextDifference(found, location))} />
      <Tabs label="Views of the case" tabs={tabsOf(page, trial)} at={location.tab} onChange={(tab) => setQuery({ tab: tab === "conversation" ? null : tab, turn: null, step: null })}>
        {location.tab === "metrics" ? (
          <Metrics page={page} number={number} />
        ) : number === null ? (
          <Empty inside title="No trial of this case was run" does={page.reason || page.sentence} command={`proctor resume ${page.short}`} />
        ) : !trial ? (
          error ? <ErrorNote error={error} retry={refetch} /> : <Skeleton rows={6} height="64px" />
        ) : (
          <TabContent page={page} trial={trial} location={location} path={trialPath ?? ""} scoring={scoring} />
        )}
      </Tabs>
    </CaseList>
  );
}

function TabContent({ page, trial, location, path, scoring }: { page: CasePage; trial: TrialPage; location: CaseLocation; path: string; scoring: string | null }) {
  if (location.tab === "state") return <FinalState state={trial.state} />;
  if (location.tab === "tools") return <ToolFlow trial={trial} link={`/runs/${page.run_id}/cases/${page.position}?trial=${trial.number + 1}`} />;
  if (location.tab === "spans") return <Waterfall path={`${path}/spans`} position={page.position} run={page.run_id} trial={trial} />;
  if (location.tab === "judges") return <Judges path={path} scoring={scoring} trial={trial} />;
  return <Conversation key={trial.number} page={page} trial={trial} location={location} path={path} />;
}

function tabsOf(page: CasePage, trial: TrialPage | undefined) {
  const differs = trial?.state.rows.filter(({ kind }) => kind !== null && kind !== "same").length ?? 0;
  return [
    { id: "conversation", name: "Conversation" },
    { id: "tools", name: "Tools" },
    { id: "state", name: differs ? <>State <span className={styles.count}>{differs}</span></> : "State" },
    { id: "metrics", name: page.history.length > 1 ? `Metrics · ${page.history.length} scorings` : "Metrics" },
    { id: "spans", name: "Time" },
    { id: "judges", name: "Judges" },
  ];
}

function numberFrom1(value: number | null): string | null {
  return value === null ? null : String(value + 1);
}

function useCaseKeys(
  page: CasePage,
  order: CaseOrder,
  number: number | null,
  trial: TrialPage | undefined,
  location: CaseLocation,
  goTo: (number: number) => void,
  goDifference: (one: Difference | null) => void,
): void {
  const [, navigate] = useLocation();
  const step = (by: number) => {
    const place = page.trials.findIndex((one) => one.number === number) + by;
    const next = page.trials[place];
    if (next) goTo(next.number);
  };
  const other = useOtherCase(order);
  const found = trial ? differences(trial) : [];
  useKeys([
    bind("nextPart", () => step(1)),
    bind("previousPart", () => step(-1)),
    ...(trial
      ? [
          bind("attention", () => goDifference(nextDifference(found, location)), "next difference"),
          bind("attentionBack", () => goDifference(nextDifference(found, location, true))),
        ]
      : []),
    bind("next", () => other(1), "next case"),
    bind("previous", () => other(-1), "previous case"),
    bind("up", () => navigate(order.up, { state: rowState("Cases", String(page.position)) }), "up to the run"),
  ]);
}

/** Opens the case after this one, or before it. Keys that are struck while the table is being read count, too, once it is read. */
function useOtherCase(order: CaseOrder): (by: 1 | -1) => void {
  const [, navigate] = useLocation();
  const early = useRef(0);
  useEffect(() => {
    if (!order.known || !early.current) return;
    const place = Math.min(Math.max(order.at + early.current, 0), order.shown.length - 1);
    const to = order.at < 0 ? undefined : order.shown[place];
    early.current = 0;
    if (to) navigate(order.hrefOf(to.position));
  });
  return (by) => {
    const to = by > 0 ? order.next : order.previous;
    if (to) navigate(to.href);
    else if (!order.known) early.current += by;
  };
}

/** What the address names is brought into view. */
function useScroll(location: CaseLocation, trial: TrialPage | undefined): void {
  const { tab, turn, step } = location;
  useEffect(() => {
    if (!trial || turn === null || tab !== "conversation") return;
    const found = document.getElementById(idOf(turn, step)) ?? document.getElementById(idOf(turn));
    found?.scrollIntoView({ block: "center" });
  }, [trial, tab, turn, step]);
}
