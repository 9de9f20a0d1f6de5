import { memo, useEffect, useMemo, useRef } from "react";
import { useAddress } from "../../../app/address";
import { useShortcut } from "../../../app/keyboard";
import type { CaseRow, RunPage } from "../../../data/types";
import { Button } from "../../../components/forms/Button";
import { Breakable } from "../../../components/text/Breakable";
import styles from "./ColumnChooser.module.css";
import { MOST_CHOSEN, MOST_MEDIUM, MOST_METRICS, hasCost } from "./caseColumns";
import { columnName } from "./metricScore";
import { decidingMetrics } from "../runText";

interface ChooserProps {
  page: RunPage;
  rows: readonly CaseRow[];
  /** The number of metrics for which a window of medium width has no room. */
  hidden: number;
}

/** Which metrics and figures the table of cases shows; the choice is in the address. */
export const ColumnChooser = memo(function ColumnChooser({ page, rows, hidden }: ChooserProps) {
  const [query, setQuery] = useAddress();
  const box = useClosing();
  const shortcut = useShortcut<HTMLElement>({ action: "columns" });
  const named = query.get("cols");
  const { metrics } = page;
  const hasCosts = useMemo(() => rows.some(hasCost), [rows]);
  const chosen = named === null ? defaultColumns(page, hasCosts) : named.split(",").filter(Boolean);
  const shown = metrics.filter(({ name }) => chosen.includes(columnName(name))).length;
  const isFull = shown >= MOST_CHOSEN;
  const toggle = (name: string, on: boolean) => setQuery({ cols: (on ? [...chosen, name] : chosen.filter((one) => one !== name)).join(",") || "," });
  if (metrics.length + Number(hasCosts) < 2) return null;
  return (
    <details ref={box} className={styles.chooser}>
      <summary {...shortcut}>
        {hidden > 0 && <span className={styles.medium}>{hidden} more {hidden === 1 ? "metric" : "metrics"} –</span>}
        {shown > 0 && <span className={styles.narrow}>{shown} more {shown === 1 ? "metric" : "metrics"} –</span>}
        <span>Columns</span>
      </summary>
      <fieldset className={`${styles.list} panel`}>
        <legend className="hidden">Columns of the table</legend>
        {metrics.map(({ name, short }) => (
          <Box key={name} name={columnName(name)} title={name} chosen={chosen} full={isFull} onToggle={toggle}>
            <Breakable text={short} />
          </Box>
        ))}
        {hasCosts && (
          <Box name="cost" title="cost" chosen={chosen} full={false} onToggle={toggle}>
            Cost
          </Box>
        )}
        <div className={styles.foot}>
          <span className="dim small">
            {MOST_CHOSEN} metrics at most<span className={styles.medium}>, {MOST_MEDIUM} in a window of this width</span>
            <span className={styles.narrow}>, none in a window of this width</span>
          </span>
          {named !== null && (
            <Button look="quiet" onClick={() => setQuery({ cols: null })}>
              Reset
            </Button>
          )}
        </div>
      </fieldset>
    </details>
  );
});

interface BoxProps {
  name: string;
  title: string;
  chosen: readonly string[];
  full: boolean;
  onToggle: (name: string, on: boolean) => void;
  children: React.ReactNode;
}

function Box({ name, title, chosen, full, onToggle, children }: BoxProps) {
  const on = chosen.includes(name);
  return (
    <label title={title}>
      <input type="checkbox" checked={on} disabled={!on && full} onChange={({ target }) => onToggle(name, target.checked)} />
      <span>{children}</span>
    </label>
  );
}

function defaultColumns(page: RunPage, costs: boolean): string[] {
  return [...decidingMetrics(page, MOST_METRICS).map(({ name }) => columnName(name)), ...(costs ? ["cost"] : [])];
}

/** A list that closes on Escape and on a press elsewhere. */
function useClosing() {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const open = box.current?.open ? box.current : null;
      if (!open || (event instanceof KeyboardEvent ? event.key !== "Escape" : open.contains(event.target as Node))) return;
      open.open = false;
      if (event instanceof KeyboardEvent) open.querySelector("summary")?.focus();
    };
    addEventListener("keydown", close);
    addEventListener("pointerdown", close);
    return () => {
      removeEventListener("keydown", close);
      removeEventListener("pointerdown", close);
    };
  }, []);
  return box;
}
