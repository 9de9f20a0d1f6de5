// What a run would refuse about a case is told while it is being written, in the words of the server.
import { useEffect, useState } from "react";
import type { CaseChecked, FieldNote } from "../../data/types";
import { checkCase } from "./editing/evalSetApi";
import type { Json } from "./editing/exactJson";

const PAUSE = 350; // milliseconds without a change

const NOTHING: CaseChecked = { wrong: [], refused: [], doubtful: [] };

/** The notes on a value, as soon as nobody has typed for a moment; those on the value before stay until then. */
export function useCaseCheck(set: string, value: Json): CaseChecked {
  const [found, setFound] = useState(NOTHING);
  useEffect(() => {
    const asked = new AbortController();
    const later = setTimeout(() => {
      checkCase(set, value, asked.signal).then(setFound, () => {
        // a server that does not answer says so when something is saved
      });
    }, PAUSE);
    return () => {
      clearTimeout(later);
      asked.abort();
    };
  }, [set, value]);
  return found;
}

/** Notes of several looks, each once. */
export function eachOnce(...lists: readonly (readonly FieldNote[])[]): FieldNote[] {
  const notes = new Map<string, FieldNote>();
  for (const note of lists.flat()) notes.set(`${note.pointer} ${note.message}`, note);
  return [...notes.values()];
}
