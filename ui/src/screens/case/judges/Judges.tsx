import { useState } from "react";
import { pathOf, useData, useSource } from "../../../data/queries";
import type { BallotPart, FindingPart, JudgeOfTrial, JudgesPage, PromptPage, TrialPage, VotePart } from "../../../data/types";
import { Button } from "../../../components/forms/Button";
import { CopySmall } from "../../../components/text/Copy";
import { Clipped } from "../../../components/text/Clipped";
import { Empty } from "../../../components/feedback/Empty";
import { ErrorNote } from "../../../components/feedback/ErrorNote";
import { Outcome } from "../../../components/charts/Outcome";
import { Prose } from "../../../components/text/Prose";
import { Skeleton } from "../../../components/feedback/Skeleton";
import { moneyText, numText } from "../../../components/text/numberFormats";
import { CauseNote } from "../CauseNote";
import { scoreAgainstThreshold } from "../metricText";
import { HumanLabel } from "./HumanLabel";
import { TermText } from "../../../components/terms/TermText";
import styles from "./Judges.module.css";
import { agreementText, votesText } from "./votesText";

interface Props {
  /** The trial's path in the API. */
  path: string;
  scoring: string | null;
  trial: TrialPage;
}

/** Screen 7: the verdicts of LLM judges on a trial, vote by vote, and the human labels. */
export function Judges({ path, scoring, trial }: Props) {
  const { data, error, refetch } = useData<JudgesPage>(pathOf(`${path}/judges`, { judging: scoring }), { keep: false });
  if (!data) return error ? <ErrorNote error={error} retry={refetch} /> : <Skeleton rows={6} height="64px" />;
  if (!data.judges.length) {
    return (
      <Empty
        inside
        title="No LLM judge scored this trial"
        does="Its metrics are computed by rules. A config can name metrics that use an LLM judge; `proctor score` applies them to a recorded run without calling the agent."
        command="proctor metrics"
      />
    );
  }
  return (
    <>
      {data.judges.map((judge) => (
        <Judge key={judge.metric} judge={judge} path={path} scoring={scoring} turns={trial.turns.length} />
      ))}
    </>
  );
}

function Judge({ judge, path, scoring, turns }: { judge: JudgeOfTrial; path: string; scoring: string | null; turns: number }) {
  const spent = [judge.tokens ? `${numText(judge.tokens)} tokens` : "", judge.cost === null ? "cost unknown" : moneyText(judge.cost)];
  return (
    <section aria-label={judge.metric}>
      <div className={`row ${styles.head}`}>
        <Outcome outcome={judge.outcome}>{scoreAgainstThreshold({ ...judge, name: judge.metric })}</Outcome>
        <span className={judge.badge.startsWith("calibration void") ? styles.void : "dim"}>
          {judge.badge ? <TermText text={judge.badge} /> : "not calibrated: no human labels were compared with this judge"}
        </span>
        <span className="grow" />
        <span className="dim small">{spent.filter(Boolean).join(" · ")}</span>
      </div>
      {judge.failure && <CauseNote cause={judge.failure} />}
      {judge.ballots.map((ballot) => (
        <Ballot key={String(ballot.turn)} ballot={ballot} path={path} scoring={scoring} turns={turns} />
      ))}
    </section>
  );
}

function Ballot({ ballot, path, scoring, turns }: { ballot: BallotPart; path: string; scoring: string | null; turns: number }) {
  const { live } = useSource();
  const where = ballot.turn === null ? "The whole conversation" : turns > 1 ? `Turn ${ballot.turn + 1}` : "The answer";
  return (
    <div className={`panel ${styles.ballot}`}>
      <div className={styles.line}>
        <div className="row">
          <b>{where}</b>
          <Outcome outcome={ballot.outcome} />
          <span className="dim">
            {ballot.model}
            {ballot.votes.length > 0 && `: ${votesText(ballot)}`}
          </span>
        </div>
        {ballot.reason && (
          <div className={styles.reason}>
            <Prose text={ballot.reason} />
          </div>
        )}
        {!ballot.rubrics && <HumanLabel path={path} metric={ballot.metric} turn={ballot.turn} rubric="" verdict={ballot.outcome === "passed"} labels={ballot.labels} />}
      </div>
      {ballot.findings.map((finding, index) => (
        <Finding key={index} finding={finding} ballot={ballot} path={path} />
      ))}
      {ballot.votes.length > 0 && (
        <details className={styles.line} open={!ballot.findings.length}>
          <summary>
            {ballot.votes.length} {ballot.votes.length === 1 ? "vote" : "votes"}
            {ballot.agreement !== null && ballot.votes.length > 1 && `, ${agreementText(ballot.agreement, ballot.votes)}`}
          </summary>
          <ol className={styles.votes}>
            {ballot.votes.map((vote, index) => (
              <Vote key={index} vote={vote} />
            ))}
          </ol>
        </details>
      )}
      {live ? (
        <JudgePrompt ballot={ballot} path={path} scoring={scoring} />
      ) : (
        <div className={`${styles.line} dim small no-print`}>
          The prompt is not in this file; <code>proctor web</code> shows it.
        </div>
      )}
    </div>
  );
}

