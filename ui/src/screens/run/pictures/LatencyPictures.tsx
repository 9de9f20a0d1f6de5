import { memo, useMemo } from "react";
import type { CaseRow } from "../../../data/types";
import { Histogram } from "../../../components/charts/Histogram";
import { binsOf, percentileOf } from "../../../components/charts/bins";
import { numText, secondsText } from "../../../components/text/numberFormats";
import { binFilter } from "./metricRows";
import styles from "./Pictures.module.css";

const PERCENTILES = [50, 90, 95, 99];
const FIGURES = [
  { name: "seconds", title: "Mean duration of a turn", text: secondsText },
  { name: "tokens", title: "Mean tokens of a turn", text: (value: number | null) => numText(value, 0) },
] as const;

/** Whether there is anything to show. */
export function hasLatency(rows: readonly CaseRow[]): boolean {
  return rows.some(({ seconds, tokens }) => seconds !== null || tokens !== null);
}

/** How long the turns of the cases took, and how many tokens they used: the mean of each case. */
export const LatencyPictures = memo(function LatencyPictures({ rows, onFilter }: { rows: readonly CaseRow[]; onFilter: (text: string) => void }) {
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">Of each case</th>
          <th scope="col">Cases by value</th>
          {PERCENTILES.map((percent) => (
            <th key={percent} scope="col">p{percent} of cases</th>
          ))}
          <th scope="col">Largest</th>
        </tr>
      </thead>
      <tbody>
        {FIGURES.map((figure) => (
          <FigureRow key={figure.name} {...figure} rows={rows} onFilter={onFilter} />
        ))}
      </tbody>
    </table>
  );
});

interface RowProps {
  name: "seconds" | "tokens";
  title: string;
  text: (value: number | null) => string;
  rows: readonly CaseRow[];
  onFilter: (text: string) => void;
}

const FigureRow = memo(function FigureRow({ name, title, text, rows, onFilter }: RowProps) {
  const sorted = useMemo(() => rows.flatMap((row) => row[name] ?? []).sort((one, other) => one - other), [rows, name]);
  const bins = useMemo(() => binsOf(sorted, [], { shares: false }), [sorted]);
  if (!sorted.length) return null;
  return (
    <tr>
      <th scope="row">{title}</th>
      <td className={styles.picture}>
        <Histogram label={title} bins={bins} text={text} onPress={(bin) => onFilter(binFilter(name, bin) ?? "")} />
      </td>
      {PERCENTILES.map((percent) => (
        <td key={percent} data-label={`p${percent} of cases`}>{text(percentileOf(sorted, percent))}</td>
      ))}
      <td data-label="largest">{text(sorted.at(-1) ?? null)}</td>
    </tr>
  );
});
