import { useMemo } from "react";
import { pathOf } from "../../data/queries";
import type { CasePage, CaseRow } from "../../data/types";
import { numText } from "../../components/text/numberFormats";
import { useTableOf } from "../run/useShownCases";

const NONE: readonly CaseRow[] = [];

export interface CaseOrder {
  /** `3 of 18 failures`; empty until the table is read, or if it does not show this case. */
  place: string;
  previous: Neighbour | null;
  next: Neighbour | null;
  /** Whether the cases before and after this one are known: with a filter or an order only once the table is read. */
  known: boolean;
  /** The table from which the case was opened. */
  up: string;
  /** Its cases, as far as it is read. */
  shown: readonly CaseRow[];
  /** The place of this case among them; -1 if the table does not show it. */
  at: number;
  hrefOf: (position: number) => string;
}

export interface Neighbour {
  position: number;
  eval_id: string;
  href: string;
}

/** The cases before and after this one in the table from which it was opened: with the filter and order of the address. */
export function useCaseOrder(page: CasePage, query: URLSearchParams, scoring: string | null): CaseOrder {
  const text = query.get("q") ?? "";
  const sort = query.get("sort") ?? "";
  const { table, read } = useTableOf(page.run_id, text, sort, scoring);
  return useMemo(() => {
    const shown = read && !table.searching ? table.shown() : NONE;
    const at = shown.findIndex(({ position }) => position === page.position);
    const known = read || !(text || sort);
    const inFile = known ? page : null; // before the table is read, no other order is taken for its own
    const leave = { q: text, sort, judging: scoring };
    const hrefOf = (position: number) => pathOf(`/runs/${encodeURIComponent(page.run_id)}/cases/${position}`, leave);
    const near = (one: { position: number; eval_id: string } | null | undefined): Neighbour | null =>
      one ? { position: one.position, eval_id: one.eval_id, href: hrefOf(one.position) } : null;
    return {
      place: at < 0 ? "" : placeText(at, shown, table.filter.problem ? "" : text), // a filter with a problem shows all cases
      previous: near(at < 0 ? inFile?.previous : shown[at - 1]),
      next: near(at < 0 ? inFile?.next : shown[at + 1]),
      known,
      up: pathOf(`/runs/${encodeURIComponent(page.run_id)}`, leave),
      shown,
      at,
      hrefOf,
    };
  }, [read, table, page, text, sort, scoring]);
}

/** Where a case is among those that a table shows: `3 of 18 failures`. */
export function placeText(at: number, shown: readonly Pick<CaseRow, "outcome">[], text: string): string {
  return `${numText(at + 1)} of ${numText(shown.length)} ${text ? shownText(new Set(shown.map(({ outcome }) => outcome))) : "cases"}`;
}

function shownText(outcomes: ReadonlySet<string>): string {
  const others = [...outcomes].filter((outcome) => outcome !== "failed" && outcome !== "error");
  if (others.length) return "cases that match the filter";
  return outcomes.size > 1 ? "failures and errors" : outcomes.has("error") ? "errors" : "failures";
}
