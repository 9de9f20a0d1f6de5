import { useCallback, useMemo } from "react";
import { useAddress } from "../../app/address";
import { pathOf, useData, useSource } from "../../data/queries";
import type { CaseExtras, CaseRow, CasesPage, RunPage, TextMatches } from "../../data/types";
import type { Column } from "../../components/tables/Table";
import { sortRows } from "../../components/tables/sortRows";
import { columnsOf, hasCost } from "./columns/caseColumns";
import { type Filter, type FilterTerms, type Search, type SearchedField, isReasonCut, needsEvidence, readFilter, searchFailure, searchedTexts, sortWorstFirst } from "./caseFilter";

export interface ShownCases {
  words: FilterTerms;
  filter: Filter;
  columns: Column<CaseRow>[];
  /** Those that the filter takes, the worst first. */
  taken: readonly CaseRow[];
  /** The server searches messages or reasons: the filter does not know all cases until it has answered. */
  searching: boolean;
  /** The same in the order of the table. */
  shown: () => readonly CaseRow[];
}

/** The cases of a run that its table shows for the filter and the order of an address. */
export function useShownCases(page: RunPage | undefined, rows: readonly CaseRow[], text: string, sort: string, chosen: string | null = null): ShownCases {
  const { live } = useSource();
  const said = useSearch("said", live ? page : undefined, text);
  const isCut = useMemo(() => live && rows.some(isReasonCut), [live, rows]);
  const reasons = useSearch("cause", isCut ? page : undefined, text);
  const searching = said.searching || reasons.searching;
  const words = useFilterTerms(page, rows, live ? said.search : undefined, isCut ? reasons.search : undefined);
  const filter = useMemo(() => readFilter(text, words), [text, words]);
  const ordered = useMemo(() => sortWorstFirst(rows), [rows]);
  const taken = useMemo(() => ordered.filter(filter.takes), [ordered, filter]);
  const costs = useMemo(() => rows.some(hasCost), [rows]);
  const columns = useMemo(() => (page ? columnsOf(page, { costs, chosen: chosen === null ? null : chosen.split(",") }) : []), [page, costs, chosen]);
  return useMemo(() => ({ words, filter, columns, taken, searching, shown: () => sortRows(taken, columns, sort) }), [words, filter, columns, taken, searching, sort]);
}

const FRESH = { fresh: 60_000 } as const;
const NONE: readonly CaseRow[] = [];

/** The table of a run as its page shows it, for another page; `null` reads nothing. */
export function useTableOf(run: string | null, text: string, sort: string, scoring: string | null) {
  const base = run === null ? null : `/api/runs/${encodeURIComponent(run)}`;
  const page = useData<RunPage>(base && pathOf(base, { judging: scoring }), FRESH);
  const cases = useData<CasesPage>(base && pathOf(`${base}/cases`, { judging: scoring }), FRESH);
  const read = Boolean(page.data && cases.data);
  const extras = useData<CaseExtras>(base && read && needsEvidence(text, sort) ? pathOf(`${base}/case-extras`, { judging: scoring }) : null, FRESH);
  const rows = useExtraColumns(cases.data?.items ?? NONE, extras.data);
  const table = useShownCases(page.data, rows, text, sort, sort.replace(/^-/, "") || null);
  const complete = read && !extras.isLoading && !table.searching;
  return { table, rows, read, complete, error: page.error ?? cases.error ?? extras.error };
}

/** The page of a case, or of a trial (from 1), with the filter and order of the table, so that it knows the next case. */
export function useCasePath(run: string): (row: CaseRow, trial?: number) => string {
  const [query] = useAddress();
  const [q, sort, scoring] = [query.get("q"), query.get("sort"), query.get("judging")];
  return useCallback((row, trial) => pathOf(`/runs/${encodeURIComponent(run)}/cases/${row.position}`, { q, sort, judging: scoring, trial }), [run, q, sort, scoring]);
}

function useFilterTerms(page: RunPage | undefined, rows: readonly CaseRow[], said: Search | undefined, reasons: Search | undefined): FilterTerms {
  const [tags, tools] = [useNames(rows, "tags"), useNames(rows, "tools")];
  return useMemo(
    () => ({ metrics: page?.metrics.map(({ name }) => name) ?? [], sets: page?.sets.map((set) => set.eval_set_id) ?? [], tags, tools, said, reasons }),
    [page, tags, tools, said, reasons],
  );
}

/** The tags or tools of all cases; the same list until another is there. */
function useNames(rows: readonly CaseRow[], of: "tags" | "tools"): readonly string[] {
  const names = useMemo(() => JSON.stringify([...new Set(rows.flatMap((row) => row[of]))].sort()), [rows, of]);
  return useMemo(() => JSON.parse(names) as string[], [names]);
}

const SEARCHES: Record<SearchedField, string> = { said: "texts", cause: "reasons" };

/** The cases of a run whose messages or reasons contain the texts of a filter, as far as the server has searched. */
function useSearch(field: SearchedField, page: RunPage | undefined, filter: string): { search: Search; searching: boolean } {
  const texts = useMemo(() => searchedTexts(field, filter), [field, filter]);
  const isSearched = page !== undefined && texts.length > 0 && !searchFailure(field, texts, null);
  const query = texts.map((text) => `text=${encodeURIComponent(text)}`).join("&");
  const path = isSearched ? `/api/runs/${encodeURIComponent(page.run_id)}/${SEARCHES[field]}?${field === "cause" ? `judging=${page.judging}&` : ""}${query}` : null;
  const { data, error, isLoading } = useData<TextMatches>(path, { fresh: 60_000, keep: false });
  const failure = searchFailure(field, texts, error);
  const search = useMemo(() => ({ positions: new Map(data?.items.map(({ text, positions }) => [text, new Set(positions)])), failure }), [data, failure]);
  return { search, searching: isLoading };
}

/** The rows with the values from their evidence, once it is read. */
export function useExtraColumns(rows: readonly CaseRow[], extras: CaseExtras | undefined): readonly CaseRow[] {
  return useMemo(() => {
    if (!extras) return rows;
    const [tags, tools] = [byPosition(extras.tags), byPosition(extras.tools)];
    if (!tags.size && !tools.size && !extras.cost_texts.length) return rows;
    return rows.map((row) => ({
      ...row,
      tags: tags.get(row.position) ?? row.tags,
      tools: tools.get(row.position) ?? row.tools,
      cost: extras.costs[row.position] ?? row.cost,
      cost_text: extras.cost_texts[row.position] ?? row.cost_text,
    }));
  }, [rows, extras]);
}

function byPosition(positionsByName: Readonly<Record<string, readonly number[]>>): Map<number, string[]> {
  const names = new Map<number, string[]>();
  for (const [name, positions] of Object.entries(positionsByName)) {
    for (const position of positions) {
      const found = names.get(position);
      if (found) found.push(name);
      else names.set(position, [name]);
    }
  }
  return names;
}
