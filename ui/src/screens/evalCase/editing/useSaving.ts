// What comes between a draft and its file: what is wrong with it, comments that would be lost, the change of somebody else.
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import type { CasePreview, FieldNote } from "../../../data/types";
import { Refused } from "./evalSetApi";
import type { Json } from "./exactJson";
import type { Draft } from "./useDraft";

/** What the server says of something that it wrote. */
export interface Written {
  value: Json;
  version: string;
  doubtful: readonly FieldNote[];
}

/** How a draft gets into its file. */
export interface Way<Saved extends Written> {
  save: (value: Json, version: string, commentsMayGo: boolean) => Promise<Saved>;
  preview: (value: Json) => Promise<CasePreview>;
  /** It was written; `words`: what is told of it. */
  saved: (saved: Saved, words: string) => void;
}

export interface Saving<Saved extends Written> {
  busy: boolean;
  told: string;
  error: Error | null;
  wrong: readonly FieldNote[];
  doubtful: readonly FieldNote[];
  preview: CasePreview | null;
  conflict: { theirs: Json | null; version: string } | null;
  save: (commentsMayGo: boolean) => Promise<void>;
  show: () => Promise<void>;
  /** Write it in another way than by saving. */
  write: (send: () => Promise<Saved>, words: string) => Promise<void>;
  closePreview: () => void;
  closeConflict: () => void;
  /** Go on with `value`, over what the file says now. */
  take: (value: Json) => void;
}

const NOTHING = { error: null, wrong: [], preview: null, conflict: null } as const;

export function useSaving<Saved extends Written>(draft: Draft, way: Way<Saved>, first: { told: string; doubtful: readonly FieldNote[] }): Saving<Saved> {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [told, setTold] = useState(first.told);
  const [doubtful, setDoubtful] = useState(first.doubtful);
  const [state, setState] = useState<Pick<Saving<Saved>, "error" | "wrong" | "preview" | "conflict">>(NOTHING);

  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      await refused(error).catch((found: unknown) => setState({ ...NOTHING, error: asError(found) }));
    } finally {
      setBusy(false);
    }
  };
  const refused = async (error: unknown): Promise<void> => {
    const found = asError(error);
    if (!(found instanceof Refused)) return setState({ ...NOTHING, error: found });
    const { refusal, status } = found;
    if (status === 412) return setState({ ...NOTHING, conflict: { theirs: refusal.theirs ?? null, version: refusal.version ?? "" } });
    if (status === 409 && refusal.lost?.length) return setState({ ...NOTHING, preview: await way.preview(draft.value) });
    return setState({ ...NOTHING, error: found, wrong: refusal.fields ?? [] });
  };
  const write = (send: () => Promise<Saved>, words: string): Promise<void> =>
    attempt(async () => {
      const saved = await send();
      setTold(words);
      setState(NOTHING);
      setDoubtful(saved.doubtful);
      draft.rebase(saved.value, saved.version, saved.value);
      void client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith("/api/eval-sets") });
      way.saved(saved, words);
    });
  const close = (): void => setState(NOTHING);
  return {
    busy,
    told,
    doubtful,
    ...state,
    save: (commentsMayGo) => write(() => way.save(draft.value, draft.version, commentsMayGo), "saved"),
    show: () => attempt(async () => setState({ ...NOTHING, preview: await way.preview(draft.value) })),
    write,
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

/** How many fields hold a text that is no JSON by now. */
export function useBrokenFields(): { count: number; tell: (field: string, isBroken: boolean) => void } {
  const [fields, setFields] = useState<ReadonlySet<string>>(new Set());
  const tell = useCallback((field: string, isBroken: boolean) => {
    setFields((before) => {
      if (before.has(field) === isBroken) return before;
      const next = new Set(before);
      if (isBroken) next.add(field);
      else next.delete(field);
      return next;
    });
  }, []);
  return { count: fields.size, tell };
}
