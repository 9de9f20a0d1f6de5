import { useAddress } from "../../app/address";
import { useTitle } from "../../components/text/title";
import { useData, useSource } from "../../data/queries";
import type { HistoryPage } from "../../data/types";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { Skeleton } from "../../components/feedback/Skeleton";
import { AllCases } from "./AllCases";
import { OneCase } from "./OneCase";
import { type HistoryQuery, apiPath, commandOf } from "./historyText";

/** Screen 12: cases and metrics over the runs. */
export function HistoryScreen() {
  const [query] = useAddress();
  const options: HistoryQuery = { set: query.get("set"), case: query.get("case"), agent: query.get("agent"), limit: query.get("limit"), combine: query.get("combine") };
  useTitle(options.case ? `${options.case}: history` : "History");
  const { data, error, refetch } = useData<HistoryPage>(apiPath(options), { keep: false });
  if (!data) return error ? <HistoryError error={error} retry={refetch} command={commandOf(options)} /> : <Loading />;
  if (!data.runs.length) return <NoRuns narrowed={Boolean(options.agent ?? options.set)} />;
  return options.case === null ? <AllCases page={data} options={options} /> : <OneCase page={data} options={options} />;
}

interface HistoryErrorProps {
  error: { message: string; status: number };
  retry: () => unknown;
  /** What shows the same in a terminal. */
  command: string;
}

function HistoryError({ error, retry, command }: HistoryErrorProps) {
  const { live } = useSource();
  if (error.status === 404 && !live) {
    return <Empty title="This file does not contain that history" does="The command shows it." command={command} />;
  }
  if (error.status === 404) return <Empty title="No history found" does={error.message} to="/history" toName="All cases" />;
  return (
    <>
      <h1>History</h1>
      <ErrorNote error={error} retry={retry} />
    </>
  );
}

function Loading() {
  return (
    <>
      <h1>History</h1>
      <div className="panel">
        <Skeleton rows={10} />
      </div>
    </>
  );
}

function NoRuns({ narrowed }: { narrowed: boolean }) {
  if (narrowed) return <Empty title="No matching run" does="No stored run has this agent and eval set." to="/history" toName="All cases" />;
  return (
    <Empty
      title="No history yet"
      does="History shows since when a case fails, and what changed. Every stored run adds to it."
      command="proctor eval AGENT EVAL_SET"
    />
  );
}
