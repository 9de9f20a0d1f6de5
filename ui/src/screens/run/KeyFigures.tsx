import { type ReactNode, memo } from "react";
import type { MeanFigure, MetricPart, NotesPage, RunPage } from "../../data/types";
import { Breakable } from "../../components/text/Breakable";
import { boundsText, decimalsOf, moneyText, numText, percentText, scoreText, secondsText } from "../../components/text/numberFormats";
import { Term } from "../../components/terms/Term";
import { missingText } from "../runs/runColumns";
import styles from "./Run.module.css";
import { countOfText, decidingMetrics, trialCounts } from "./runText";

/** The results at a glance, each figure with its uncertainty. */
export const KeyFigures = memo(function KeyFigures({ page, notes }: { page: RunPage; notes: NotesPage | undefined }) {
  const { pass_rate: rate } = page;
  const trials = trialCounts(page);
  const passK = page.pass_k.at(-1);
  return (
    <dl className={`${styles.glance} panel`}>
      {rate.of > 0 && (
        <Figure
          value={rate.rate === null ? countOfText(rate) : percentText(rate.rate)}
          name={
            <>
              <Term name="passRate">Cases passed</Term>
              {rate.rate !== null && <>, <span className={styles.count}>{countOfText(rate)}</span></>}
            </>
          }
          interval={rate.rate === null ? "" : boundsText(rate.low, rate.high)}
          more={missingText(page)}
        />
      )}
      {page.num_runs > 1 && trials.of > 0 && (
        <Figure
          value={percentText(trials.count / trials.of)}
          name={
            <>
              <Term name="trialRate">Trials passed</Term>, <span className={styles.count}>{countOfText(trials)}</span>
            </>
          }
          more={trials.unscored ? `of the ${numText(trials.of)} scored; ${numText(trials.unscored)} in error left out` : ""}
        />
      )}
      {passK?.hat && (
        <Figure value={scoreText3(passK.hat.value)} name={<Term name="passHatK">{`pass^${passK.k}`}</Term>} interval={bounds(passK.hat)} more={`${casesText(passK.hat)}${trials.unscored ? "; errors count as failures" : ""}`} />
      )}
      {decidingMetrics(page, 3).map((metric) => (
        <Metric key={metric.name} metric={metric} />
      ))}
      {page.cost_text && (
        <Figure
          value={page.cost === null ? page.cost_text : moneyText(page.cost)}
          name={<Term name="cost">Cost</Term>}
          more={page.money.map(({ purpose, cost, text }) => `${purpose} ${cost === null ? text : moneyText(cost)}`).join(" · ")}
        />
      )}
      <Figure value={secondsText(page.duration)} name={<Term name="duration">Duration</Term>}>
        {notes?.p95_turn ? (
          <>
            <Term name="p95Turn">p95 of turns</Term> {secondsText(notes.p95_turn)}
          </>
        ) : null}
      </Figure>
    </dl>
  );
});

function Metric({ metric: { short, name, mean, thresholds } }: { metric: MetricPart }) {
  const value = mean ? `${scoreText(mean.value)}${error(mean)}` : "–";
  const label = <Breakable text={short} />;
  return (
    <Figure value={value} name={<Term name="meanScore">{label}</Term>} title={name}>
      {[thresholds.length > 1 ? "threshold per set" : thresholds.length ? `threshold ${thresholds[0]}` : "", mean ? casesText(mean) : ""].filter(Boolean).join(" · ")}
    </Figure>
  );
}

interface FigureProps {
  value: string;
  name: ReactNode;
  title?: string;
  /** The bounds of the 95 % confidence interval; empty: none. */
  interval?: string;
  more?: string;
  children?: ReactNode;
}

/** A value with its name, and below it what belongs to it. */
function Figure({ value, name, title, interval = "", more = "", children }: FigureProps) {
  return (
    <div title={title}>
      <dd>{value}</dd>
      <dt>
        {name}
        {interval && (
          <span className={styles.more}>
            <Term name="confidenceInterval">95 % CI</Term>: {interval}
          </span>
        )}
        {(more || children) && <span className={styles.more}>{more || children}</span>}
      </dt>
    </div>
  );
}

/** The cases that a mean is of. */
function casesText({ cases }: MeanFigure): string {
  return `${numText(cases)} ${cases === 1 ? "case" : "cases"}`;
}

function error({ standard_error }: MeanFigure): string {
  return standard_error ? ` ± ${scoreText(standard_error)}` : "";
}

/** The bounds of an interval of shares; empty if they say nothing. */
function bounds({ low, high }: MeanFigure): string {
  return low === null || high === null || (low <= 0 && high >= 1) ? "" : [low, high].map((end) => numText(end, decimalsOf(end, 3))).join("–");
}

function scoreText3(value: number): string {
  return Number.isInteger(value) ? scoreText(value) : scoreText(value, 3);
}
