import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { pathOf, useData } from "../../data/queries";
import type { CasesPage, RunPage } from "../../data/types";
import { Button, LinkButton } from "../../components/forms/Button";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { Outcome } from "../../components/charts/Outcome";
import { Id } from "../../components/text/Breakable";
import { Prose } from "../../components/text/Prose";
import { sentenceOf } from "../run/runText";
import styles from "./Start.module.css";

const POLL = 500; // milliseconds between two looks at a run under way
const MOST = 5; // cases that are listed

/** The run that was started here, until its end: each case with its outcome and the reason. */
export function RunOutcome({ run, again, close }: { run: string; again: () => void; close: () => void }) {
  const client = useQueryClient();
  const [ended, setEnded] = useState(false);
  const path = `/api/runs/${encodeURIComponent(run)}`;
  const poll = ended ? false : POLL;
  const page = useData<RunPage>(pathOf(path, { brief: "true" }), { poll, fresh: 0 });
  const cases = useData<CasesPage>(pathOf(`${path}/cases`, { limit: MOST, brief: "true" }), { poll, fresh: 0 });
  const isOver = page.data !== undefined && page.data.state !== "running";
  useEffect(() => {
    if (!isOver || ended) return;
    setEnded(true);
    void client.invalidateQueries({ predicate: ({ queryKey: [key] }) => typeof key === "string" && key.startsWith("/api/runs") });
  }, [isOver, ended, client]);
  if (page.error) return <ErrorNote error={page.error} retry={page.refetch} />;
  const rows = cases.data?.items ?? [];
  return (
    <>
      <p role="status" className="row">
        <Outcome outcome={isOver ? page.data?.outcome ?? "unfinished" : "running"} />
        <span>{page.data && isOver ? sentenceOf(page.data) : "The run is in progress."}</span>
      </p>
      <ul className={styles.outcomes} aria-label="Cases">
        {rows.map((row) => (
          <li key={row.position}>
            {rows.length > 1 && <><b><Id text={row.eval_id} /></b> <Outcome outcome={row.outcome === "not_run" && !isOver ? "running" : row.outcome} /></>}
            {row.why && <p><Prose text={row.why} /></p>}
          </li>
        ))}
      </ul>
      {(cases.data?.total ?? 0) > MOST && <p className="dim small">and {(cases.data?.total ?? 0) - MOST} more cases in the run</p>}
      <div className={styles.buttons}>
        <LinkButton to={rows.length === 1 ? `/runs/${encodeURIComponent(run)}/cases/${rows[0]?.position}` : `/runs/${encodeURIComponent(run)}`}>
          {rows.length === 1 ? "Open the case" : "Open the run"}
        </LinkButton>
        {isOver && <Button onClick={again}>Run again</Button>}
        <Button look="first" onClick={close}>Close</Button>
      </div>
    </>
  );
}
