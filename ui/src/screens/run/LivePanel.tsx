import { useState } from "react";
import { useChange } from "../../data/queries";
import type { LiveProgress, RunPage } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { CopyLine } from "../../components/text/Copy";
import { OutcomeCounts } from "../../components/charts/OutcomeCounts";
import { Dialog } from "../../components/forms/Dialog";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { numText } from "../../components/text/numberFormats";
import styles from "./Run.module.css";
import type { Live } from "./useLiveRun";
import { progressTexts, unfinishedText } from "./runText";

const PARTS = ["passed", "failed", "error", "inconclusive"] as const;

/** A run under way: how far it is, by outcome; time left, money, and the way to end it. */
export function LivePanel({ live, page }: { live: Live; page: RunPage }) {
  const progress = live.progress;
  return (
    <section className={`${styles.live} panel`} aria-label="Progress">
      <div className="row">
        <OutcomeCounts counts={progress?.counts ?? page.counts} />
        <span className="dim num" role="status">
          {progress ? [...progressTexts(progress), page.manifest.workers && `began with ${page.manifest.workers}`].filter(Boolean).join(" · ") : "Loading …"}
        </span>
        <span className="grow" />
        {progress && <Cancel run={page.run_id} progress={progress} />}
      </div>
      <Bar progress={progress} />
    </section>
  );
}

function Bar({ progress }: { progress: LiveProgress | null }) {
  const cases = progress?.cases ?? 0;
  const share = (count: number) => `${(100 * count) / Math.max(1, cases)}%`;
  return (
    <div
      className={styles.bar}
      role="progressbar"
      aria-label="Trials"
      aria-valuemin={0}
      aria-valuemax={progress?.trials_planned ?? 1}
      aria-valuenow={progress?.trials ?? 0}
    >
      {PARTS.map((outcome) => (
        <i key={outcome} data-outcome={outcome} style={{ width: share(progress?.counts[outcome] ?? 0) }} />
      ))}
    </div>
  );
}

function Cancel({ run, progress }: { run: string; progress: LiveProgress }) {
  const [isAsking, setAsking] = useState(false);
  const cancel = useChange(["/api/runs"]);
  const isCancelled = cancel.isSuccess;
  const go = () => {
    setAsking(false);
    cancel.mutate({ method: "POST", path: `/api/runs/${encodeURIComponent(run)}/cancel` });
  };
  if (!progress.ours) return <span className="dim small">{progress.worker && `running in ${progress.worker}: press Ctrl-C there to cancel`}</span>;
  return (
    <>
      {isCancelled && <span className="dim small">Cancelling: trials in progress have a few seconds to finish</span>}
      <Button look="danger" action="cancel" does="cancel this run" busy={cancel.isPending} onClick={() => setAsking(true)}>
        {isCancelled ? "Cancel now" : "Cancel"}
      </Button>
      <Dialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={isCancelled ? "Cancel now?" : "Cancel this run?"}
        foot={
          <>
            <Button onClick={() => setAsking(false)}>Keep running</Button>
            <Button look="danger" onClick={go}>
              {isCancelled ? "Cancel now" : "Cancel the run"}
            </Button>
          </>
        }
      >
        {isCancelled
          ? "Trials in progress are abandoned. Finished trials are stored."
          : `${numText(progress.done)} of ${numText(progress.cases)} cases are decided and stored. Trials in progress have a few seconds to finish; the run can be resumed later.`}
      </Dialog>
      <ErrorNote error={cancel.error} />
    </>
  );
}

/** An interrupted run: the reason, and how to resume it. */
export function Unfinished({ page, writable }: { page: RunPage; writable: boolean }) {
  const resume = useChange([`/api/runs`]);
  return (
    <section className={`${styles.live} panel`} aria-label="Unfinished">
      <div className="row">
        <span>{unfinishedText(page)}</span>
        <span className="grow" />
        {writable && !page.manifest.imported_from ? (
          <Button action="resume" busy={resume.isPending} onClick={() => resume.mutate({ method: "POST", path: `/api/runs/${encodeURIComponent(page.run_id)}/resume` })}>
            Resume the run
          </Button>
        ) : (
          <CopyLine text={`proctor resume ${page.short}`} />
        )}
      </div>
      <ErrorNote error={resume.error} />
    </section>
  );
}
