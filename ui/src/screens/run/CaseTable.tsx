import { type ReactNode, useCallback, useDeferredValue } from "react";
import { useAddress } from "../../app/address";
import type { CaseRow, RunPage } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { Skeleton } from "../../components/feedback/Skeleton";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { FilterBox, type Offer } from "../../components/tables/FilterBox";
import { Table } from "../../components/tables/Table";
import { numText } from "../../components/text/numberFormats";
import styles from "./Run.module.css";
import { MOST_METRICS } from "./columns/caseColumns";
import { CHANGES, type FilterTerms, needsAttention, suggestions } from "./caseFilter";
import { exampleFilter } from "./pictures/metricRows";
import { noCasesText, noMatchText } from "./runText";
import { type ShownCases, useCasePath } from "./useShownCases";

const CHIPS: readonly Offer[] = [["outcome:failed,error", "Failed or error"], ["changed", "Changed", `changed:${CHANGES.join(",")}`], ["flaky", "Flaky"]];
const PAUSE = 20; // milliseconds: the table is as quick as one types
const SEARCH_PAUSE = 400; // for what the server searches

interface Props {
  page: RunPage;
  /** The number of cases, of which not all may be read yet. */
  total: number;
  table: ShownCases;
  /** What the filter or the order needs is being read: the table waits for it. */
  reading: boolean;
  watched: boolean;
  /** Shown next to the filter. */
  tools: ReactNode;
}

/** The cases of a run: the worst first, with the filter and order of the address. */
export function CaseTable({ page, total, table, reading, watched, tools }: Props) {
  const [query, setQuery] = useAddress();
  const text = query.get("q") ?? "";
  const sort = query.get("sort") ?? "";
  const { words, filter, columns } = table;
  const shown = useDeferredValue(table.taken);
  const isReading = useDeferredValue(reading) || reading; // until the rows that were read are the deferred ones
  const setText = useCallback((q: string) => setQuery({ q }), [setQuery]);
  const deciding = page.metrics.filter(({ gate }) => gate).length;
  const href = useCasePath(page.run_id);
  return (
    <section aria-label="Cases">
      <h2>Cases</h2>
      <div className={styles.line}>
        <FilterBox
          label="Filter cases"
          placeholder={`words, tag:x, said:x, ${exampleFilter(page.metrics)}`}
          value={text}
          onChange={setText}
          offers={CHIPS}
          pause={/said:|cause:/.test(text) ? SEARCH_PAUSE : PAUSE}
          found={isReading ? "reading …" : `${numText(shown.length)} of ${numText(total)}`}
        />
        <div className={`${styles.tools} no-print`}>
          {deciding > MOST_METRICS && !query.has("cols") && (
            <span className={`${styles.hint} dim small`}>
              of {numText(deciding)} metrics, those missed or in error in most cases
            </span>
          )}
          <span className="dim small">{sort ? `sorted by ${sort.replace(/^-/, "")}` : "worst first"}</span>
          {sort && (
            <Button look="quiet" action="order" onClick={() => setQuery({ sort: null })}>
              Worst first
            </Button>
          )}
          {tools}
        </div>
      </div>
      <Suggestions text={text} words={words} onChange={setText} />
      {filter.problem && <ErrorNote error={{ message: `${filter.problem} All cases are shown.` }} />}
      {isReading ? (
        <div className="panel">
          <Skeleton rows={10} height="37px" />
        </div>
      ) : shown.length ? (
        <Table
          label="Cases"
          rows={shown}
          columns={columns}
          idOf={idOf}
          href={href}
          sort={sort}
          onSort={(to) => setQuery({ sort: to })}
          stops={needsAttention}
        />
      ) : (
        <None page={page} text={text} watched={watched} showAll={() => setText("")} />
      )}
    </section>
  );
}

function idOf(row: CaseRow): string {
  return String(row.position);
}

/** What the word that is being typed may become. */
function Suggestions({ text, words, onChange }: { text: string; words: FilterTerms; onChange: (text: string) => void }) {
  const found = suggestions(text, words);
  if (!found.length) return null;
  return (
    <div className={`${styles.offers} no-print`}>
      {found.map((offer) => (
        <button key={offer} type="button" className={styles.offer} onClick={() => onChange(offer)}>
          {offer.slice(text.search(/[^\s()]*$/))}
        </button>
      ))}
    </div>
  );
}

function None({ page, text, watched, showAll }: { page: RunPage; text: string; watched: boolean; showAll: () => void }) {
  if (!text) return <Empty inside title="No cases" does={noCasesText(page, watched)} />;
  return (
    <Empty inside title="No matching case" does={noMatchText(text, watched)}>
      <Button action="showAll" does="show all cases" onClick={showAll}>Show all cases</Button>
    </Empty>
  );
}
