// Two people have changed one case: the changes of each, and the merged result.
import { type Path, valueAt, differences, pointer, setAt } from "./jsonEdit";
import { type Json, isEqual } from "./exactJson";

export type Side = "mine" | "theirs";

export interface Conflict {
  path: Path;
  mine: Json | undefined;
  theirs: Json | undefined;
  /** Both have changed this; otherwise only one has, and that is taken. */
  both: boolean;
  side: Side;
}

/** Where mine and theirs differ, and whose change each of it is, seen from what both began with. */
export function findConflicts(base: Json, mine: Json, theirs: Json): Conflict[] {
  return differences(theirs, mine).map((path) => {
    const [began, my, their] = [valueAt(base, path), valueAt(mine, path), valueAt(theirs, path)];
    const isMine = !isEqual(began, my);
    const isTheirs = !isEqual(began, their);
    return { path, mine: my, theirs: their, both: isMine && isTheirs, side: isMine ? "mine" : "theirs" };
  });
}

/** Theirs, with mine where that was chosen. */
export function mergeConflicts(theirs: Json, found: readonly Conflict[]): Json {
  // from behind: taking an item out of a list moves those behind it
  return [...found].reverse().reduce((value, conflict) => (conflict.side === "mine" ? setAt(value, conflict.path, conflict.mine) : value), theirs);
}

export function chooseSide(found: readonly Conflict[], path: Path, side: Side): Conflict[] {
  return found.map((conflict) => (pointer(conflict.path) === pointer(path) ? { ...conflict, side } : conflict));
}
