import type { ReactNode } from "react";

import { useAddress } from "../../app/address";
import { useTitle } from "../../components/text/title";
import { useData, useAvailable, useSource } from "../../data/queries";
import type { ComparisonPage, RunsPage, ComparedRunPart } from "../../data/types";
import { CopyLine, CopyMarkdown } from "../../components/text/Copy";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { AvailableLink } from "../../components/forms/AvailableLink";
import { When } from "../../components/text/Num";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { Outcome } from "../../components/charts/Outcome";
import { Prose } from "../../components/text/Prose";
import { Term } from "../../components/terms/Term";
import { Skeleton } from "../../components/feedback/Skeleton";
import { shortCommit } from "../runs/runColumns";
import { capital } from "../../components/terms/caseWords";
import { Cases } from "./Cases";
import { TermText } from "../../components/terms/TermText";
import { countText, numText } from "../../components/text/numberFormats";
import styles from "./Compare.module.css";
import { MetricTable } from "./MetricTable";
import { CasePair } from "./CasePair";
import { RunPicker } from "./RunPicker";
import { type ComparisonQuery, apiPath, ciText, neighbourOf, pairPath, plainText, sentenceText, toneOf } from "./comparisonText";

/** Screen 4: two runs compared; with `set` and `case` in the address one case of them side by side. */
export function CompareScreen() {
  const [query] = useAddress();
  const { live } = useSource();
  const { data: runs } = useData<RunsPage>("/api/runs?limit=200");
  const [base, candidate] = [query.get("base"), query.get("candidate")];
  const isOpen = live && !base && !candidate; // the address names no run: the server takes two that share cases
  const margin = query.get("margin");
  const named = { base: base || "previous", candidate: candidate || "latest", margin };
  const { data, error, refetch } = useData<ComparisonPage>(apiPath(isOpen ? { margin } : named), { keep: false });
  const options: ComparisonQuery = isOpen && data ? { base: data.base.run_id, candidate: data.candidate.run_id, margin } : named;
  useTitle(data ? `${data.base.agent} → ${data.candidate.agent}` : "Compare");
  if (data) return <Compared page={data} options={options} runs={runs} />;
  if (runs && runs.total < 2) return <TooFew />;
  return (
    <>
      <h1>Compare</h1>
      <RunPicker options={options} runs={runs} page={undefined} />
      {error ? <ErrorNote error={error} retry={refetch} /> : <Loading />}
    </>
  );
}

function Compared({ page, options, runs }: { page: ComparisonPage; options: ComparisonQuery; runs: RunsPage | undefined }) {
  const [query, setQuery] = useAddress();
  const [set, id] = [query.get("set"), query.get("case")];
  const has = useAvailable();
  if (set !== null && id !== null) {
    const cases = page.cases.filter((one) => has(pairPath(page, one)));
    const go = (to: { eval_set_id: string; eval_id: string } | null) =>
      setQuery({ set: to?.eval_set_id ?? null, case: to?.eval_id ?? null }, { push: to === null });
    return (
      <CasePair
        options={{ ...options, base: page.base.run_id, candidate: page.candidate.run_id }}
        set={set}
        id={id}
        before={neighbourOf(cases, set, id, -1)}
        after={neighbourOf(cases, set, id, 1)}
        go={go}
      />
    );
  }
  return <Comparison page={page} options={options} runs={runs} />;
}

function Comparison({ page, options, runs }: { page: ComparisonPage; options: ComparisonQuery; runs: RunsPage | undefined }) {
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
      <p className={styles.sentence}><TermText text={sentenceText(page.sentence)} /></p>
      <RunFacts page={page} />
      <RunPicker options={options} runs={runs} page={page} />
      <Questions page={page} />
      <NextSteps steps={page.next_steps} />
      <Cases page={page} />
      <MetricTable page={page} />
      <UnpairedCases page={page} />
      <p className={`${styles.command} no-print`}>
        <CopyLine text={page.command} action="command" />
      </p>
    </>
  );
}

/** What would decide an inconclusive comparison: sentences, and commands to copy. */
function NextSteps({ steps }: { steps: readonly string[] }) {
  if (!steps.length) return null;
  return (
    <section aria-label="Next steps" className="no-print">
      <h2>What would decide</h2>
      {steps.map((step) => {
        const at = step.indexOf(": proctor ");
        return at < 0 ? (
          <p key={step}>
            <Prose text={plainText(step.replace(/:$/, ""))} />
          </p>
        ) : (
          <div key={step} className={styles.step}>
            <p className="dim">{capital(step.slice(0, at))}:</p>
            <CopyLine text={step.slice(at + 2)} />
          </div>
        );
      })}
    </section>
  );
}

