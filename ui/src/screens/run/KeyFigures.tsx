import type { MeanFigure, MetricPart, NotesPage, RunPage } from "../../data/types";
import { Breakable } from "../../components/text/Breakable";
import { boundsText, standardErrorText, moneyText, numText, percentText, scoreText, secondsText } from "../../components/text/numberFormats";
import styles from "./Run.module.css";
import { decidingMetrics } from "./runText";

/** At a glance: what came of it, each figure with its uncertainty. */
export function KeyFigures({ page, notes }: { page: RunPage; notes: NotesPage | undefined }) {
  const { pass_rate: rate } = page;
  const passK = page.pass_k.at(-1);
  return (
    <dl className={`${styles.glance} panel`}>
      {rate.of > 0 && <Figure value={percentText(rate.rate)} name={`cases passed, 95 % CI: ${boundsText(rate.low, rate.high)}`} />}
      {passK?.hat && <Figure value={scoreText3(passK.hat.value)} name={`pass^${passK.k}${within(passK.hat)}`} />}
      {decidingMetrics(page, 3).map((metric) => (
        <Metric key={metric.name} metric={metric} />
      ))}
      {page.cost_text && (
        <Figure
          value={page.cost === null ? page.cost_text : moneyText(page.cost)}
          name={page.money.map(({ purpose, cost, text }) => `${purpose} ${cost === null ? text : moneyText(cost)}`).join(" · ")}
        />
      )}
      <Figure value={secondsText(page.duration)} name={notes?.p95_turn ? `p95 turn ${secondsText(notes.p95_turn)}` : "duration"} />
    </dl>
  );
}

function Metric({ metric: { short, name, mean, thresholds } }: { metric: MetricPart }) {
  const needs = thresholds.length === 1 ? `, threshold ${thresholds[0]}` : thresholds.length ? ", threshold per set" : "";
  const value = mean ? `${scoreText(mean.value)}${error(mean)}` : "–";
  return <Figure value={value} name={`${short}${needs}`} title={mean?.standard_error ? `${name}: mean ± standard error` : name} />;
}

function Figure({ value, name, title }: { value: string; name: string; title?: string }) {
  return (
    <div title={title}>
      <dd>{value}</dd>
      <dt>
        <Breakable text={name} />
      </dt>
    </div>
  );
}

function error({ standard_error }: MeanFigure): string {
  return standard_error ? ` ± ${standardErrorText(standard_error)}` : "";
}

function within({ low, high }: MeanFigure): string {
  return low === null || high === null ? "" : `, 95 % CI: ${numText(Math.max(0, low))}–${numText(Math.min(1, high))}`;
}

function scoreText3(value: number): string {
  return Number.isInteger(value) ? scoreText(value) : value.toFixed(3);
}
