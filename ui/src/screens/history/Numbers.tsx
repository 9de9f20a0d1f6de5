import { AvailableLink } from "../../components/forms/AvailableLink";
import { Copy } from "../../components/text/Copy";
import { clockText } from "../../components/text/numberFormats";
import styles from "./History.module.css";
import { type NumberRow, numbersMarkdown } from "./lines";

interface NumbersProps {
  title: string;
  /** The agent of the chart of one case, which counts trials; a chart of several cases has none. */
  of?: string | undefined;
  rows: readonly NumberRow[];
  several: boolean;
}

/** The numbers of a chart as a table: to read, to hear and to copy. */
export function Numbers({ title, of, rows, several }: NumbersProps) {
  const counted = of === undefined ? "Cases" : "Trials";
  return (
    <details className={styles.numbers}>
      <summary>Numbers</summary>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label={`Numbers: ${title}${of ? ` of ${of}` : ""}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Run</th>
              {several && <th scope="col">Line</th>}
              <th scope="col">Value</th>
              <th scope="col">95 % CI</th>
              <th scope="col">{counted}</th>
              <th scope="col">Commit</th>
              <th scope="col">Started</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ run, line, value, interval, count }) => (
              <tr key={run.run_id}>
                <th scope="row">
                  <AvailableLink to={`/runs/${encodeURIComponent(run.run_id)}`}>{run.short}</AvailableLink>
                </th>
                {several && <td>{line}</td>}
                <td>{value}</td>
                <td>{interval}</td>
                <td>{count}</td>
                <td>{run.commit ? <code>{run.commit.slice(0, 7)}</code> : "–"}</td>
                <td>{clockText(run.started_at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <span className="no-print">
        <Copy text={() => numbersMarkdown(title, rows, counted)}>Copy the numbers</Copy>
      </span>
    </details>
  );
}
