// Configuration errors of a case are shown while it is edited, with the messages of the server.
import { useEffect, useState } from "react";
import type { CaseChecked, FieldNote } from "../../data/types";
import { checkCase } from "./editing/evalSetApi";
import type { Json } from "./editing/exactJson";

const PAUSE = 350; // milliseconds without a change

const NOTHING: CaseChecked = { errors: [], refused: [], warnings: [] };

/** The notes on a value after a short pause in typing; the previous notes stay until then. */
export function useCaseCheck(set: string, id: string, value: Json): CaseChecked {
  const [found, setFound] = useState(NOTHING);
  useEffect(() => {
    const asked = new AbortController();
    const later = setTimeout(() => {
      checkCase(set, id, value, asked.signal).then(setFound, () => {
        // an unreachable server is reported when something is saved
      });
    }, PAUSE);
    return () => {
      clearTimeout(later);
      asked.abort();
    };
  }, [set, id, value]);
  return found;
}

/** Notes of several looks, each once. */
export function eachOnce(...lists: readonly (readonly FieldNote[])[]): FieldNote[] {
  const notes = new Map<string, FieldNote>();
  for (const note of lists.flat()) notes.set(`${note.pointer} ${note.message}`, note);
  return [...notes.values()];
}
