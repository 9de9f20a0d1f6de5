import { memo } from "react";
import { useSource } from "../../data/queries";
import type { NotesPage, RunPage } from "../../data/types";
import { Breakable } from "../../components/text/Breakable";
import { CopyLine, CopySmall } from "../../components/text/Copy";
import { When } from "../../components/text/Num";
import { percentText } from "../../components/text/numberFormats";
import { TermText } from "../../components/terms/TermText";
import { lineJson } from "../evalCase/editing/exactJson";
import styles from "./Run.module.css";
import { afterComma, unreadText } from "../runs/runColumns";
import { countOfText } from "./runText";

/** The warnings about the numbers: shown before the table, collapsed if there are many. */
export const Warnings = memo(function Warnings({ page, notes }: { page: RunPage; notes: NotesPage | undefined }) {
  const warnings = [...new Set([...page.warnings, ...(notes?.warnings ?? [])])];
  if (!warnings.length) return null;
  return (
    <details className={styles.fold} open={warnings.length <= 3}>
      <summary>
        {warnings.length} {warnings.length === 1 ? "warning" : "warnings"}
      </summary>
      <ul>
        {warnings.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </details>
  );
});

/** The criteria, the judges, and exactly what was run. */
export const Details = memo(function Details({ page, notes }: { page: RunPage; notes: NotesPage | undefined }) {
  return (
    <details className={styles.fold}>
      <summary>Criteria, judges and manifest</summary>
      <Criteria page={page} />
      {page.judges.length > 0 && (
        <>
          <h3>Judges</h3>
          <ul>
            {page.judges.map(({ metric, model, badge }) => (
              <li key={`${metric} ${model}`}>
                {metric}: <code>{model}</code> {badge && <span className="dim"><TermText text={badge} /></span>}
              </li>
            ))}
          </ul>
        </>
      )}
      {notes && notes.at_fault.length > 0 && (
        <p className="dim">
          Errors in simulated conversations:{" "}
          {notes.at_fault.map(({ who, share }) => `${who} ${percentText(share.rate)} (${share.count} of ${share.of})`).join(", ")}
        </p>
      )}
      <Manifest page={page} />
    </details>
  );
});

function Criteria({ page }: { page: RunPage }) {
  const decides = new Set(page.metrics.filter(({ gate }) => gate).map(({ name }) => name));
  return page.sets.map((set) => (
    <section key={set.eval_set_id}>
      <h3>
        {set.name}
        <CopySmall text={JSON.stringify({ criteria: set.criteria }, null, 2)} what={`Copy the criteria of ${set.name} as JSON`} />
        <span className="dim">
          {" "}
          · {set.cases} {set.cases === 1 ? "case" : "cases"}
          {set.num_runs > 1 && ` × ${set.num_runs} trials`}
          {set.config_source && ` · ${set.config_source}`}
        </span>
      </h3>
      {set.failure && <p className={styles.warned}>{set.failure}</p>}
      {set.rule && <p>{set.rule}</p>}
      <table className={styles.criteria}>
        <tbody>
          {set.metrics.map((name) => (
            <tr key={name}>
              <th scope="row"><Breakable text={name} /></th>
              <td>
                {name in set.criteria ? (
                  <code>{lineJson(set.criteria[name])}</code>
                ) : (
                  <span className="dim">{decides.has(name) ? "gates where a case states it" : "reported only"}</span>
                )}
              </td>
            </tr>
          ))}
          {Object.entries(set.left_out).map(([name, why]) => (
            <tr key={name} className="dim">
              <th scope="row">{name}</th>
              <td>left out: {why}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  ));
}

function Manifest({ page }: { page: RunPage }) {
  const { manifest } = page;
  const facts: [string, React.ReactNode][] = [
    ["agent", manifest.reference && <code>{manifest.reference}</code>],
    ["version", manifest.agent_version],
    ["commit", manifest.commit && <code>{manifest.commit}</code>],
    ["models", manifest.models.join(", ")],
    ["workers", [manifest.workers && `began with ${manifest.workers}`, manifest.lost_workers].filter(Boolean).join(", ")],
    ["folder", manifest.folder && <code>{manifest.folder}</code>],
    ["imported from", manifest.imported_from],
    ["versions", Object.entries(manifest.versions).map(([name, version]) => `${name} ${version}`).join(", ")],
    ["started", <When key="started" at={page.created_at} exact />],
  ];
  const command = manifest.command.length ? manifest.command.map(shellWord).join(" ") : "";
  return (
    <>
      <h3>Manifest</h3>
      <table className={styles.criteria}>
        <tbody>
          {facts
            .filter(([, value]) => value)
            .map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{value}</td>
              </tr>
            ))}
        </tbody>
      </table>
      {command && <CopyLine text={command} action="command" />}
    </>
  );
}

/** A word of a command as a shell reads it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** Which scoring is shown, where there are several. */
export function Scorings({ page, onChange }: { page: RunPage; onChange: (scoring: string | null) => void }) {
  const { live } = useSource();
  if (page.judgings.length < 2) return null;
  if (!live) return <span className="dim">scoring {page.judging} of {page.judgings.length}</span>; // a file has one
  const counting = page.judgings.find(({ counts }) => counts)?.number;
  return (
    <label className={styles.scorings}>
      <span className="dim">Scoring</span>
      <select
        value={page.judging}
        onChange={({ target: { value } }) => onChange(Number(value) === counting ? null : value)}
      >
        {page.judgings.map(({ number, config_sources, counts, finished }) => (
          <option key={number} value={number}>
            {number}
            {number === 1 ? " (original)" : ""}
            {counts ? ", in effect" : finished ? "" : ", not finished"}
            {config_sources.length ? `: ${config_sources.join(", ")}` : ""}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The pass rate of the previous run. */
export function PreviousRate({ page }: { page: RunPage }) {
  if (!page.against) return null;
  const { pass_rate } = page.against;
  return pass_rate.of ? (
    <span className="dim">
      {" "}
      ({countOfText(pass_rate)} cases passed{afterComma(unreadText(pass_rate.unread_sets))})
    </span>
  ) : null;
}
