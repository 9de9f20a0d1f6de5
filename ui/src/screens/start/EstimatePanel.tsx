import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useSource } from "../../data/queries";
import type { SourceError } from "../../data/source";
import type { EstimatePage, EstimatedFigure, StartProblem } from "../../data/types";
import { CopyLine } from "../../components/text/Copy";
import { Term } from "../../components/terms/Term";
import { moneyText, numText, secondsText } from "../../components/text/numberFormats";
import styles from "./Start.module.css";
import { type StartRequest, isComplete, problemsIn, requestBody } from "./startRequest";

const PAUSE = 600; // milliseconds without a change before it is asked what it would take

interface EstimateState {
  estimate: EstimatePage | null;
  problems: readonly StartProblem[];
  /** An error besides those of the request. */
  error: SourceError | null;
  busy: boolean;
}

/** What a run would take, asked a moment after the last change; with it comes all that is wrong. */
export function useEstimate(request: StartRequest): EstimateState {
  const source = useSource();
  const sent = isComplete(request) ? JSON.stringify(requestBody(request)) : null;
  const [settled, setSettled] = useState(sent);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(sent), PAUSE);
    return () => window.clearTimeout(timer);
  }, [sent]);
  const { data, error, isFetching } = useQuery<EstimatePage, SourceError>({
    queryKey: ["estimate", settled],
    queryFn: async ({ signal }) => (await source.send<EstimatePage>("POST", "/api/estimates", { body: JSON.parse(settled ?? "{}"), signal })).body,
    enabled: settled !== null && settled === sent,
    retry: false,
    staleTime: 30_000,
    refetchOnWindowFocus: false,
  });
  const current = settled === sent && sent !== null;
  const refused = error?.status === 422;
  return {
    estimate: current ? (data ?? null) : null,
    problems: current && refused ? problemsIn(error.document) : [],
    error: current && error && !(refused && problemsIn(error.document).length) ? error : null,
    busy: sent !== null && (isFetching || settled !== sent),
  };
}

/** The estimated usage of the run, with prediction intervals, and the run that the estimate comes from. */
export function EstimatePanel({ state }: { state: EstimateState }) {
  const { estimate, busy, problems } = state;
  return (
    <div className={styles.estimate} aria-busy={busy}>
      <div role="status">
        {estimate ? (
          <Figures estimate={estimate} />
        ) : (
          <p className="dim">{busy ? "Estimating …" : problems.length ? "The run cannot start: see the errors." : "Choose an agent and an eval set."}</p>
        )}
      </div>
      {estimate && (
        <>
          {estimate.notes.map((note) => (
            <p key={note} className={styles.hint}>
              {sentence(note)}
            </p>
          ))}
          <p className={styles.hint}>Equivalent command:</p>
          <CopyLine text={estimate.command} action="command" />
        </>
      )}
    </div>
  );
}

function Figures({ estimate }: { estimate: EstimatePage }) {
  const { trials, cases, seconds, purposes, run_id, seen, confidence } = estimate;
  const cost = estimate.cost ?? (estimate.known_cost?.value ? estimate.known_cost : null);
  const calls = purposes.find(({ purpose }) => purpose === "judge")?.calls;
  return (
    <>
      <dl className={styles.figures}>
        <div>
          <dd>{numText(trials)}</dd>
          <dt>
            {trials === 1 ? "trial" : "trials"} of {numText(cases)} {cases === 1 ? "case" : "cases"}
          </dt>
        </div>
        <div>
          <dd>{cost ? `${estimate.cost ? "" : "at least "}${moneyText(cost.value)}` : "unknown"}</dd>
          <dt>
            <Term name="estimate">Cost</Term>
            {cost && intervalText(cost, confidence, moneyText)}
          </dt>
        </div>
        <div>
          <dd>{seconds ? secondsText(seconds.value) : "unknown"}</dd>
          <dt>
            <Term name="estimate">Duration</Term>
            {seconds && intervalText(seconds, confidence, secondsText)}
          </dt>
        </div>
        {calls && (
          <div>
            <dd>{numText(calls.value, 0)}</dd>
            <dt>
              <Term name="estimate">Judge calls</Term>
              {intervalText(calls, confidence, (value) => numText(value, 0))}
            </dt>
          </div>
        )}
      </dl>
      <p className={styles.hint}>
        {run_id
          ? `Based on ${seen} ${seen === 1 ? "case" : "cases"} of run ${run_id.slice(0, 6)}${seen > 1 ? ". The prediction intervals (PI) hold if the other cases are similar" : "; one case gives no interval"}.`
          : "No earlier run of these eval sets."}
      </p>
    </>
  );
}

/** The prediction interval; nothing if it would be a single value. */
export function intervalText({ low, high }: Pick<EstimatedFigure, "low" | "high">, confidence: number, text: (value: number) => string): string {
  return low === null || high === null || text(low) === text(high) ? "" : `, ${100 * confidence} % PI: ${text(low)} to ${text(high)}`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?)]$/.test(text) ? "" : ".");
}
