import { useCallback, useMemo } from "react";
import { useAddress } from "../../../app/address";
import type { CaseExtras, CaseRow, RunPage } from "../../../data/types";
import { Tabs } from "../../../components/forms/Tabs";
import { Skeleton } from "../../../components/feedback/Skeleton";
import { CausePictures } from "./CausePictures";
import { CostPictures } from "./CostPictures";
import { LatencyPictures, hasLatency } from "./LatencyPictures";
import { MetricPictures } from "./MetricPictures";
import { numText } from "../../../components/text/numberFormats";
import styles from "./Pictures.module.css";
import { ToolPictures } from "./ToolPictures";
import { TrialMap } from "./TrialMap";

interface Props {
  page: RunPage;
  /** Whether the figures of the run are being read. */
  isBrief: boolean;
  rows: readonly CaseRow[];
  /** The number of cases, of which not all may be read yet. */
  total: number;
  /** The cases of the table, in its order. */
  shown: () => readonly CaseRow[];
  /** What is read from the evidence, after the table; null: it cannot be read. */
  extras: CaseExtras | null | undefined;
}

/** The results of a run as pictures: metrics, trials, latency and cost. Each has its numbers next to it. */
export function RunPictures({ page, isBrief, rows, total, shown, extras }: Props) {
  const [query, setQuery] = useAddress();
  const timed = useMemo(() => hasLatency(rows), [rows]);
  const onFilter = useCallback((q: string) => setQuery({ q }), [setQuery]);
  const named = query.get("show");
  const tools = extras?.tool_figures ?? [];
  const tabs = [
    { id: "metrics", name: "Metrics", has: page.metrics.length > 0 },
    { id: "causes", name: "Causes of failures", has: page.causes.length > 0 },
    { id: "trials", name: "Trials", has: page.num_runs > 1 },
    { id: "tools", name: "Tools", has: tools.length > 0 || (named === "tools" && extras === undefined) },
    { id: "latency", name: "Latency and tokens", has: timed },
    { id: "cost", name: "Cost", has: page.money.length > 0 },
  ].filter(({ has }) => has);
  if (isBrief) return <Unread />; // the place of the pictures is taken from the start: the table below must not move
  const reading = rows.length < total;
  const [first] = tabs;
  if (!first || !rows.length) return null;
  const at = tabs.find(({ id }) => id === named)?.id ?? first.id;
  return (
    <section aria-label="Pictures" aria-busy={reading} className={styles.pictures}>
      {reading && (
        <p className={`${styles.reading} dim small`}>
          the first {numText(rows.length)} of {numText(total)} cases; the others are being read
        </p>
      )}
      <Tabs label="Pictures" tabs={tabs} at={at} onChange={(show) => setQuery({ show: show === first.id ? null : show })}>
        <div className={`${styles.panel} panel`}>
          {at === "metrics" && <MetricPictures page={page} rows={rows} onFilter={onFilter} />}
          {at === "causes" && <CausePictures page={page} onFilter={onFilter} />}
          {at === "trials" && <TrialMap page={page} shown={shown} />}
          {at === "tools" && (extras ? <ToolPictures tools={tools} onFilter={onFilter} /> : <Skeleton rows={4} />)}
          {at === "latency" && <LatencyPictures rows={rows} onFilter={onFilter} />}
          {at === "cost" && <CostPictures money={page.money} />}
        </div>
      </Tabs>
    </section>
  );
}

/** Before the figures of the run are read: pictures of its first cases would delay these, and be replaced at once. */
function Unread() {
  return (
    <section aria-label="Pictures" aria-busy className={styles.pictures}>
      <div className="panel">
        <Skeleton rows={5} height="58px" />
      </div>
    </section>
  );
}
