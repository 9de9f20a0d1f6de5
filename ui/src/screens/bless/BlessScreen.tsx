import { useQuery } from "@tanstack/react-query";
import { useCallback, useDeferredValue, useMemo, useState } from "react";
import { Link, useParams } from "wouter";
import { useAddress } from "../../app/address";
import { bind, stepFocus, useKeys } from "../../app/keyboard";
import { useTitle } from "../../components/text/title";
import { pathOf, useChange, useSource } from "../../data/queries";
import type { SourceError } from "../../data/source";
import type { BlessCase, BlessPage, BlessedPage } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { Copy, CopyLine } from "../../components/text/Copy";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { CheckField } from "../../components/forms/Field";
import { Skeleton } from "../../components/feedback/Skeleton";
import { numText } from "../../components/text/numberFormats";
import { useTableOf } from "../run/useShownCases";
import { Breakable } from "../../components/text/Breakable";
import styles from "./Bless.module.css";
import { CaseReview } from "./CaseReview";
import { blessCommand, changedCases, lostComments, positionsToBless, readBlessRequest, sortAsTable, steadyCases, writeButtonText } from "./blessRequest";

/** Screen 8: what the agent did becomes what is expected, case by case, after a look at each. */
export function BlessScreen() {
  const { run = "" } = useParams();
  const [query, setQuery] = useAddress();
  useTitle("Bless");
  const source = useSource();
  const named = readBlessRequest(query);
  const { filter, isRead, sortCases } = useCaseOrder(run, named.cases ? "" : (query.get("q") ?? ""), query.get("judging"));
  const request = { ...named, cases: filter?.cases ?? named.cases };
  const path = `/api/runs/${encodeURIComponent(run)}/bless`;
  const preview = useQuery<BlessPage, SourceError>({
    queryKey: [path, JSON.stringify(request)],
    queryFn: async ({ signal }) => (await source.send<BlessPage>("POST", `${path}/preview`, { body: request, signal })).body,
    enabled: !filter || filter.cases !== null || Boolean(filter.problem),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  });
  const { refetch } = preview;
  const data = useMemo(() => preview.data && isRead ? { ...preview.data, cases: sortCases(preview.data.cases) } : undefined, [preview.data, isRead, sortCases]);
  const error = preview.error ?? filter?.error;
  if (!data) return error ? <ErrorNote error={error} retry={refetch} /> : <Skeleton rows={8} />;
  const choose = (position: number, trial: number) => setQuery({ trials: addTrial(request.trials, position, trial), trial: null });
  const force = (on: boolean) => setQuery({ force: on ? "1" : null });
  return <Review key={data.etag} page={data} filter={filter} request={request} path={path} again={() => void refetch()} choose={choose} force={force} />;
}

interface FilteredCases {
  /** The filter of the table from which this page was opened. */
  text: string;
  /** Where the run's page has this filter. */
  run: string;
  /** The positions of the cases that match it and did not pass; null until the table is read, and if the filter cannot be read. */
  cases: number[] | null;
  /** Why the filter cannot be read: then it matches every case. */
  problem: string;
  error: SourceError | null;
}

/** The order of the run's table, and with a filter the cases of the filtered table that can be blessed. */
function useCaseOrder(run: string, text: string, scoring: string | null) {
  const { table, complete, error } = useTableOf(run, text, "", scoring);
  const sortCases = useCallback((cases: readonly BlessCase[]) => sortAsTable(cases, table.taken), [table.taken]);
  const isRead = complete || error !== null; // without the table, the cases are in the order of the run
  if (!text) return { filter: null, isRead, sortCases };
  const problem = complete ? table.filter.problem : "";
  const cases = complete && !problem ? positionsToBless(table.taken) : null;
  const filter: FilteredCases = { text, run: pathOf(`/runs/${encodeURIComponent(run)}`, { q: text, judging: scoring }), cases, problem, error };
  return { filter, isRead, sortCases };
}

function addTrial(trials: Record<string, number>, position: number, trial: number): string {
  const all: Record<string, number> = { ...trials, [String(position)]: trial };
  return Object.entries(all)
    .map(([place, number]) => `${place}:${number + 1}`)
    .join(",");
}

interface ReviewProps {
  page: BlessPage;
  filter: FilteredCases | null;
  request: ReturnType<typeof readBlessRequest>;
  path: string;
  again: () => void;
  choose: (position: number, trial: number) => void;
  /** Include the cases that were changed since they were run. */
  force: (on: boolean) => void;
}

