import { createContext, useCallback, useContext, useId, useLayoutEffect } from "react";
import type { FieldNote } from "../../../data/types";
import { type Path, valueAt, pointer } from "../editing/jsonEdit";
import type { Json } from "../editing/exactJson";

export interface Edit {
  value: Json;
  isCamel: boolean;
  readOnly: boolean;
  /** Put another value at a place; `undefined` takes it out. */
  set: (path: Path, next: Json | undefined) => void;
  /** The errors that the server reported. */
  errors: readonly FieldNote[];
  /** Warnings: the value may be saved. */
  warnings: readonly FieldNote[];
  /** A field with invalid JSON: nothing is saved until it is valid. */
  reportInvalid: (field: string, isInvalid: boolean) => void;
  personas: readonly string[];
}

const Context = createContext<Edit | null>(null);
export const EditProvider = Context.Provider;

export function useEdit(): Edit {
  const edit = useContext(Context);
  if (!edit) throw new Error("outside of the editor");
  return edit;
}

export function useValue(path: Path): Json | undefined {
  return valueAt(useEdit().value, path);
}

interface FieldMessages {
  error: string | null;
  hint: string | undefined;
}

/** The notes on a place; `below`: also on everything in it. */
export function useNotes(path: Path, below = false): FieldMessages {
  const { errors, warnings } = useEdit();
  const here = pointer(path);
  const find = (notes: readonly FieldNote[]): string =>
    notes
      .filter((note) => note.pointer === here || (below && note.pointer.startsWith(`${here}/`)))
      .map((note) => `${note.pointer === here ? "" : `${note.pointer.slice(here.length + 1)}: `}${note.message}${note.hint ? ` (${note.hint})` : ""}`)
      .join("\n");
  return { error: find(errors) || null, hint: find(warnings) || undefined };
}

/** Reports to the editor that this field cannot be read. */
export function useInvalid(isInvalid: boolean): void {
  const { reportInvalid } = useEdit();
  const id = useId();
  const report = useCallback((invalid: boolean) => reportInvalid(id, invalid), [id, reportInvalid]);
  useLayoutEffect(() => {
    report(isInvalid);
    return () => report(false);
  }, [isInvalid, report]);
}
