import { useLayoutEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import type { ActionName } from "../../app/actions";
import { useWait } from "../../app/keyboard";
import { useChange, useData } from "../../data/queries";
import type { AgentsPage, StartedRun, RunRequest } from "../../data/types";
import { Button, LinkButton } from "../../components/forms/Button";
import { Dialog } from "../../components/forms/Dialog";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { SelectField } from "../../components/forms/Field";
import { Skeleton } from "../../components/feedback/Skeleton";
import { EstimatePanel, useEstimate } from "./EstimatePanel";
import { RunOutcome } from "./RunOutcome";
import styles from "./Start.module.css";
import { type StartRequest, isComplete, problemsIn, readRepeated, requestBody, requestText, startAddress } from "./startRequest";

interface Props {
  open: boolean;
  onClose: () => void;
  title: string;
  /** The path that answers with the request of the run. */
  source: string;
  /** Show the outcome here instead of opening the new run. */
  stay?: boolean;
}

/** Start a run like a stored one, or of an eval set: what it does, what it takes, and, with `stay`, its outcome. */
export function RunDialog({ open, onClose, title, source, stay = false }: Props) {
  return (
    <Dialog open={open} onClose={onClose} title={title}>
      <Content key={source} source={source} stay={stay} close={onClose} />
    </Dialog>
  );
}

function Content({ source, stay, close }: { source: string; stay: boolean; close: () => void }) {
  const repeated = useData<RunRequest>(source, { keep: false, fresh: 0 });
  const agents = useData<AgentsPage>("/api/agents");
  const error = repeated.error ?? agents.error;
  if (error) return <ErrorNote error={error} />;
  if (!repeated.data || !agents.data) return <Skeleton rows={4} height="24px" />;
  if (!agents.data.can_run) return <ErrorNote error={{ message: agents.data.why_not }} />;
  return <Form repeated={repeated.data} agents={agents.data} stay={stay} close={close} />;
}

function Form({ repeated, agents, stay, close }: { repeated: RunRequest; agents: AgentsPage; stay: boolean; close: () => void }) {
  const [, navigate] = useLocation();
  const [request, setRequest] = useState(() => readRepeated(repeated.request));
  const state = useEstimate(request);
  const begin = useChange<StartedRun>(["/api/runs"]);
  const refused = begin.error?.status === 422 ? problemsIn(begin.error.document) : [];
  const problems = refused.length ? refused : state.problems;
  const go = () =>
    begin.mutate({ method: "POST", path: "/api/runs", body: requestBody(request) }, { onSuccess: ({ body }) => !stay && navigate(`/runs/${encodeURIComponent(body.run_id)}`) });
  const form = useRef<HTMLFormElement>(null);
  const canStart = isComplete(request) && !state.busy && problems.length === 0 && !begin.isPending;
  const isRefused = problems.length > 0;
  useWait(state.busy);
  useLayoutEffect(() => {
    // the button loses the focus while it is disabled: an error that prevents the run gets it, and Enter does not close the dialog
    const to = canStart ? "[type=submit]" : isRefused && !form.current?.contains(document.activeElement) ? "[data-problems]" : null;
    if (to) form.current?.querySelector<HTMLElement>(to)?.focus();
  }, [canStart, isRefused]);
  if (begin.data && stay) return <RunOutcome run={begin.data.body.run_id} again={() => begin.reset()} close={close} />;
  return (
    <form
      ref={form}
      className={styles.dialog}
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <Agent request={request} agents={agents} onChange={(agent) => setRequest({ ...request, agent })} />
      <p>{requestText(request)}</p>
      {repeated.notes.map((note) => (
        <p key={note} className={styles.hint}>{note}</p>
      ))}
      <EstimatePanel state={state} />
      {isRefused && (
        <div data-problems tabIndex={-1} role="alert">
          {problems.map(({ message }) => (
            <p key={message} className={styles.error}>{message}</p>
          ))}
        </div>
      )}
      <ErrorNote error={begin.error && !refused.length ? begin.error : state.error} />
      <p className={styles.hint}>
        This is a new run in the history.{repeated.run_id && ` Run ${repeated.run_id.slice(0, 6)} stays unchanged.`}
      </p>
      <div className={styles.buttons}>
        <LinkButton to={startAddress(request)}>Change options</LinkButton>
        <Button type="submit" look="first" busy={begin.isPending} disabled={!canStart}>
          {begin.isPending ? "Starting …" : "Start the run"}
        </Button>
      </div>
    </form>
  );
}

/** The agent of the run, also one that the page may not start: the problem names it. */
function Agent({ request, agents, onChange }: { request: StartRequest; agents: AgentsPage; onChange: (agent: string) => void }) {
  const names = agents.items.map(({ name }) => name);
  const listed = names.includes(request.agent) ? names : [request.agent, ...names];
  return <SelectField label="Agent" options={listed.map((name) => [name, name || "choose one"] as const)} value={request.agent} onChange={({ target }) => onChange(target.value)} />;
}

interface ButtonProps {
  label: string;
  action?: ActionName;
  title: string;
  source: string;
  stay?: boolean;
  look?: "plain" | "quiet";
  disabled?: boolean | string;
  /** What must be done first; the dialog opens if it succeeds. */
  before?: () => Promise<boolean>;
}

/** A button, and a key, that open the dialog. */
export function RunButton({ label, action = "runAgain", title, source, stay = false, look = "plain", disabled = false, before }: ButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const open = () => {
    if (disabled) return;
    if (before) void before().then((done) => done && setOpen(true));
    else setOpen(true);
  };
  return (
    <>
      <Button look={look} action={action} does={label.toLowerCase()} disabled={disabled} onClick={open}>{label}</Button>
      <RunDialog open={isOpen} onClose={() => setOpen(false)} title={title} source={source} stay={stay} />
    </>
  );
}
