import { useState } from "react";
import type { ToolFigures } from "../../../data/types";
import { Button } from "../../../components/forms/Button";
import { Breakable } from "../../../components/text/Breakable";
import { Copy } from "../../../components/text/Copy";
import { UNKNOWN, numText, percentText, secondsText } from "../../../components/text/numberFormats";
import styles from "./Pictures.module.css";
import { toolFilter, toolsMarkdown } from "./tools";

const FIRST = 10;

interface Props {
  tools: readonly ToolFigures[];
  /** Filters the table of cases. */
  onFilter: (text: string) => void;
}

/** Which tools the agent called in all trials of the run: how often, how long, and with which errors. */
export function ToolPictures({ tools, onFilter }: Props) {
  const [all, setAll] = useState(false);
  const most = Math.max(1, ...tools.map(({ calls }) => calls));
  const slowest = Math.max(0, ...tools.map(({ p95_seconds: p95 }) => p95 ?? 0));
  return (
    <>
      <table className={`${styles.table} ${styles.tools}`}>
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col">Calls</th>
            <th scope="col">Cases</th>
            {slowest > 0 && <th scope="col">Mean</th>}
            {slowest > 0 && <th scope="col">p95</th>}
            <th scope="col">Errors</th>
          </tr>
        </thead>
        <tbody>
          {tools.slice(0, all ? undefined : FIRST).map((tool) => (
            <ToolRow key={tool.name} tool={tool} most={most} slowest={slowest} onFilter={onFilter} />
          ))}
        </tbody>
      </table>
      <div className={`${styles.foot} no-print`}>
        {tools.length > FIRST && (
          <Button look="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? `Show ${FIRST} tools` : `Show all ${numText(tools.length)} tools`}
          </Button>
        )}
        <span className="dim small">of all trials{slowest > 0 ? "" : "; the agent reports no times of tools"}</span>
        <Copy text={() => toolsMarkdown(tools)} action="numbers">Copy the tools</Copy>
      </div>
    </>
  );
}

interface RowProps {
  tool: ToolFigures;
  most: number;
  slowest: number;
  onFilter: (text: string) => void;
}

function ToolRow({ tool, most, slowest, onFilter }: RowProps) {
  const { name, calls, cases, timed, mean_seconds: mean, p95_seconds: p95, failed, errors } = tool;
  const filter = toolFilter(tool);
  return (
    <tr>
      <th scope="row">
        <Breakable text={name} />
      </th>
      <td className={styles.picture} data-label="calls">
        <span className={styles.count}>{numText(calls)}</span>
        <span className={styles.share}>
          <i style={{ width: `${(100 * calls) / most}%` }}>
            <i data-failed style={{ width: `${(100 * failed) / calls}%` }} />
          </i>
        </span>
      </td>
      <td data-label="cases">
        {filter ? (
          <button type="button" className={styles.cases} onClick={() => onFilter(filter)}>
            {numText(cases)}
          </button>
        ) : (
          numText(cases)
        )}
      </td>
      {slowest > 0 && (
        <td data-label="mean" title={timed < calls ? `of ${numText(timed)} calls whose time is known` : undefined}>
          {mean === null ? UNKNOWN : secondsText(mean)}
        </td>
      )}
      {slowest > 0 && (
        <td data-label="p95">
          {p95 === null ? UNKNOWN : secondsText(p95)}
          <span className={styles.time} aria-hidden>
            <i style={{ width: `${(100 * (p95 ?? 0)) / slowest}%` }} />
          </span>
        </td>
      )}
      <td className={styles.errors}>
        {!failed && <span className="dim">none</span>}
        {failed > 0 && (
          <b className={styles.worse}>
            {numText(failed)} ({percentText(failed / calls)})
          </b>
        )}
        {errors.map((error) => (
          <div key={error.text} className="small">
            {errors.length > 1 && `${numText(error.calls)} × `}
            {error.text}
          </div>
        ))}
      </td>
    </tr>
  );
}
