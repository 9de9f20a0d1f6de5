import { Link } from "wouter";
import { pathOf, useAvailable, useData, useSource } from "../../data/queries";
import type { CasePage, RunRequest, TrialLine, TrialPage } from "../../data/types";
import { Button, LinkButton } from "../../components/forms/Button";
import { Copy, CopyMarkdown, CopySmall } from "../../components/text/Copy";
import { AvailableLink } from "../../components/forms/AvailableLink";
import { When } from "../../components/text/Num";
import { Outcome, inkClass, outcomeWord, shownOutcome, shownTrial } from "../../components/charts/Outcome";
import { Prose } from "../../components/text/Prose";
import { trialSign } from "../../components/charts/TrialStrip";
import { numText, secondsText } from "../../components/text/numberFormats";
import { Id } from "../../components/text/Breakable";
import { TermText } from "../../components/terms/TermText";
import { caseAddress } from "../evalSets/links";
import { RunButton } from "../start/RunDialog";
import styles from "./CaseScreen.module.css";
import { caseMarkdown } from "./caseMarkdown";
import type { CaseOrder } from "./useCaseOrder";

interface Props {
  page: CasePage;
  order: CaseOrder;
  number: number | null;
  trial: TrialPage | undefined;
  onTrial: (number: number) => void;
  differences: number;
  onNext: () => void;
}

/** The verdict first: what happened, how sure, why; then the trials, and what can be done. */
export function CaseHead({ page, order, number, trial, onTrial, differences, onNext }: Props) {
  return (
    <header className={styles.top}>
      <div className={styles.crumbs}>
        <Link href={order.up}>run {page.short}</Link>
        <span>{page.agent}</span>
        <span>
          <Id text={page.eval_set_id} />, case {numText(page.position + 1)} of {numText(page.total)}
        </span>
        {page.place && <code>{page.place}</code>}
        <CopySmall text={`${page.eval_set_id}/${page.eval_id}`} what="Copy id of the case" action="id">Copy id</CopySmall>
        <Neighbours order={order} />
      </div>
      <div className={`${styles.name} row`}>
        <h1><Id text={page.eval_id} /></h1>
        <Outcome outcome={shownOutcome(page.outcome, page.trials.length)} />
        {page.share?.flaky && <span className={styles.flaky}>flaky</span>}
      </div>
      <p className={styles.sentence}><TermText text={`${page.sentence}.`} /></p>
      {page.reason && (
        <p className={styles.reason}>
          <Prose text={page.reason} />
        </p>
      )}
      <Actions page={page} number={number} trial={trial} />
      <PreviousOutcome page={page} />
      {page.trials.length > 1 && <Trials trials={page.trials} number={number} onTrial={onTrial} />}
      {trial && <TrialFacts trial={trial} several={page.trials.length > 1} caseReason={page.reason} differences={differences} onNext={onNext} />}
    </header>
  );
}

function Neighbours({ order: { place, previous, next } }: { order: CaseOrder }) {
  return (
    <span className={`${styles.neighbours} no-print`}>
      {previous && (
        <Link href={previous.href} title={`${previous.eval_id} (k)`}>
          ← previous
        </Link>
      )}
      {place && <span>{place}</span>}
      {next && (
        <Link href={next.href} title={`${next.eval_id} (j)`}>
          next →
        </Link>
      )}
    </span>
  );
}

function Actions({ page, number, trial }: { page: CasePage; number: number | null; trial: TrialPage | undefined }) {
  const { live } = useSource();
  const has = useAvailable();
  const history = pathOf("/history", { set: page.eval_set_id, case: page.eval_id });
  const bless = `/runs/${page.run_id}/bless?cases=${page.position}${number !== null ? `&trial=${number + 1}` : ""}`;
  return (
    <span className={`${styles.actions} no-print`}>
      {has(`/api${history}`) && (
        <LinkButton to={history} look="quiet" action="history">
          History
        </LinkButton>
      )}
      {live && <EditAndRun page={page} />}
      {live && page.outcome !== "passed" && trial && !trial.failure && (
        <LinkButton to={bless} look="quiet" action="bless">
          Bless …
        </LinkButton>
      )}
      <CopyMarkdown text={() => caseMarkdown(page, trial)} />
      <Copy text={trial?.command ?? page.command} action="command">Copy command</Copy>
    </span>
  );
}

/** Run this case again, here; and edit it, if it is still in its file. */
function EditAndRun({ page }: { page: CasePage }) {
  const source = pathOf("/api/start/repeat", { run: page.run_id, position: page.position });
  const set = useData<RunRequest>(source, { fresh: 60_000 }).data?.eval_set;
  const editor = set ? caseAddress(set, page.eval_id, page.run_id) : null;
  return (
    <>
      <RunButton look="quiet" label="Run this case" title={`Run ${page.eval_id}`} source={source} stay />
      {editor && <LinkButton to={editor} look="quiet" action="edit" does="edit this case">Edit this case</LinkButton>}
    </>
  );
}

function PreviousOutcome({ page }: { page: CasePage }) {
  const { before } = page;
  if (!before) return null;
  const changed = before.outcome !== page.outcome;
  return (
    <p className="dim small">
      {changed ? "Was" : "Also"} {outcomeWord(before.outcome)} in{" "}
      <AvailableLink to={`/runs/${before.run_id}/cases/${before.position}`}>run {before.short}</AvailableLink>, <When at={before.created_at} />
    </p>
  );
}

function Trials({ trials, number, onTrial }: { trials: readonly TrialLine[]; number: number | null; onTrial: (number: number) => void }) {
  return (
    <nav className={`${styles.trials} no-print`} aria-label="Trials">
      {trials.map((one) => {
        const words = `trial ${one.number + 1}: ${outcomeWord(shownTrial(one.outcome))}`;
        return (
          <button
            key={one.number}
            type="button"
            className={`${styles.trial} ${inkClass(shownTrial(one.outcome))}`}
            aria-current={one.number === number ? "true" : undefined}
            aria-label={words}
            title={one.reason ? `${words}: ${one.reason}` : words}
            onClick={() => onTrial(one.number)}
          >
            <span aria-hidden>{trialSign(shownTrial(one.outcome))}</span>
            {trials.length <= 20 && <span aria-hidden>{one.number + 1}</span>}
          </button>
        );
      })}
    </nav>
  );
}

interface FactsProps {
  trial: TrialPage;
  several: boolean;
  /** The reason that the page shows for the whole case. */
  caseReason: string;
  differences: number;
  onNext: () => void;
}

function TrialFacts({ trial, several, caseReason, differences, onNext }: FactsProps) {
  const which = several ? [`trial ${trial.number + 1} of ${trial.trials}`] : [];
  const duration = trial.seconds === null ? [] : [secondsText(trial.seconds)];
  const facts = [...which, ...duration, ...trial.facts];
  return (
    <div className={styles.facts}>
      {several && <Outcome outcome={shownTrial(trial.outcome)} />}
      <span>{facts.join(" · ")}</span>
      {several && trial.reason && !caseReason.includes(trial.reason) && (
        <span className={styles.why}>
          <Prose text={trial.reason} />
        </span>
      )}
      <span className="grow" />
      {differences > 0 && (
        <Button look="quiet" onClick={onNext} title="n">
          {differences === 1 ? "1 difference" : `${differences} differences`} ↓
        </Button>
      )}
    </div>
  );
}
