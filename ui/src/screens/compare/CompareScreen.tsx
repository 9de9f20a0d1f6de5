import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { useAddress } from "../../app/address";
import { useKeys } from "../../app/keyboard";
import { useTitle } from "../../app/title";
import { useData, useHas } from "../../data/queries";
import type { ComparisonPage, RunsPage, Sided } from "../../data/types";
import { CopyLine, CopyMarkdown } from "../../components/text/Copy";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { KnownLink } from "../../components/forms/AvailableLink";
import { When } from "../../components/text/Num";
import { Outcome } from "../../components/charts/Outcome";
import { Skeleton } from "../../components/feedback/Skeleton";
import { visible } from "../../components/text/safeText";
import { shortCommit } from "../runs/runColumns";
import { Cases } from "./Cases";
import styles from "./Compare.module.css";
import { Measures } from "./MetricTable";
import { Pair } from "./CasePair";
import { Picker } from "./RunPicker";
import { type Asked, apiPath, beside, pairPath, said } from "./comparisonText";

/** Screen 4: two runs compared; with `set` and `case` in the address one case of them side by side. */
export function CompareScreen() {
  const [query] = useAddress();
  const asked: Asked = {
    base: query.get("base") || "previous",
    candidate: query.get("candidate") || "latest",
    margin: query.get("margin"),
  };
  const { data: runs } = useData<RunsPage>("/api/runs?limit=200");
  const { data, error, refetch } = useData<ComparisonPage>(apiPath(asked), { keep: false });
  useTitle(data ? `${data.base.agent} → ${data.candidate.agent}` : "Compare");
  if (data) return <Compared page={data} asked={asked} runs={runs} />;
  if (runs && runs.total < 2) return <TooFew />;
  return (
    <>
      <h1>Compare</h1>
      <Picker asked={asked} runs={runs} page={undefined} />
      {error ? <ErrorNote error={error} retry={refetch} /> : <Loading />}
    </>
  );
}

function Compared({ page, asked, runs }: { page: ComparisonPage; asked: Asked; runs: RunsPage | undefined }) {
  const [query, setQuery] = useAddress();
  const [set, id] = [query.get("set"), query.get("case")];
  const has = useHas();
  if (set !== null && id !== null) {
    const cases = page.cases.filter((one) => has(pairPath(page, one)));
    const go = (to: { eval_set_id: string; eval_id: string } | null) =>
      setQuery({ set: to?.eval_set_id ?? null, case: to?.eval_id ?? null }, { push: to === null });
    return (
      <Pair
        asked={{ ...asked, base: page.base.run_id, candidate: page.candidate.run_id }}
        set={set}
        id={id}
        before={beside(cases, set, id, -1)}
        after={beside(cases, set, id, 1)}
        go={go}
      />
    );
  }
  return <Whole page={page} asked={asked} runs={runs} />;
}

function Whole({ page, asked, runs }: { page: ComparisonPage; asked: Asked; runs: RunsPage | undefined }) {
  const [, navigate] = useLocation();
  const swapped = `/compare?base=${encodeURIComponent(page.candidate.run_id)}&candidate=${encodeURIComponent(page.base.run_id)}`;
  const has = useHas();
  useKeys(has(`/api${swapped}`) ? [{ keys: "s", does: "swap the two runs", run: () => navigate(swapped) }] : []);
  return (
    <>
      <div className="row">
        <h1>
          {name(page.base, page.candidate)} <span aria-hidden>→</span> <span className="hidden">to</span> {name(page.candidate, page.base)}
        </h1>
        <Outcome outcome={page.outcome} />
        <span className="grow" />
        <CopyMarkdown text={page.markdown} />
      </div>
      <p className={styles.sentence}>{said(page.sentence)}</p>
      <Likeness page={page} />
      <Picker asked={asked} runs={runs} page={page} />
      <Measures page={page} />
      <Cases page={page} />
      <Lone page={page} />
      <p className={`${styles.command} no-print`}>
        <CopyLine text={page.command} />
      </p>
    </>
  );
}

