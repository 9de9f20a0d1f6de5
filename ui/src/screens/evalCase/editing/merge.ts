// Two people have changed one case: what each of them changed, and what comes of it.
import { type Path, at, differences, pointer, put } from "./jsonEdit";
import { type Json, same } from "./exactJson";

export type Side = "mine" | "theirs";

export interface Clash {
  path: Path;
  mine: Json | undefined;
  theirs: Json | undefined;
  /** Both have changed this; otherwise only one has, and that is taken. */
  both: boolean;
  side: Side;
}

/** Where mine and theirs differ, and whose change each of it is, seen from what both began with. */
export function clashes(base: Json, mine: Json, theirs: Json): Clash[] {
  return differences(theirs, mine).map((path) => {
    const [began, my, their] = [at(base, path), at(mine, path), at(theirs, path)];
    const isMine = !same(began, my);
    const isTheirs = !same(began, their);
    return { path, mine: my, theirs: their, both: isMine && isTheirs, side: isMine ? "mine" : "theirs" };
  });
}

/** Theirs, with mine where that was chosen. */
export function merged(theirs: Json, found: readonly Clash[]): Json {
  // from behind: taking an item out of a list moves those behind it
  return [...found].reverse().reduce((value, clash) => (clash.side === "mine" ? put(value, clash.path, clash.mine) : value), theirs);
}

export function chosen(found: readonly Clash[], path: Path, side: Side): Clash[] {
  return found.map((clash) => (pointer(clash.path) === pointer(path) ? { ...clash, side } : clash));
}
