import { useAddress } from "../../app/address";
import { useAvailable, useData } from "../../data/queries";
import type { CostInterval, CostIntervals, HistoryPage } from "../../data/types";
import { numText } from "../../components/text/numberFormats";
import { Chart } from "./Chart";
import styles from "./History.module.css";
import { COST, DURATION, PASS_RATE, TOKENS, changesOf, chosenName, seriesName } from "./historyText";
import { linesOf, runsOf, withTones } from "./lines";

/** The pass rate (or another metric), the duration and the cost over the runs; the metric and the lines are in the address. */
export function OverTime({ page }: { page: HistoryPage }) {
  const [query] = useAddress();
  const costs = useCostIntervals(page);
  const chosen = chosenName(page.series, query.get("metric"));
  if (chosen === null) return null;
  const hasCost = page.runs.some(({ trial_cost }) => trial_cost !== null);
  const names = [...new Set([chosen, DURATION, hasCost ? COST : TOKENS])];
  const by = query.get("by");
  const { charts: toned, left } = withTones(names.map((name) => linesOf(page, name, by, costs)), page.runs);
  const charts = names.map((name, at) => ({ name, lines: toned[at] ?? [] })).filter(({ lines }) => lines.length);
  return (
    <section aria-label="Over time">
      <Controls page={page} chosen={chosen} by={by} />
      <div className={styles.charts}>
        {charts.map(({ name, lines }) => (
          <OneChart key={name} page={page} name={name} lines={lines} agents={by !== "build"} />
        ))}
      </div>
      {left > 0 && (
        <p className="dim small">
          {by === "build" ? `${numText(left)} older ${left === 1 ? "build is" : "builds are"} not drawn.` : `${numText(left)} more ${left === 1 ? "agent" : "agents"}: choose one to see its line.`}
        </p>
      )}
    </section>
  );
}

const NONE: readonly CostInterval[] = [];

/** The intervals of the costs, which take the evidence of all cases to know: they come after the picture. */
function useCostIntervals({ runs }: HistoryPage): readonly CostInterval[] {
  const has = useAvailable();
  const query = runs.filter(({ trial_cost }) => trial_cost !== null).slice(0, 100).map(({ run_id }) => `run=${encodeURIComponent(run_id)}`);
  const path = `/api/history/costs?${query.join("&")}`;
  return useData<CostIntervals>(query.length && has(path) ? path : null, { fresh: 60_000 }).data?.items ?? NONE;
}

function OneChart({ page, name, lines, agents }: { page: HistoryPage; name: string; lines: ReturnType<typeof linesOf>; agents: boolean }) {
  const [only] = lines;
  const unknown = name === COST ? page.runs.filter(({ trial_cost }) => trial_cost === null).length : 0;
  const note = unknown ? `unknown in ${numText(unknown)} of ${numText(page.runs.length)} runs` : "";
  const changes = agents && name === PASS_RATE && lines.length === 1 && only ? changesOf(page, only.label) : [];
  return <Chart name={name} note={note} lines={lines} runs={runsOf(lines, page.runs)} changes={changes} href={(run) => `/runs/${encodeURIComponent(run)}`} />;
}

function Controls({ page, chosen, by }: { page: HistoryPage; chosen: string; by: string | null }) {
  const [, setQuery] = useAddress();
  const metrics = [...new Map(page.series.map((one) => [one.name, one])).values()];
  const builds = new Set(page.runs.map(({ build, commit }) => build || commit)).size;
  return (
    <div className={`${styles.which} row no-print`}>
      {metrics.length > 1 && (
        <label className={styles.choose}>
          <span>Metric</span>
          <select value={chosen} onChange={(event) => setQuery({ metric: event.target.value })}>
            {metrics.map(({ name, decides }) => (
              <option key={name} value={name}>
                {seriesName(name)}
                {decides ? "" : " (reported only)"}
              </option>
            ))}
          </select>
        </label>
      )}
      {builds > 1 && (
        <label className={styles.choose}>
          <span>One line for</span>
          <select value={by ?? ""} onChange={(event) => setQuery({ by: event.target.value || null })}>
            <option value="">each agent</option>
            <option value="build">each build</option>
          </select>
        </label>
      )}
    </div>
  );
}
