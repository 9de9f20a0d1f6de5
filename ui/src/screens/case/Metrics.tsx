import type { CasePage, MetricLine } from "../../data/types";
import { Breakable } from "../../components/text/Breakable";
import { AvailableLink } from "../../components/forms/AvailableLink";
import { When } from "../../components/text/Num";
import { Outcome } from "../../components/charts/Outcome";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { numText, scoreText } from "../../components/text/numberFormats";
import { Prose } from "../../components/text/Prose";
import { Term } from "../../components/terms/Term";
import { TermText } from "../../components/terms/TermText";
import styles from "./CaseScreen.module.css";

/** Every metric of the case over its trials, what is weak about them, and how the case was scored before. */
export function Metrics({ page, number }: { page: CasePage; number: number | null }) {
  const several = page.trials.length > 1;
  return (
    <>
      <div className={`panel ${styles.scroll}`} role="region" aria-label="Metrics">
        <table className={`${styles.table} ${styles.stacks}`}>
          <thead>
            <tr>
              <th>Metric</th>
              <th>Verdict</th>
              {several && <th><Term name="trials">Trials</Term></th>}
              {several && <th><Term name="confidenceInterval">Mean, 95 % CI</Term></th>}
              <th>Why</th>
            </tr>
          </thead>
          <tbody>
            {page.metrics.map((metric) => (
              <Row key={metric.name} metric={metric} several={several} at={page.trials.findIndex((one) => one.number === number)} />
            ))}
          </tbody>
        </table>
      </div>
      {page.warnings.map((warning, index) => (
        <p key={index} className={styles.warning}>
          warning: <Prose text={warning} />
        </p>
      ))}
      {page.hint && (
        <p className="dim">
          <Prose text={page.hint} />
        </p>
      )}
      {page.history.length > 1 && <Scorings page={page} />}
    </>
  );
}

const MOST = 20;

function Row({ metric, several, at }: { metric: MetricLine; several: boolean; at: number }) {
  const informs = metric.outcome === "informational";
  const shown = metric.trials.length <= MOST ? metric.trials : [];
  return (
    <tr>
      <td>
        <span className={informs ? "dim" : ""}><Breakable text={metric.name} /></span>
        {metric.badge && <div className={styles.badge}><TermText text={metric.badge} /></div>}
      </td>
      <td>
        {informs ? (
          <span className="num dim">{numText(metric.score)}</span>
        ) : (
          <Outcome outcome={metric.outcome}>{metric.score === null ? undefined : metric.held}</Outcome>
        )}
      </td>
      {several && (
        <td className="num">
          {shown.map((one, index) => (
            <span key={index} className={styles.each} data-on={index === at || undefined} data-outcome={one.outcome}>
              {informs ? numText(one.score) : scoreText(one.score)}
            </span>
          ))}
          {!shown.length && `${metric.trials.filter(({ outcome }) => outcome === "passed").length} of ${metric.trials.length} passed`}
        </td>
      )}
      {several && (
        <td>
          {metric.low !== null && metric.high !== null && metric.low !== metric.high && metric.score !== null && !informs && (
            <IntervalBar
              value={metric.score}
              low={metric.low}
              high={metric.high}
              mark={metric.threshold}
              label={`${scoreText(metric.score)}, 95 % CI: ${scoreText(metric.low)} to ${scoreText(metric.high)}`}
            />
          )}
        </td>
      )}
      <td className={styles.reasonCell}>
        <Prose text={metric.reason} />
      </td>
    </tr>
  );
}

function Scorings({ page }: { page: CasePage }) {
  return (
    <>
      <h2>Scorings</h2>
      <div className={`panel ${styles.scroll}`} tabIndex={0} role="region" aria-label="Scorings">
        <table className={styles.table}>
          <thead>
            <tr>
              <th>Scoring</th>
              <th>Outcome</th>
              <th>When</th>
              <th>Criteria from</th>
              <th>Gating metrics</th>
            </tr>
          </thead>
          <tbody>
            {[...page.history].reverse().map((one) => (
              <tr key={one.number} data-on={one.number === page.judging || undefined}>
                <td>
                  {one.number === page.judging ? (
                    <b>{one.number}, shown</b>
                  ) : (
                    <AvailableLink
                      to={`/runs/${page.run_id}/cases/${page.position}?judging=${one.number}&tab=metrics`}
                      api={`/api/runs/${page.run_id}/cases/${page.position}?judging=${one.number}`}
                    >
                      {one.number}
                    </AvailableLink>
                  )}
                </td>
                <td>
                  <Outcome outcome={one.outcome} />
                </td>
                <td>
                  <When at={one.created_at} exact />
                </td>
                <td>{one.criteria}</td>
                <td>{one.metrics.map((metric) => `${metric.name} ${metric.held}`).join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
