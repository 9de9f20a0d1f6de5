import { useTitle } from "../../components/text/title";
import { pathOf, useData } from "../../data/queries";
import type { ChangedLine, PairLine, PairPage, PairSide } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { CopyLine } from "../../components/text/Copy";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { AvailableLink } from "../../components/forms/AvailableLink";
import { Outcome } from "../../components/charts/Outcome";
import { Prose } from "../../components/text/Prose";
import { Skeleton } from "../../components/feedback/Skeleton";
import { type Step, Steps } from "../../components/tables/Steps";
import styles from "./Compare.module.css";
import { type ComparisonQuery, caseHref } from "./comparisonText";

interface Props {
  options: ComparisonQuery;
  set: string;
  id: string;
  before: ChangedLine | null;
  after: ChangedLine | null;
  /** To another case, or back to all of them. */
  go: (to: ChangedLine | null) => void;
}

/** One case of two runs: a trial of each side by side, from the first difference on. */
export function CasePair({ options, set, id, before, after, go }: Props) {
  useTitle(`${id}: side by side`);
  const path = pathOf("/api/compare/case", { base: options.base, candidate: options.candidate, set, case: id });
  const { data, error, refetch } = useData<PairPage>(path, { keep: false });
  return (
    <>
      <div className="row">
        <Button look="quiet" action="up" does="up: all changed cases" onClick={() => go(null)}>
          ← All changed cases
        </Button>
        <span className="grow" />
        <Button onClick={() => before && go(before)} disabled={!before && "this is the first one"} action="previous" does="previous changed case" title="Previous changed case">
          ← previous
        </Button>
        <Button onClick={() => after && go(after)} disabled={!after && "this is the last one"} action="next" does="next changed case" title="Next changed case">
          next →
        </Button>
      </div>
      <h1 className={styles.case}>{id}</h1>
      <p className="dim">{set}</p>
      {data ? (
        <BothTrials page={data} />
      ) : error ? (
        <ErrorNote error={error} retry={refetch} />
      ) : (
        <div className="panel">
          <Skeleton rows={6} />
        </div>
      )}
    </>
  );
}

function BothTrials({ page }: { page: PairPage }) {
  const sentence = `${page.sentence.charAt(0).toUpperCase()}${page.sentence.slice(1)}.`;
  return (
    <>
      <p className={styles.sentence}>{sentence}</p>
      <ul className={styles.facts}>
        <Trial word="baseline" side={page.base} />
        <Trial word="candidate" side={page.candidate} />
      </ul>
      {turns(page.lines).map(([turn, lines]) => (
        <section key={turn} aria-label={`Turn ${turn + 1}`}>
          <h2>
            Turn {turn + 1}
            {turn === page.turn && " · first difference"}
          </h2>
          <div className={`${styles.steps} panel`}>
            <Steps steps={lines.map(stepOf)} heads={["baseline", "candidate"]} />
          </div>
        </section>
      ))}
      <MetricReasons page={page} />
      <p className={`${styles.command} no-print`}>
        <CopyLine text={page.command} action="command" />
      </p>
    </>
  );
}

function Trial({ word, side }: { word: string; side: PairSide }) {
  return (
    <li>
      <span className={styles.word}>{word}</span>
      <span className="row">
        <Outcome outcome={side.outcome} />
        <span>
          {side.trial} · {side.run.agent} · {side.position === null ? null : (
            <AvailableLink to={caseHref(side.run.run_id, side.position, side.number) ?? ""} api={`/api${caseHref(side.run.run_id, side.position)}`}>
              the case in run {side.run.short}
            </AvailableLink>
          )}
        </span>
      </span>
    </li>
  );
}

/** The lines of each turn, in their order. */
export function turns(lines: readonly PairLine[]): [turn: number, lines: PairLine[]][] {
  const groups = new Map<number, PairLine[]>();
  for (const line of lines) groups.set(line.turn, [...(groups.get(line.turn) ?? []), line]);
  return [...groups].sort(([one], [other]) => one - other);
}

const ONLY: Partial<Record<PairLine["kind"], string>> = { missing: "only in the baseline", extra: "only in the candidate" };

export function stepOf(line: PairLine): Step {
  const head = { text: `${line.what}: `, changed: false };
  const side = (marked: PairLine["base"]) => (marked ? [head, ...marked.pieces] : []);
  const note = ONLY[line.kind];
  return { kind: line.kind, expected: side(line.base), actual: side(line.candidate), ...(note ? { note } : {}) };
}

/** The reasons of the gating metrics in both trials. */
function MetricReasons({ page }: { page: PairPage }) {
  if (!page.reasons.length) return null;
  return (
    <section aria-label="Reasons of the metrics">
      <h2>Reasons of the metrics</h2>
      <div className={`${styles.reasons} panel`} role="table" aria-label="Reasons of the metrics">
        <div role="row" className={styles.reasonsHead}>
          <div role="columnheader">metric</div>
          <div role="columnheader">baseline</div>
          <div role="columnheader">candidate</div>
        </div>
        {page.reasons.map((one) => (
          <div role="row" key={one.metric}>
            <div role="rowheader">{one.metric}</div>
            <div role="cell" data-word="baseline">
              <Prose text={one.base} />
            </div>
            <div role="cell" data-word="candidate">
              <Prose text={one.candidate} />
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}