function Finding({ finding, ballot, path }: { finding: FindingPart; ballot: BallotPart; path: string }) {
  const rubric = finding.name.replace(/, [\d.]+ points$/, "");
  return (
    <div className={styles.line}>
      <div className={styles.finding}>
        <Outcome outcome={finding.holds === null ? "inconclusive" : finding.holds ? "passed" : "failed"}>{finding.name}</Outcome>
        <div>
          <div>{finding.text}</div>
          {finding.why && <div className="dim">{finding.why}</div>}
          {ballot.rubrics && <HumanLabel path={path} metric={ballot.metric} turn={ballot.turn} rubric={rubric} verdict={finding.holds} labels={ballot.labels} />}
        </div>
      </div>
    </div>
  );
}

function Vote({ vote }: { vote: VotePart }) {
  const cost = [
    vote.cached ? "cached" : vote.cost === null ? "" : moneyText(vote.cost),
    vote.input_tokens === null ? "" : `${numText(vote.input_tokens)} tokens in, ${numText(vote.output_tokens)} out`,
  ].filter(Boolean);
  return (
    <li>
      <div className={styles.vote}>
        {vote.problem ? (
          <Outcome outcome="error">no verdict</Outcome>
        ) : vote.findings.length ? null : (
          <Outcome outcome={vote.passes === null ? "informational" : vote.passes ? "passed" : "failed"}>{vote.verdict}</Outcome>
        )}
        <div>
          {vote.problem && <div>{vote.problem}</div>}
          {vote.rationale.text && <Clipped clip={vote.rationale} />}
          {vote.findings.map((one, index) => (
            <div key={index} className={styles.vote}>
              <Outcome outcome={one.holds === null ? "informational" : one.holds ? "passed" : "failed"}>
                {[one.name, one.text].filter(Boolean).join(" ")}
              </Outcome>
              <span className="dim">{one.why}</span>
            </div>
          ))}
          {vote.answers.length > 0 && (
            <details>
              <summary className="dim">answer of the judge{cost.length ? ` · ${cost.join(" · ")}` : ""}</summary>
              {vote.answers.map((answer, index) => (
                <div key={index}>
                  <CopySmall text={answer.text} what="Copy the answer of the judge" />
                  <pre className={styles.answer}>
                    <Clipped clip={answer} mono />
                  </pre>
                </div>
              ))}
            </details>
          )}
        </div>
      </div>
    </li>
  );
}

/** The prompt of the judge, reconstructed on demand. */
function JudgePrompt({ ballot, path, scoring }: { ballot: BallotPart; path: string; scoring: string | null }) {
  const [open, setOpen] = useState(false);
  const prompt = pathOf(`${path}/judges/${encodeURIComponent(ballot.metric)}/prompt`, { turn: ballot.turn, judging: scoring });
  const { data, error } = useData<PromptPage>(open ? prompt : null, { fresh: 600_000, keep: false });
  return (
    <div className={`${styles.line} no-print`}>
      <Button look="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? "Hide the prompt" : "Show the prompt"}
      </Button>
      {open && !data && (error ? <ErrorNote error={error} /> : <Skeleton rows={3} />)}
      {open && data && (
        <>
          <p className={data.same || !data.messages.length ? "dim" : styles.void}>{data.note}</p>
          {data.messages.map((message, index) => (
            <div key={index}>
              <div className="dim small">
                {message.role} <CopySmall text={message.text.text} what={`Copy the ${message.role} message`} />
              </div>
              <pre className={styles.prompt} tabIndex={0}>
                <Clipped clip={message.text} mono />
              </pre>
            </div>
          ))}
        </>
      )}
    </div>
  );
}
