import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import type { SourceError } from "../../data/source";
import type { EvalSetText, ProblemNote } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { Skeleton } from "../../components/feedback/Skeleton";
import { Prose } from "../../components/text/Prose";
import { RefusedError, checkText, readText, saveText } from "../evalCase/editing/evalSetApi";
import { AskDialog, ConflictDialog } from "../evalCase/editing/dialogs";
import { type Draft, useDraft, useGuard } from "../evalCase/editing/useDraft";
import { useSaveKey } from "../evalCase/editing/useSaveKey";
import styles from "./EvalSets.module.css";
import { lineCount, offsetOf, placeOf } from "./textPositions";

interface Props {
  set: string;
  /** It cannot be read as a set. */
  isUnreadable: boolean;
}

/** The text of a set's file with its errors: for files that cannot be read, and for editing as text. */
export function TextEditor({ set, isUnreadable }: Props) {
  const { data, error, refetch } = useQuery<EvalSetText, SourceError>({
    queryKey: ["exact text", set],
    queryFn: ({ signal }) => readText(set, signal),
    staleTime: Infinity, // what is edited does not change under one's hands
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  });
  if (data) return <Editor set={set} read={data} isUnreadable={isUnreadable} />;
  return error ? <ErrorNote error={error} retry={refetch} /> : <Skeleton rows={8} />;
}

function Editor({ set, read, isUnreadable }: Props & { read: EvalSetText }) {
  const draft = useDraft(`text of ${set}`, read.text, read.version);
  const text = typeof draft.value === "string" ? draft.value : "";
  const checked = useTextCheck(set, text, read);
  const saving = useTextSaving(set, draft);
  const [leave, setLeave] = useState<(() => void) | null>(null);
  useGuard(draft.isChanged, useCallback((go: () => void) => setLeave(() => go), []));
  useSaveKey(() => draft.isChanged && !saving.busy && void saving.save(false));
  const area = useRef<HTMLTextAreaElement>(null);
  const [place, setPlace] = useState({ line: 1, column: 1 });
  const go = (line: number, column: number): void => {
    goTo(area.current, line, column);
    setPlace({ line, column });
  };
  const errors = checked.problems.filter(({ severity }) => severity === "error").length;
  return (
    <section aria-label="As text">
      <div className={`row ${styles.bar}`}>
        <span role="status" className={draft.isChanged ? styles.warning : "dim"}>
          {draft.isChanged ? "not saved" : saving.message}
        </span>
        <span className={checked.readable ? "dim" : styles.error}>{checked.readable ? "Valid." : `Not valid: ${errors} ${errors === 1 ? "error" : "errors"}.`}</span>
        <span className="grow" />
        <Button action="discard" disabled={!draft.isChanged && "nothing is changed"} onClick={draft.discard}>Discard</Button>
        {!checked.readable && draft.isChanged && <Button action="write" does="save although it is not valid" busy={saving.busy} onClick={() => void saving.save(true)}>Save anyway</Button>}
        <Button look="first" action="save" disabled={!draft.isChanged && "nothing is changed"} busy={saving.busy} onClick={() => void saving.save(false)}>Save</Button>
      </div>
      {draft.isRestored && draft.isChanged && <p className="dim">Your earlier unsaved changes are restored.</p>}
      <ErrorNote error={saving.error} />
      <Places problems={checked.problems} go={go} />
      <TextArea area={area} text={text} problems={checked.problems} change={draft.replace} isUnreadable={isUnreadable} place={place} setPlace={setPlace} />
      {saving.conflict && (
        <ConflictDialog base={draft.base} mine={draft.value} theirs={saving.conflict.theirs} close={saving.close} take={saving.take} what="this file" />
      )}
      <AskDialog
        open={leave !== null}
        close={() => setLeave(null)}
        title="Not saved yet"
        words="Your changes are not in the file. This tab keeps them: return to this eval set to continue."
        yes="Leave without saving"
        go={() => {
          setLeave(null);
          leave?.();
        }}
      />
    </section>
  );
}

const SHOWN = 30;