/** The two questions of a comparison, each with its confidence interval of the pass rate on one scale. */
function Questions({ page }: { page: ComparisonPage }) {
  const passed = page.measures.find(({ name }) => name === "passed");
  const { general } = page;
  if (!passed || !general || !page.on_these_cases) return null;
  const reach = 1.05 * Math.max(...[passed, general].flatMap(({ low, high, difference }) => [low, high, difference].map((value) => Math.abs(value ?? 0)))) || 1;
  const lines = [
    ["onTheseCases", "On these cases", page.on_these_cases, passed, toneOf(passed)],
    ["inGeneral", "In general", page.in_general, general, "same"],
  ] as const;
  return (
    <section aria-label="Two questions">
      {lines.map(([term, title, sentence, one, tone]) => (
        <div key={term} className={styles.question}>
          <h2>
            <Term name={term}>{title}</Term>
          </h2>
          <IntervalBar
            value={one.difference}
            low={one.low}
            high={one.high}
            from={-reach}
            to={reach}
            mark={0}
            tone={tone}
            label={`${title}: difference of the pass rate${one.low === null ? "" : `, ${ciText(one.confidence)}`}`}
          />
          <p><TermText text={plainText(sentence)} /></p>
        </div>
      ))}
      {page.missing.map((text) => (
        <p key={text} className={styles.warned}>
          {plainText(text)}
        </p>
      ))}
    </section>
  );
}

/** The agent, with its commit if the commits differ, otherwise with its run. `travel@4f2c91a`. */
function name(side: ComparedRunPart, other: ComparedRunPart): string {
  const differs = side.commit && other.commit && side.commit !== other.commit;
  if (side.baseline) return side.baseline;
  return `${side.agent}@${differs ? shortCommit(side.commit) : side.short}`;
}

function Side({ word, side }: { word: string; side: ComparedRunPart }) {
  const trials = side.num_runs > 1 ? ` × ${side.num_runs} trials` : "";
  return (
    <li>
      <span className={styles.word}>{word}</span>
      <span>
        <b>{side.agent}</b> · {countText(side.cases, "case")}
        {trials} · <When at={side.started_at} exact /> · {side.kept ? <AvailableLink to={`/runs/${encodeURIComponent(side.run_id)}`}>run {side.short}</AvailableLink> : `run ${side.short}, no longer stored`}
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
function RunFacts({ page }: { page: ComparisonPage }) {
  const unexpected = page.unlike.filter(({ expected }) => !expected);
  return (
    <ul className={styles.facts}>
      <Side word="baseline" side={page.base} />
      <Side word="candidate" side={page.candidate} />
      {page.unlike
        .filter(({ expected }) => expected)
        .map(({ text }) => (
          <Fact key={text} word="differs" text={text} />
        ))}
      {unexpected.map(({ text }) => (
        <Fact key={text} word="warning" text={text} tone={styles.warned} />
      ))}
      {!unexpected.length && <Fact word="same" text={page.base.cases === page.candidate.cases ? "Cases, criteria and judge." : "Criteria and judge."} />}
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
function UnpairedCases({ page }: { page: ComparisonPage }) {
  const lists = [
    ["only in the baseline", page.only_base],
    ["only in the candidate", page.only_candidate],
    ["changed, and left out", page.changed_cases],
  ] as const;
  return lists
    .filter(([, cases]) => cases.length)
    .map(([title, cases]) => (
      <details key={title} className={`${styles.lone} panel`}>
        <summary>
          {countText(cases.length, "case")} {title}
        </summary>
        <ul>
          {cases.slice(0, MAX_UNPAIRED).map((one) => (
            <li key={one.name}>
              <CaseLink page={page} base={one.base_position} candidate={one.candidate_position}>
                {one.name}
              </CaseLink>
            </li>
          ))}
        </ul>
        {cases.length > MAX_UNPAIRED && <p className="dim">… and {numText(cases.length - MAX_UNPAIRED)} more</p>}
      </details>
    ));
}

const MAX_UNPAIRED = 500;

interface CaseLinkProps {
  page: ComparisonPage;
  base: number | null;
  candidate: number | null;
  children: ReactNode;
}

function CaseLink({ page, base, candidate, children }: CaseLinkProps) {
  const [run, position] = candidate !== null ? [page.candidate.run_id, candidate] : [page.base.run_id, base];
  if (position === null) return children;
  return <AvailableLink to={`/runs/${encodeURIComponent(run)}/cases/${position}`}>{children}</AvailableLink>;
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
      does="A comparison shows which cases became worse or better between two runs. Run the eval set, change the agent, and run it again."
      command="proctor eval AGENT EVAL_SET"
    />
  );
}
