import { useState } from "react";
import { useLocation } from "wouter";
import { useAddress } from "../../app/address";
import { useTitle } from "../../components/text/title";
import { agentSetsFirst } from "../../data/agentEvalSets";
import { useChange, useData } from "../../data/queries";
import type { AgentsPage, StartedRun, MetricsPage, RunsPage, StartPage, StartProblem } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { CheckField, SelectField, TextField } from "../../components/forms/Field";
import { namesText, parseNames } from "../../components/forms/nameList";
import { Skeleton } from "../../components/feedback/Skeleton";
import { numText } from "../../components/text/numberFormats";
import { EstimatePanel, useEstimate } from "./EstimatePanel";
import { MetricsPicker } from "./MetricsPicker";
import { SetsPicker } from "./SetsPicker";
import styles from "./Start.module.css";
import { type NumberName, type StartRequest, isComplete, isWhole, numberProblem, parseNumber, problemsIn, problemsOf, readStartRequest, requestBody, writeStartRequest, invalidNumbers } from "./startRequest";

/** Screen 11: start a run. The form shows an estimate and every error before the run starts. */
export function StartScreen() {
  useTitle("Start a run");
  const agents = useData<AgentsPage>("/api/agents");
  const start = useData<StartPage>("/api/start");
  const metrics = useData<MetricsPage>("/api/metrics", { fresh: Infinity });
  const error = agents.error ?? start.error ?? metrics.error;
  if (error) return <ErrorNote error={error} retry={() => Promise.all([agents.refetch(), start.refetch(), metrics.refetch()])} />;
  if (!agents.data || !start.data || !metrics.data) return <Loading />;
  if (!agents.data.can_run) return <Empty title="No run can be started here" does={agents.data.why_not} command="proctor eval AGENT EVAL_SET" />;
  return <Form agents={agents.data} start={start.data} metrics={metrics.data} />;
}

interface Known {
  agents: AgentsPage;
  start: StartPage;
  metrics: MetricsPage;
}