/** What is wrong, each with a way to its place. */
function Places({ problems, go }: { problems: readonly ProblemNote[]; go: (line: number, column: number) => void }) {
  if (!problems.length) return null;
  return (
    <ul aria-label="Problems of the text" className={`${styles.places} panel`}>
      {problems.slice(0, SHOWN).map((one, index) => (
        <li key={index}>
          <Button look="quiet" onClick={() => go(one.line, one.column)}>
            <b className={one.severity === "error" ? styles.error : styles.warning}>{one.severity}</b> {one.line}:{one.column}
          </Button>{" "}
          {one.field && <code className="dim">{one.field}: </code>}
          <Prose text={one.message} />
          {one.hint && <span className="dim"> (<Prose text={one.hint} />)</span>}
        </li>
      ))}
      {problems.length > SHOWN && <li className="dim">{problems.length - SHOWN} more</li>}
    </ul>
  );
}

function goTo(area: HTMLTextAreaElement | null, line: number, column: number): void {
  if (!area) return;
  const at = offsetOf(area.value, line, column);
  area.focus();
  area.setSelectionRange(at, at);
  const height = parseFloat(getComputedStyle(area).lineHeight) || 20;
  area.scrollTop = Math.max(0, (line - 4) * height);
}

interface AreaProps {
  area: React.RefObject<HTMLTextAreaElement | null>;
  text: string;
  problems: readonly ProblemNote[];
  change: (text: string) => void;
  isUnreadable: boolean;
  /** Where the caret is. */
  place: { line: number; column: number };
  setPlace: (place: { line: number; column: number }) => void;
}

/** The text with its line numbers; those of lines in which something is wrong are marked. */
function TextArea({ area, text, problems, change, isUnreadable, place, setPlace }: AreaProps) {
  const gutter = useRef<HTMLPreElement>(null);
  const wrong = new Set(problems.filter(({ severity }) => severity === "error").map(({ line }) => line));
  const numbers = Array.from({ length: lineCount(text) }, (_, at) => `${wrong.has(at + 1) ? "✕ " : ""}${at + 1}`).join("\n");
  return (
    <>
      <div className={styles.text} data-wrong={wrong.size > 0 || undefined}>
        <pre ref={gutter} aria-hidden>{numbers}</pre>
        <textarea
          ref={area}
          aria-label={isUnreadable ? "Text of the file that cannot be read" : "Text of the file"}
          value={text}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          onChange={(event) => change(event.target.value)}
          onSelect={(event) => setPlace(placeOf(event.currentTarget.value, event.currentTarget.selectionStart))}
          onScroll={(event) => {
            if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop;
          }}
        />
      </div>
      <p className="dim small">
        Line {place.line}, column {place.column}. Line ends and a byte-order mark are preserved.
      </p>
    </>
  );
}

const PAUSE = 350; // milliseconds without a change

function useTextCheck(set: string, text: string, read: EvalSetText): Pick<EvalSetText, "problems" | "readable"> {
  const [found, setFound] = useState<Pick<EvalSetText, "problems" | "readable">>(read);
  useEffect(() => {
    const asked = new AbortController();
    const later = setTimeout(() => {
      checkText(set, text, asked.signal).then(setFound, () => {
        // an unreachable server is reported when something is saved
      });
    }, PAUSE);
    return () => {
      clearTimeout(later);
      asked.abort();
    };
  }, [set, text]);
  return found;
}

interface TextSaving {
  busy: boolean;
  message: string;
  error: Error | null;
  conflict: { theirs: string; version: string } | null;
  save: (unreadableMayBe: boolean) => Promise<void>;
  close: () => void;
  take: (value: Draft["value"]) => void;
}

function useTextSaving(set: string, draft: Draft): TextSaving {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [message, setMessage] = useState("");
  const [error, setError] = useState<Error | null>(null);
  const [conflict, setConflict] = useState<TextSaving["conflict"]>(null);
  const save = async (unreadableMayBe: boolean): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const saved = await saveText(set, String(draft.value), draft.version, unreadableMayBe);
      setMessage("saved");
      draft.rebase(saved.text, saved.version, saved.text);
      void client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith("/api/eval-sets") });
    } catch (found) {
      if (found instanceof RefusedError && found.status === 412 && typeof found.refusal.theirs === "string") {
        setConflict({ theirs: found.refusal.theirs, version: found.refusal.version ?? "" });
      } else {
        setError(found instanceof Error ? found : new Error(String(found)));
      }
    } finally {
      setBusy(false);
    }
  };
  const close = (): void => setConflict(null);
  const take = (value: Draft["value"]): void => {
    if (conflict) draft.rebase(conflict.theirs, conflict.version, value);
    close();
  };
  return { busy, message, error, conflict, save, close, take };
}