/** The agent, and what tells it from the other: its commit, or else its run. `travel@4f2c91a`. */
function name(side: Sided, other: Sided): string {
  const differs = side.commit && other.commit && side.commit !== other.commit;
  if (side.baseline) return side.baseline;
  return `${visible(side.agent)}@${differs ? shortCommit(side.commit) : side.short}`;
}

function Side({ word, side }: { word: string; side: Sided }) {
  const trials = side.num_runs > 1 ? ` × ${side.num_runs}` : "";
  return (
    <li>
      <span className={styles.word}>{word}</span>
      <span>
        <b>{visible(side.agent)}</b> · {side.cases.toLocaleString("en-US")} {side.cases === 1 ? "case" : "cases"}
        {trials} · <When at={side.started_at} exact /> · {side.kept ? <KnownLink to={`/runs/${encodeURIComponent(side.run_id)}`}>run {side.short}</KnownLink> : `run ${side.short}, no longer kept`}
        {side.commit && (
          <>
            {" · "}
            <code>{shortCommit(side.commit)}</code>
          </>
        )}
      </span>
    </li>
  );
}

/** The two runs, and in what else than the agent they differ: like is to be compared with like. */
function Likeness({ page }: { page: ComparisonPage }) {
  const warned = page.unlike.filter(({ expected }) => !expected);
  return (
    <ul className={styles.facts}>
      <Side word="base" side={page.base} />
      <Side word="candidate" side={page.candidate} />
      {page.unlike
        .filter(({ expected }) => expected)
        .map(({ text }) => (
          <Fact key={text} word="differs" text={visible(text)} />
        ))}
      {warned.map(({ text }) => (
        <Fact key={text} word="unlike" text={visible(text)} tone={styles.warned} />
      ))}
      {page.left_out.map((text) => (
        <Fact key={text} word="left out" text={visible(text)} />
      ))}
      {!warned.length && <Fact word="alike" text="Same cases, same criteria, same judge." />}
    </ul>
  );
}

function Fact({ word, text, tone = "" }: { word: string; text: ReactNode; tone?: string | undefined }) {
  return (
    <li className={tone}>
      <span className={styles.word}>{word}</span>
      <span>{text}</span>
    </li>
  );
}

/** Cases that could not be paired. */
function Lone({ page }: { page: ComparisonPage }) {
  const lists = [
    ["only in the base", page.only_base],
    ["only in the candidate", page.only_candidate],
    ["changed, and left out", page.changed_cases],
  ] as const;
  return lists
    .filter(([, cases]) => cases.length)
    .map(([title, cases]) => (
      <details key={title} className={`${styles.lone} panel`}>
        <summary>
          {cases.length.toLocaleString("en-US")} {cases.length === 1 ? "case" : "cases"} {title}
        </summary>
        <ul>
          {cases.slice(0, MOST_LONE).map((one) => (
            <li key={one.name}>
              <Where page={page} base={one.base_position} candidate={one.candidate_position}>
                {visible(one.name)}
              </Where>
            </li>
          ))}
        </ul>
        {cases.length > MOST_LONE && <p className="dim">… and {(cases.length - MOST_LONE).toLocaleString("en-US")} more</p>}
      </details>
    ));
}

const MOST_LONE = 500;

interface WhereProps {
  page: ComparisonPage;
  base: number | null;
  candidate: number | null;
  children: ReactNode;
}

function Where({ page, base, candidate, children }: WhereProps) {
  const [run, position] = candidate !== null ? [page.candidate.run_id, candidate] : [page.base.run_id, base];
  if (position === null) return children;
  return <KnownLink to={`/runs/${encodeURIComponent(run)}/cases/${position}`}>{children}</KnownLink>;
}

function Loading() {
  return (
    <div className="panel" style={{ marginTop: 14 }}>
      <Skeleton rows={8} />
    </div>
  );
}

function TooFew() {
  return (
    <Empty
      title="Nothing to compare yet"
      does="Two runs of the same cases can be compared: run the eval set, change the agent, run it again."
      command="proctor eval AGENT EVAL_SET"
    />
  );
}