function Review({ page, filter, request, path, again, choose, force }: ReviewProps) {
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set()); // a case is accepted by a person who has seen it
  const [lose, setLose] = useState(false);
  const change = useChange<BlessedPage>();
  const reviewed = useDeferredValue(page.cases, page.cases.slice(0, FIRST_SHOWN));
  const ready = changedCases(page.cases);
  const accepted = ready.filter(({ position }) => ticked.has(position));
  const lost = lostComments(page, accepted);
  const write = () =>
    change.mutate({
      method: "POST",
      path,
      etag: `"${page.etag}"`,
      body: { cases: accepted.map(({ position }) => position), trials: trialsOf(accepted), force: request.force, lose_comments: lose },
    });
  const toggle = (position: number, on: boolean) => setTicked(on ? new Set([...ticked, position]) : remove(ticked, position));
  useBoxKeys();
  if (change.data) return <Written page={page} blessed={change.data.body} />;
  return (
    <>
      <Head page={page} filter={filter} command={blessCommand(page.short, accepted, request)} />
      <Choices cases={page.cases} forced={request.force} force={force} ready={ready} ticked={ticked} setTicked={setTicked} />
      {page.problems.map((problem, index) => (
        <ErrorNote key={index} error={{ message: problem }} />
      ))}
      {!page.cases.length && (
        <Empty inside title="Nothing to bless" does={`${filter?.cases ? "Every case that matches the filter passed or was not run" : "No case of this run failed"}. From a case's own page any case can be blessed.`} to={`/runs/${page.run_id}`} toName="Back to the run" />
      )}
      {reviewed.map((one) => (
        <CaseReview key={one.position} run={page.run_id} one={one} on={ticked.has(one.position)} toggle={(on) => toggle(one.position, on)} choose={(trial) => choose(one.position, trial)} />
      ))}
      {page.cases.length > 0 && (
        <div className={styles.foot}>
          {lost.length > 0 && (
            <div className={styles.lost}>
              <b>Comments that would be lost:</b>
              <ul>
                {lost.map((comment) => (
                  <li key={comment}>
                    <code>{comment}</code>
                  </li>
                ))}
              </ul>
              <CheckField label="Discard them" checked={lose} onChange={(event) => setLose(event.target.checked)} />
            </div>
          )}
          <ErrorNote error={change.error} {...(change.error ? { retry: again } : {})} />
          <div className="row">
            <Button look="first" action="write" does="write the ticked cases" busy={change.isPending} disabled={accepted.length ? lost.length > 0 && !lose && "agree to lose the comments" : NOTHING_TICKED} onClick={write}>
              {writeButtonText(accepted)}
            </Button>
            <span className="dim">Nothing is written before you click. The rest of the file stays unchanged, byte for byte.</span>
          </div>
        </div>
      )}
    </>
  );
}

const FIRST_SHOWN = 50; // cases that are drawn before the others
const NOTHING_TICKED = "tick a case";
const BOX = "input[type=checkbox]";
const BOXES = `section[data-status] ${BOX}`;

/** The box of the case that has the focus; without one, the first box. */
function boxOfCase(): HTMLElement | null | undefined {
  const at = document.activeElement?.closest("section[data-status]");
  return at ? at.querySelector<HTMLElement>(BOX) : document.querySelector<HTMLElement>(BOXES);
}

/** j and k go from case to case that can be ticked, x ticks. */
function useBoxKeys(): void {
  useKeys([
    bind("next", () => stepFocus(BOXES, 1), "next case"),
    bind("previous", () => stepFocus(BOXES, -1), "previous case"),
    bind(
      "choose",
      () => {
        const box = boxOfCase();
        box?.focus();
        box?.click();
      },
      "tick the case",
    ),
  ]);
}

interface ChoicesProps {
  cases: readonly BlessCase[];
  forced: boolean;
  force: (on: boolean) => void;
  ready: readonly BlessCase[];
  ticked: ReadonlySet<number>;
  setTicked: (ticked: ReadonlySet<number>) => void;
}

/** What holds for many cases at once: those whose trials differ are ticked one by one. */
function Choices({ cases, forced, force, ready, ticked, setTicked }: ChoicesProps) {
  const steady = steadyCases(ready);
  const outdated = cases.filter(({ changed_since }) => changed_since).length;
  return (
    <div className="row">
      {steady.length > 1 && (
        <Button look="quiet" action="tick" onClick={() => setTicked(new Set([...ticked, ...steady.map(({ position }) => position)]))}>
          {steady.length === ready.length ? `Tick all ${numText(steady.length)}` : `Tick the ${numText(steady.length)} whose trials agree`}
        </Button>
      )}
      {ticked.size > 0 && (
        <Button look="quiet" action="untick" onClick={() => setTicked(new Set())}>
          Untick all
        </Button>
      )}
      {(outdated > 0 || forced) && (
        <CheckField
          label={forced ? "Include cases that were changed since they were run" : `Include ${outdated === 1 ? "the case" : `the ${outdated} cases`} changed since the run`}
          checked={forced}
          onChange={(event) => force(event.target.checked)}
        />
      )}
    </div>
  );
}

function trialsOf(cases: readonly BlessCase[]): Record<string, number> {
  return Object.fromEntries(cases.flatMap(({ position, trial }) => (trial === null ? [] : [[String(position), trial] as const])));
}

function remove(set: ReadonlySet<number>, one: number): ReadonlySet<number> {
  return new Set([...set].filter((each) => each !== one));
}

function Head({ page, filter, command }: { page: BlessPage; filter: FilteredCases | null; command: string }) {
  return (
    <>
      <div className={styles.crumbs}>
        <Link href={filter?.run ?? `/runs/${page.run_id}`}>run {page.short}</Link>
        <span><Breakable text={page.agent} /></span>
        <span className="grow" />
        <Copy text={command} action="command" disabled={!command && NOTHING_TICKED}>Copy command</Copy>
      </div>
      <h1>Bless (accept) what the agent did</h1>
      <p className="dim">
        The answers, tool calls and stated keys of the final state that you accept become the expectation. Check each case: a mistake that you accept is no longer
        detected.
      </p>
      {filter?.problem && <ErrorNote error={{ message: `${filter.problem} All failed cases are shown.` }} />}
      {filter?.cases && (
        <p>
          Only cases that match the filter <code><Breakable text={filter.text} /></code> and did not pass: {numText(page.cases.length)}.{" "}
          <Link href={`/runs/${page.run_id}/bless`}>All failed cases</Link>
        </p>
      )}
    </>
  );
}

function Written({ page, blessed }: { page: BlessPage; blessed: BlessedPage }) {
  return (
    <Empty
      title="Written"
      does={blessed.files.map(({ path, cases }) => `${path}: ${cases.join(", ")}`).join("; ") || "All expectations already match."}
      to={`/runs/${page.run_id}`}
      toName="Back to the run"
    >
      {blessed.files.map(({ path }) => (
        <CopyLine key={path} text={`git diff -- ${path}`} />
      ))}
    </Empty>
  );
}
