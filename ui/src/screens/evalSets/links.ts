// Ids of cases may be anything: a browser makes a folder of `..`, and the router does not decode `%2F`. What could mean
// something in an address is written as `~` and its code.
import { pathOf } from "../../data/queries";

const MEANS_SOMETHING = /[~%;/?:@&=+$,#\\]/g;

export function setAddress(set: string): string {
  return `/eval-sets/${encodeURIComponent(set)}`;
}

/** Where a case is edited; `run`: the run it was opened from, whose agent and options run it again. */
export function caseAddress(set: string, id: string, run: string | null = null): string {
  const safe = id.replace(MEANS_SOMETHING, (char) => `~${char.charCodeAt(0).toString(16)}`);
  return pathOf(`${setAddress(set)}/cases/${encodeURIComponent(/^\.{0,2}$/.test(safe) ? `~.${safe}` : safe)}`, { run });
}

/** The id that a part of an address means; `named` is decoded once already. */
export function idOf(named: string): string {
  return named.replace(/^~\./, "").replace(/~([0-9a-f]{2})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}
