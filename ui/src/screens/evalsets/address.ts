// Ids of cases may be anything, and a browser makes a folder of `..`: in an address they never stand alone.

export function setAddress(set: string): string {
  return `/eval-sets/${encodeURIComponent(set)}`;
}

export function caseAddress(set: string, id: string): string {
  return `${setAddress(set)}/cases/${encodeURIComponent(/^(\.{0,2}|~.*)$/s.test(id) ? `~${id}` : id)}`;
}

/** The id that an address means; `named` is decoded once already. */
export function idOf(named: string): string {
  return named.startsWith("~") ? named.slice(1) : named;
}