function Form({ agents, start, metrics }: Known) {
  const [query, setQuery] = useAddress();
  const [, navigate] = useLocation();
  const address = readStartRequest(query);
  const [request, setAsked] = useState<StartRequest>(() => withDefaults(address.request, agents));
  const state = useEstimate(request);
  const begin = useChange<StartedRun>(["/api/runs"]);
  const change = (part: Partial<StartRequest>) => {
    const next = { ...request, ...part };
    setAsked(next);
    begin.reset();
    setQuery({ ask: writeStartRequest(next), failed_of: null });
  };
  const go = () =>
    begin.mutate(
      { method: "POST", path: "/api/runs", body: requestBody(request) },
      { onSuccess: ({ body }) => navigate(`/runs/${encodeURIComponent(body.run_id)}`) },
    );
  const refused = begin.error?.status === 422 ? problemsIn(begin.error.document) : [];
  const problems = refused.length ? refused : state.problems;
  const general = problems.filter(({ field }) => !field);
  return (
    <form
      className={styles.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <h1>Start a run</h1>
      <ErrorNote error={address.problem === null ? null : { message: address.problem }} />
      <div className={styles.columns}>
        <div>
          <AgentAndSets request={request} change={change} agents={agents} start={start} problems={problems} />
          <Scoring request={request} change={change} start={start} metrics={metrics} problems={problems} />
          <Limits request={request} change={change} start={start} problems={problems} />
        </div>
        <aside className={`${styles.side} panel`} aria-label="Estimate">
          <h2>Estimate</h2>
          <EstimatePanel state={state} />
          {general.map(({ message }) => (
            <ErrorNote key={message} error={{ message }} />
          ))}
          <ErrorNote error={begin.error && !refused.length ? begin.error : state.error} />
          {problems.length > general.length && (
            <p className={styles.error} role="alert">
              {problems.length === 1 ? "1 error" : `${problems.length} errors`}: see the fields.
            </p>
          )}
          <Button type="submit" look="first" action="runAgain" does="start the run" busy={begin.isPending} disabled={isComplete(request) ? (state.problems.length > 0 || invalidNumbers(request).length > 0) && "correct the errors first" : "choose an agent and an eval set"}>
            {begin.isPending ? "Starting …" : "Start the run"}
          </Button>
        </aside>
      </div>
    </form>
  );
}

function withDefaults(request: StartRequest, agents: AgentsPage): StartRequest {
  const first = agents.items.find(({ name }) => name !== "replay") ?? agents.items[0];
  return request.agent || agents.items.length > 2 ? request : { ...request, agent: first?.name ?? "" };
}

interface Part {
  request: StartRequest;
  change: (part: Partial<StartRequest>) => void;
  problems: readonly StartProblem[];
}

function AgentAndSets({ request, change, agents, start, problems }: Part & Omit<Known, "metrics">) {
  const names = withChosen(agents.items.map(({ name }) => name), request.agent);
  const options = [["", "choose one"], ...names.map((name) => [name, name === "replay" ? "replay (of the recording)" : name])] as const;
  return (
    <section className={styles.part}>
      <h2>Agent and eval sets</h2>
      <SelectField
        label="Agent"
        options={options as readonly (readonly [string, string])[]}
        value={request.agent}
        error={problemsOf(problems, "agent")}
        onChange={({ target }) => change({ agent: target.value })}
      />
      <OptionsOf request={request} change={change} problems={problems} />
      <FailedOf request={request} change={change} problems={problems} />
      <h3>Eval sets</h3>
      <SetsPicker sets={agentSetsFirst(start.sets, agents, request.agent)} chosen={request.eval_sets} onChange={(eval_sets) => change({ eval_sets })} />
      <FieldError text={problemsOf(problems, "eval_sets")} />
      <div className={styles.options}>
        <TextField
          label="Tags"
          hint="Only cases with one of these, separated by commas; one with a comma in quotation marks"
          error={problemsOf(problems, "tags")}
          defaultValue={namesText(request.tags ?? [])}
          onChange={({ target }) => change({ tags: parseNames(target.value) })}
        />
        <NumberField name="limit" label="Limit" hint="Only the first N cases of each eval set" request={request} change={change} problems={problems} />
      </div>
    </section>
  );
}

/** The run whose other options apply: the estimate shows them in the command. */
function OptionsOf({ request, change, problems }: Part) {
  if (!request.options_of) return null;
  return (
    <>
      <p className={styles.hint}>
        The options of run {request.options_of.slice(0, 6)} that have no field here apply, too: see the equivalent command.{" "}
        <Button look="quiet" action="remove" does="leave out the other options" onClick={() => change({ options_of: undefined })}>Leave them out</Button>
      </p>
      <FieldError text={problemsOf(problems, "options_of")} />
    </>
  );
}

function FailedOf({ request, change, problems }: Part) {
  const { data } = useData<RunsPage>("/api/runs?limit=30&outcome=failed&outcome=error&outcome=inconclusive");
  const runs = data?.items ?? [];
  if (!runs.length && !request.failed_of) return null;
  const known = runs.map(({ run_id, short, agent, counts }): [string, string] => {
    const cases = (counts.failed ?? 0) + (counts.error ?? 0) + (counts.inconclusive ?? 0);
    return [run_id, `${short} · ${agent} · ${numText(cases)} ${cases === 1 ? "case" : "cases"}`];
  });
  const named = request.failed_of && !known.some(([id]) => id === request.failed_of) ? [[request.failed_of, request.failed_of] as [string, string]] : [];
  return (
    <SelectField
      label="Only cases that did not pass in"
      hint="From the eval sets of that run, unless you choose others below"
      options={[["", "no run: all cases"], ...named, ...known]}
      value={request.failed_of ?? ""}
      error={problemsOf(problems, "failed_of")}
      onChange={({ target }) => change({ failed_of: target.value })}
    />
  );
}

function Scoring({ request, change, start, metrics, problems }: Part & Omit<Known, "agents">) {
  const hasCriteria = request.criteria !== undefined;
  const asks = metrics.items.filter(({ asks_judge }) => asks_judge).map(({ name }) => name);
  const judged = hasCriteria && Object.keys(request.criteria ?? {}).some((name) => asks.includes(name));
  const projectDefault = start.config ? `the project's config: ${start.config}` : "the config file of each set, else ADK's default criteria";
  const value = hasCriteria ? "*" : (request.config ?? "");
  return (
    <section className={styles.part}>
      <h2>Scoring</h2>
      <SelectField
        label="Criteria"
        options={[["", projectDefault], ["*", "metrics chosen here"], ...withChosen(start.configs, request.config).map((path): [string, string] => [path, path])]}
        value={value}
        error={problemsOf(problems, "config", "criteria", "metrics")}
        onChange={({ target }) => change(chosenConfig(target.value))}
      />
      {hasCriteria && <MetricsPicker metrics={metrics.items} chosen={request.criteria ?? {}} problems={problems} onChange={(criteria) => change({ criteria })} />}
      <div className={styles.options}>
        <TextField
          label="Judge"
          hint={judged ? "Used by the metrics above that need one" : "For metrics that use an LLM judge"}
          placeholder={metrics.judge}
          error={problemsOf(problems, "judge")}
          defaultValue={request.judge ?? ""}
          disabled={request.no_judge ?? false}
          onChange={({ target }) => change({ judge: target.value.trim() })}
        />
        <CheckField label="Use no judge" hint="Metrics that need one are left out" checked={request.no_judge ?? false} onChange={({ target }) => change({ no_judge: target.checked })} />
      </div>
      <Accepted request={request} change={change} />
    </section>
  );
}

const ACCEPTED = [
  ["allow_unasserted", "Allow cases that assert nothing", "They are skipped, never passed; otherwise Proctor refuses the eval set"],
  ["allow_unknown_keys", "Allow unknown keys that seem to state an expectation", "Proctor ignores these keys; otherwise it refuses the eval set"],
  ["warnings_as_errors", "Treat warnings as errors", "The run does not start if there is a warning"],
] as const;

/** What a run accepts of its sets and configs, as the options of `proctor eval` of the same names. */
function Accepted({ request, change }: Omit<Part, "problems">) {
  return (
    <div className={styles.options} role="group" aria-label="Accepted problems">
      {ACCEPTED.map(([name, label, hint]) => (
        <CheckField key={name} label={label} hint={hint} checked={request[name] ?? false} onChange={({ target }) => change({ [name]: target.checked })} />
      ))}
    </div>
  );
}

/** The choices, with the present one: a repeated run may name another agent or config than the project. */
function withChosen(names: readonly string[], chosen: string | undefined): readonly string[] {
  return chosen && !names.includes(chosen) ? [chosen, ...names] : names;
}

function chosenConfig(value: string): Partial<StartRequest> {
  const none = { config: undefined, criteria: undefined } as unknown as Partial<StartRequest>;
  if (value === "*") return { ...none, criteria: {} };
  return value ? { ...none, config: value } : none;
}

function Limits({ request, change, start, problems }: Part & { start: StartPage }) {
  const shared = { request, change, problems };
  return (
    <section className={styles.part}>
      <h2>Trials and limits</h2>
      <div className={styles.options}>
        <NumberField {...shared} name="num_runs" label="Trials per case" hint="Empty: from the config, else the number shown" placeholder={String(start.num_runs)} />
        <NumberField {...shared} name="concurrency" label="Trials in parallel" placeholder={String(start.concurrency)} />
        <NumberField {...shared} name="max_cost" label="Cost limit, US dollars" placeholder={start.max_cost ? String(start.max_cost) : "no limit"} />
        <NumberField {...shared} name="max_judge_calls" label="Judge call limit" placeholder="no limit" />
      </div>
      <details open={["timeout", "retry_errors", "max_time", "max_tokens", "max_failures"].some((name) => name in request)}>
        <summary>More limits</summary>
        <div className={styles.options}>
          <NumberField {...shared} name="timeout" label="Timeout per turn, seconds" placeholder="300" />
          <NumberField {...shared} name="retry_errors" label="Retries" hint="After infrastructure errors, never after a wrong answer" placeholder="0" />
          <NumberField {...shared} name="max_time" label="Time limit, seconds" placeholder="no limit" />
          <NumberField {...shared} name="max_tokens" label="Token limit of the agent" placeholder="no limit" />
          <NumberField {...shared} name="max_failures" label="Failure limit" hint="The run stops after this many failures" placeholder="no limit" />
        </div>
      </details>
    </section>
  );
}

function NumberField({ name, label, hint, placeholder, request, change, problems }: Part & { name: NumberName; label: string; hint?: string; placeholder?: string }) {
  const [text, setText] = useState(request[name] === undefined ? "" : String(request[name]));
  const expected = numberProblem(request, name);
  return (
    <TextField
      label={label}
      hint={hint}
      inputMode={isWhole(name) ? "numeric" : "decimal"}
      placeholder={placeholder}
      value={text}
      error={expected ? `${expected}, not ${text}` : problemsOf(problems, name)}
      onChange={({ target }) => {
        setText(target.value);
        change({ [name]: target.value.trim() === "" ? undefined : (parseNumber(target.value) ?? target.value) });
      }}
    />
  );
}

function FieldError({ text }: { text: string | null }) {
  return text ? (
    <p role="alert" className={styles.error}>
      {text}
    </p>
  ) : null;
}

function Loading() {
  return (
    <>
      <h1>Start a run</h1>
      <div className={styles.columns}>
        <Skeleton rows={8} height="68px" />
        <div className={`${styles.side} panel`}>
          <Skeleton rows={2} height="40px" />
        </div>
      </div>
    </>
  );
}
