import { useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useState } from "react";
import { type Path, setAt } from "./jsonEdit";
import { type Json, isEqual } from "./exactJson";

interface StoredDraft {
  base: Json;
  version: string;
  value: Json;
}

/** What was written and not saved, by case: going to another page and coming back loses nothing. */
const drafts = new Map<string, StoredDraft>();

export interface Draft {
  /** The version that was read, or saved last. */
  base: Json;
  version: string;
  value: Json;
  isChanged: boolean;
  /** It was written before this page was reopened. */
  isRestored: boolean;
  set: (path: Path, next: Json | undefined) => void;
  replace: (value: Json) => void;
  /** Take the file's version as the base of comparison; `value`: the value to edit from now on. */
  rebase: (base: Json, version: string, value: Json) => void;
  /** The file has `saved` now, in place of the value that was `sent`; what was changed since then stays. */
  written: (sent: Json, saved: Json, version: string) => void;
  undo: () => void;
  canUndo: boolean;
  discard: () => void;
}

const MAX_UNDO = 200; // steps back

interface State extends StoredDraft {
  past: readonly Json[];
}

type Action =
  | { does: "change"; make: (value: Json) => Json }
  | { does: "rebase"; base: Json; version: string; value: Json }
  | { does: "written"; sent: Json; saved: Json; version: string }
  | { does: "undo" | "discard" };

function next(state: State, action: Action): State {
  switch (action.does) {
    case "change":
      return { ...state, value: action.make(state.value), past: [...state.past.slice(1 - MAX_UNDO), state.value] };
    case "rebase":
      return { ...state, base: action.base, version: action.version, value: action.value };
    case "written":
      return { ...state, value: state.value === action.sent ? action.saved : state.value, base: action.saved, version: action.version };
    case "undo":
      return { ...state, value: state.past.at(-1) ?? state.value, past: state.past.slice(0, -1) };
    case "discard":
      return { ...state, value: state.base, past: [] };
  }
}

export function useDraft(name: string, read: Json, version: string): Draft {
  const [restored] = useState(() => drafts.get(name));
  const [{ past, ...state }, act] = useReducer(next, { ...(restored ?? { base: read, version, value: read }), past: [] });
  const { base, value } = state;
  const isChanged = useMemo(() => !isEqual(base, value), [base, value]);
  useEffect(() => {
    if (isChanged) drafts.set(name, { base, version: state.version, value });
    else drafts.delete(name);
  }, [name, base, state.version, value, isChanged]);
  const set = useCallback((path: Path, to: Json | undefined) => act({ does: "change", make: (now) => setAt(now, path, to) }), []);
  const replace = useCallback((to: Json) => act({ does: "change", make: () => to }), []);
  const rebase = useCallback((to: Json, newer: string, mine: Json) => act({ does: "rebase", base: to, version: newer, value: mine }), []);
  const written = useCallback((sent: Json, saved: Json, newer: string) => act({ does: "written", sent, saved, version: newer }), []);
  const undo = useCallback(() => act({ does: "undo" }), []);
  const discard = useCallback(() => act({ does: "discard" }), []);
  return { ...state, isChanged, isRestored: restored !== undefined, set, replace, rebase, written, undo, canUndo: past.length > 0, discard };
}

let isLeaving = false; // the question was answered

/** While something is not saved: closing the page asks, and so does a link that leads away. */
export function useGuard(isChanged: boolean, ask: (leave: () => void) => void): void {
  useLayoutEffect(() => {
    if (!isChanged) return undefined;
    const closing = (event: BeforeUnloadEvent): void => event.preventDefault();
    const clicked = (event: MouseEvent): void => {
      if (isLeaving) return;
      const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
      if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey || link.target === "_blank") return;
      if (link.origin !== location.origin || link.pathname === location.pathname) return;
      event.preventDefault();
      event.stopPropagation();
      ask(() => {
        isLeaving = true;
        link.click();
        isLeaving = false;
      });
    };
    window.addEventListener("beforeunload", closing);
    document.addEventListener("click", clicked, true);
    return () => {
      window.removeEventListener("beforeunload", closing);
      document.removeEventListener("click", clicked, true);
    };
  }, [isChanged, ask]);
}
