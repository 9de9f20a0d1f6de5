import { useState } from "react";
import { pathOf, useData } from "../../data/queries";
import type { StartPage, StartSet } from "../../data/types";
import { Breakable, Id } from "../../components/text/Breakable";
import { Chip } from "../../components/forms/Chip";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { Skeleton } from "../../components/feedback/Skeleton";
import { countText, numText } from "../../components/text/numberFormats";
import styles from "./Start.module.css";
import type { ChosenSet } from "./startRequest";

interface Props {
  sets: StartPage["sets"];
  chosen: readonly ChosenSet[];
  onChange: (chosen: ChosenSet[]) => void;
}

const MOST = 12; // sets that are listed before one searches
const MOST_CASES = 200;

/** Eval sets, each whole or some of its cases. */
export function SetsPicker({ sets, chosen, onChange }: Props) {
  const [words, setWords] = useState("");
  const isChosen = (path: string) => chosen.some((one) => one.path === path);
  const found = sets.filter(({ path }) => isChosen(path) || path.toLowerCase().includes(words.toLowerCase()));
  const shown = found.slice(0, Math.max(MOST, chosen.length));
  const set = (path: string, cases: string[] | null) => onChange(chosen.map((one) => (one.path === path ? { path, cases } : one)));
  return (
    <>
      {sets.length > 5 && (
        <input
          className={styles.search}
          aria-label="Search eval sets"
          placeholder={`Search ${sets.length} eval sets`}
          value={words}
          onChange={({ target }) => setWords(target.value)}
        />
      )}
      <ul className={styles.sets} aria-label="Eval sets">
        {shown.map(({ path }, place) => {
          const one = chosen.find((each) => each.path === path);
          const folder = folderOf(path);
          return (
            <li key={path}>
              {folder !== folderOf(shown[place - 1]?.path ?? "") && <span className={styles.folder}><Breakable text={folder || "project folder"} /></span>}
              <label>
                <input
                  type="checkbox"
                  checked={one !== undefined}
                  onChange={({ target }) => onChange(target.checked ? [...chosen, { path, cases: null }] : chosen.filter((each) => each.path !== path))}
                />
                <code title={path}><span className="hidden">{folder && `${folder}/`}</span><Breakable text={folder ? path.slice(folder.length + 1) : path} /></code>
                {one?.cases && <span className="dim small">{countText(one.cases.length, "case")}</span>}
              </label>
              {one && <Cases chosen={one} onChange={(cases) => set(path, cases)} />}
            </li>
          );
        })}
      </ul>
      {found.length > shown.length && <p className="dim small">and {found.length - shown.length} more: search</p>}
      {sets.length === 0 && <p className="dim">No eval set in the project's folder yet: create one under Eval sets or with proctor init.</p>}
    </>
  );
}

/** The folder of a file; empty for the project's own. */
function folderOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

function Cases({ chosen, onChange }: { chosen: ChosenSet; onChange: (cases: string[] | null) => void }) {
  const [open, setOpen] = useState(chosen.cases !== null);
  const { data, error } = useData<StartSet>(pathOf("/api/start/set", { path: chosen.path }));
  if (error) return <ErrorNote error={error} />;
  if (!data) return <Skeleton rows={1} height="24px" />;
  if (data.problem) return <ErrorNote error={{ message: data.problem }} />;
  return (
    <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {chosen.cases ? `${numText(chosen.cases.length)} of ${numText(data.cases.length)} cases` : `all ${numText(data.cases.length)} cases`}
        <span className="dim small">{data.config ? ` · config ${data.config}` : " · ADK's default criteria: no config file found"}</span>
      </summary>
      {open && <CaseList set={data} chosen={chosen.cases} onChange={onChange} />}
    </details>
  );
}

function CaseList({ set, chosen, onChange }: { set: StartSet; chosen: string[] | null; onChange: (cases: string[] | null) => void }) {
  const [words, setWords] = useState("");
  const tags = [...new Set(set.cases.flatMap((one) => one.tags))].sort();
  const fitting = set.cases.filter((one) => fits(one, words));
  const ids = new Set(chosen ?? set.cases.map(({ eval_id }) => eval_id));
  const take = (next: ReadonlySet<string>) => {
    const kept = set.cases.map(({ eval_id }) => eval_id).filter((id) => next.has(id));
    onChange(kept.length === set.cases.length ? null : kept);
  };
  const toggle = (id: string, on: boolean) => take(on ? new Set([...ids, id]) : new Set([...ids].filter((one) => one !== id)));
  return (
    <>
      <div className={styles.caseTools}>
        <input
          className={styles.search}
          aria-label={`Search the cases of ${set.path}`}
          placeholder="Search cases, tag:x"
          value={words}
          onChange={({ target }) => setWords(target.value)}
        />
        {tags.slice(0, 8).map((tag) => (
          <Chip key={tag} pressed={words === `tag:${tag}`} onPress={() => setWords(words === `tag:${tag}` ? "" : `tag:${tag}`)}>
            {tag}
          </Chip>
        ))}
        <Chip onPress={() => take(new Set(fitting.map(({ eval_id }) => eval_id)))}>
          only {words ? "these" : "all"}
        </Chip>
        <Chip onPress={() => take(new Set([...ids].filter((id) => !fitting.some(({ eval_id }) => eval_id === id))))}>
          none of {words ? "these" : "them"}
        </Chip>
      </div>
      <ul className={styles.cases}>
        {fitting.slice(0, MOST_CASES).map((one) => (
          <li key={one.eval_id}>
            <label>
              <input type="checkbox" checked={ids.has(one.eval_id)} onChange={({ target }) => toggle(one.eval_id, target.checked)} />
              <span>
                <b><Id text={one.eval_id} /></b> <span className="dim">{one.message}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
      {fitting.length > MOST_CASES && <p className="dim small">and {numText(fitting.length - MOST_CASES)} more: search</p>}
    </>
  );
}

function fits({ eval_id, message, tags }: StartSet["cases"][number], words: string): boolean {
  const text = `${eval_id} ${message}`.toLowerCase();
  return words
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => (word.startsWith("tag:") ? tags.includes(word.slice(4)) : text.includes(word.toLowerCase())));
}
