import { useMemo } from "react";
import type { CaseExtras, CaseRow, RunPage } from "../../data/types";
import type { Column } from "../../components/tables/Table";
import { sortRows } from "../../components/tables/sortRows";
import { columnsOf } from "./caseColumns";
import { type Filter, type FilterTerms, readFilter, sortByChange } from "./caseFilter";

export interface ShownCases {
  words: FilterTerms;
  filter: Filter;
  columns: Column<CaseRow>[];
  /** Those that the filter takes, changed cases first. */
  taken: readonly CaseRow[];
  /** The same in the order of the table. */
  shown: () => readonly CaseRow[];
}

/** The cases of a run that its table shows for the filter and the order of an address. */
export function useShownCases(page: RunPage | undefined, rows: readonly CaseRow[], text: string, sort: string, chosen: string | null = null): ShownCases {
  const words = useFilterTerms(page, rows);
  const filter = useMemo(() => readFilter(text, words), [text, words]);
  const ordered = useMemo(() => sortByChange(rows), [rows]);
  const taken = useMemo(() => ordered.filter(filter.takes), [ordered, filter]);
  const costs = useMemo(() => rows.some(({ cost }) => cost !== null), [rows]);
  const columns = useMemo(() => (page ? columnsOf(page, { costs, chosen: chosen === null ? null : chosen.split(",") }) : []), [page, costs, chosen]);
  return useMemo(() => ({ words, filter, columns, taken, shown: () => sortRows(taken, columns, sort) }), [words, filter, columns, taken, sort]);
}

function useFilterTerms(page: RunPage | undefined, rows: readonly CaseRow[]): FilterTerms {
  const tags = useMemo(() => [...new Set(rows.flatMap((row) => row.tags))].sort(), [rows]);
  const known = tags.join("\n");
  return useMemo(
    () => ({ metrics: page?.metrics.map(({ name }) => name) ?? [], sets: page?.sets.map((set) => set.eval_set_id) ?? [], tags: known ? known.split("\n") : [] }),
    [page, known],
  );
}

/** The rows with the values from their evidence, once it is read. */
export function useExtraColumns(rows: readonly CaseRow[], extras: CaseExtras | undefined): readonly CaseRow[] {
  return useMemo(() => {
    if (!extras) return rows;
    const tags = new Map<number, string[]>();
    for (const [tag, positions] of Object.entries(extras.tags)) {
      for (const position of positions) tags.set(position, [...(tags.get(position) ?? []), tag]);
    }
    if (!tags.size && !extras.costs.length) return rows;
    return rows.map((row) => ({ ...row, tags: tags.get(row.position) ?? row.tags, cost: extras.costs[row.position] ?? row.cost }));
  }, [rows, extras]);
}
