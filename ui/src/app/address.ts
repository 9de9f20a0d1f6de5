import { useCallback, useLayoutEffect, useRef } from "react";
import { useLocation, useRouter } from "wouter";

type AddressChanges = Record<string, string | null>;

/** The query with `changes` made to it; an empty value takes its name out. */
export function withChanges(search: string, changes: AddressChanges): string {
  const params = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") params.delete(name);
    else params.set(name, value);
  }
  return params.toString();
}

/** The query exactly as the address has it: wouter's `useSearch` decodes it once too often, and `%252F` would be a `/`. */
function useQuery(): string {
  const router = useRouter();
  return router.searchHook(router).replace(/^\?/, "");
}

/**
 * The query of the address, and how to change it: state that a link carries and a reload keeps.
 * `const [query, setQuery] = useAddress(); query.get("q"); setQuery({ q: "outcome:failed" })`.
 * Changes replace the entry in the history unless `{ push: true }`, and apply to the address of that moment: what
 * changes it later, as a filter does after a pause, undoes nothing.
 */
export function useAddress(): [URLSearchParams, (changes: AddressChanges, how?: { push?: boolean }) => void] {
  const search = useQuery();
  const [path, navigate] = useLocation();
  const now = useRef({ search, path, navigate });
  useLayoutEffect(() => {
    now.current = { search, path, navigate };
  });
  const set = useCallback((changes: AddressChanges, how: { push?: boolean } = {}) => {
    const { search, path, navigate } = now.current;
    const next = withChanges(search, changes);
    navigate(next ? `${path}?${next}` : path, { replace: !how.push });
  }, []);
  return [new URLSearchParams(search), set];
}
