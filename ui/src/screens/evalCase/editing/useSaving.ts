// What can prevent saving a draft: errors in it, comments that would be lost, a change by another user.
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";
import type { CasePreview, FieldNote } from "../../../data/types";
import { RefusedError } from "./evalSetApi";
import type { Json } from "./exactJson";
import type { Draft } from "./useDraft";

/** The answer of the server after a write. */
interface SaveResult {
  value: Json;
  version: string;
  warnings: readonly FieldNote[];
}

/** How a draft gets into its file. */
export interface SaveTarget<Saved extends SaveResult> {
  save: (value: Json, version: string, commentsMayGo: boolean) => Promise<Saved>;
  preview: (value: Json) => Promise<CasePreview>;
  /** Called when it has been written; `words`: the message to show. */
  saved: (saved: Saved, words: string) => void;
}

export interface Saving<Saved extends SaveResult> {
  busy: boolean;
  message: string;
  error: Error | null;
  errors: readonly FieldNote[];
  warnings: readonly FieldNote[];
  preview: CasePreview | null;
  conflict: { theirs: Json | null; version: string } | null;
  /** Returns whether it was saved; waits for a save under way, and does not save the same value twice. */
  save: (commentsMayGo: boolean) => Promise<boolean>;
  show: () => Promise<boolean>;
  /** Write it in another way than by saving. */
  write: (send: () => Promise<Saved>, words: string) => Promise<boolean>;
  closePreview: () => void;
  closeConflict: () => void;
  /** Continue with `value`, and overwrite the file. */
  take: (value: Json) => void;
}

const NOTHING = { error: null, errors: [], preview: null, conflict: null } as const;

export function useSaving<Saved extends SaveResult>(draft: Draft, way: SaveTarget<Saved>, first: { message: string; warnings: readonly FieldNote[] }): Saving<Saved> {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [message, setMessage] = useState(first.message);
  const [warnings, setWarnings] = useState(first.warnings);
  const [state, setState] = useState<Pick<Saving<Saved>, "error" | "errors" | "preview" | "conflict">>(NOTHING);

  const underWay = useRef<{ value: Json; saved: Promise<Saved | null> } | null>(null);

  /** Returns null if it failed. */
  const attempt = async <T>(work: () => Promise<T>): Promise<T | null> => {
    setBusy(true);
    try {
      return await work();
    } catch (error) {
      await refused(error).catch((found: unknown) => setState({ ...NOTHING, error: asError(found) }));
      return null;
    } finally {
      setBusy(false);
    }
  };
  const refused = async (error: unknown): Promise<void> => {
    const found = asError(error);
    if (!(found instanceof RefusedError)) return setState({ ...NOTHING, error: found });
    const { refusal, status } = found;
    if (status === 412) return setState({ ...NOTHING, conflict: { theirs: refusal.theirs ?? null, version: refusal.version ?? "" } });
    if (status === 409 && refusal.lost?.length) return setState({ ...NOTHING, preview: await way.preview(draft.value) });
    return setState({ ...NOTHING, error: found, errors: refusal.fields ?? [] });
  };
  const write = (send: () => Promise<Saved>, words: string): Promise<Saved | null> =>
    attempt(async () => {
      const saved = await send();
      setMessage(words);
      setState(NOTHING);
      setWarnings(saved.warnings);
      draft.written(draft.value, saved.value, saved.version);
      void client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith("/api/eval-sets") });
      way.saved(saved, words);
      return saved;
    });
  const save = async (commentsMayGo: boolean): Promise<boolean> => {
    let version = draft.version;
    for (let before = underWay.current; before; before = underWay.current) {
      const saved = await before.saved;
      if (!saved || before.value === draft.value) return saved !== null;
      version = saved.version;
    }
    const saved = write(() => way.save(draft.value, version, commentsMayGo), "saved").finally(() => {
      underWay.current = null;
    });
    underWay.current = { value: draft.value, saved };
    return (await saved) !== null;
  };
  const close = (): void => setState(NOTHING);
  return {
    busy,
    message,
    warnings,
    ...state,
    save,
    show: async () => (await attempt(async () => setState({ ...NOTHING, preview: await way.preview(draft.value) }))) !== null,
    write: async (send, words) => (await write(send, words)) !== null,
    closePreview: close,
    closeConflict: close,
    take: (value) => {
      draft.rebase(state.conflict?.theirs ?? draft.base, state.conflict?.version ?? draft.version, value);
      close();
    },
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** How many fields contain invalid JSON. */
export function useInvalidFields(): { count: number; report: (field: string, isInvalid: boolean) => void } {
  const [fields, setFields] = useState<ReadonlySet<string>>(new Set());
  const report = useCallback((field: string, isInvalid: boolean) => {
    setFields((before) => {
      if (before.has(field) === isInvalid) return before;
      const next = new Set(before);
      if (isInvalid) next.add(field);
      else next.delete(field);
      return next;
    });
  }, []);
  return { count: fields.size, report };
}
