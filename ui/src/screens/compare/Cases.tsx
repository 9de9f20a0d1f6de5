import { useCallback, useMemo } from "react";
import { chipAction } from "../../app/actions";
import { useAddress } from "../../app/address";
import { pathOf, useAvailable } from "../../data/queries";
import type { ChangedLine, ComparisonPage } from "../../data/types";
import { Breakable, Id } from "../../components/text/Breakable";
import { Button } from "../../components/forms/Button";
import { Chip } from "../../components/forms/Chip";
import { Empty } from "../../components/feedback/Empty";
import { FilterBox } from "../../components/tables/FilterBox";
import { Outcome } from "../../components/charts/Outcome";
import { Prose } from "../../components/text/Prose";
import { TrialStrip } from "../../components/charts/TrialStrip";
import { type Column, Table } from "../../components/tables/Table";
import { numText, scoreText } from "../../components/text/numberFormats";
import styles from "./Compare.module.css";
import { Slopes } from "./Slopes";
import { CHANGES, type Change, countOf, changeSummary, markOf, pairPath, caseMatcher } from "./comparisonText";

/** What is different case by case: worse first, then newly in error, better, flaky. */
export function Cases({ page }: { page: ComparisonPage }) {
  const [query, setQuery] = useAddress();
  const [text, only] = [query.get("q") ?? "", query.get("only") ?? ""];
  const shown = useMemo(() => page.cases.filter(caseMatcher(text, only)), [page.cases, text, only]);
  const columns = useMemo(() => columnsOf(new Set(page.cases.map(({ eval_set_id }) => eval_set_id)).size > 1), [page.cases]);
  const has = useAvailable();
  const address = useHref(query);
  const href = useCallback((one: ChangedLine) => (has(pairPath(page, one)) ? address(one) : undefined), [has, address, page]);
  const unavailable = shown.filter((one) => !href(one)).length;
  return (
    <section aria-label="Cases">
      <h2>Cases: {changeSummary(page)}</h2>
      {page.cases.length > 0 && (
        <FilterBox
          label="Filter cases"
          placeholder="words in the name or the reason"
          value={text}
          onChange={(q) => setQuery({ q })}
          found={`${numText(shown.length)} of ${numText(page.cases.length)}`}
        />
      )}
      {page.cases.length > 0 && <Kinds page={page} only={only} choose={(to) => setQuery({ only: to })} />}
      {shown.length ? (
        <Table label="Changed cases" rows={shown} columns={columns} idOf={idOf} href={href} />
      ) : (
        <None filtered={page.cases.length > 0} missing={page.missing.length > 0} showAll={() => setQuery({ q: null, only: null })} />
      )}
      {unavailable > 0 && unavailable < shown.length && (
        <p className="dim small">
          This file contains the first {numText(shown.length - unavailable)} side by side. For any other case: <code>{page.command} SET/CASE</code>
        </p>
      )}
      {shown.length > 0 && <Slopes cases={shown} address={address} />}
    </section>
  );
}

function idOf(one: ChangedLine): string {
  return `${one.eval_set_id}\n${one.eval_id}\n${one.candidate_position}`;
}

/** The address with the case: the page of the two trials side by side. */
function useHref(query: URLSearchParams): (one: ChangedLine) => string {
  const params = ["base", "candidate", "margin", "q", "only", "draw"].map((key) => [key, query.get(key)] as const);
  const kept = JSON.stringify(params);
  return useCallback(
    (one: ChangedLine) =>
      pathOf("/compare", { ...Object.fromEntries(JSON.parse(kept) as [string, string | null][]), set: one.eval_set_id, case: one.eval_id }),
    [kept],
  );
}

function Kinds({ page, only, choose }: { page: ComparisonPage; only: string; choose: (kind: string | null) => void }) {
  const kinds = (Object.keys(CHANGES) as Change[]).filter((kind) => countOf(page, kind));
  if (kinds.length < 2) return null;
  return (
    <div className={`${styles.kinds} row no-print`} role="group" aria-label="Which kind">
      {kinds.map((kind, index) => (
        <Chip key={kind} action={chipAction(index)} does={`only: ${CHANGES[kind][0]}`} pressed={only === kind} onPress={() => choose(only === kind ? null : kind)}>
          {CHANGES[kind][0]} <span className="num">{numText(countOf(page, kind))}</span>
        </Chip>
      ))}
    </div>
  );
}

function columnsOf(several: boolean): Column<ChangedLine>[] {
  return [
    {
      id: "case",
      head: "Case",
      width: "minmax(0, 1fr)",
      narrow: "minmax(0, 1fr)",
      cell: (one) => (
        <>
          <b>
            <Id text={one.eval_id} />
          </b>
          {several && <span className={styles.under}><Id text={one.eval_set_id} /></span>}
          <span className={styles.narrowOnly}>
            <Trials one={one} />
          </span>
        </>
      ),
    },
    { id: "change", head: "Change", width: "200px", narrow: "150px", cell: (one) => <Outcome outcome={markOf(one)}>{CHANGES[one.change][0]}</Outcome> },
    { id: "trials", head: "Trials", width: "184px", optional: true, cell: (one) => <Trials one={one} /> },
    { id: "metric", head: "Metric", width: "minmax(132px, 1.1fr)", optional: true, cell: (one) => <Moved one={one} /> },
    { id: "why", head: "Why", width: "minmax(0, 2.2fr)", below: "narrow", cell: (one) => <Why {...one} /> },
  ];
}

function Trials({ one }: { one: ChangedLine }) {
  return (
    <span className={styles.trials} title={`${one.base_text} → ${one.candidate_text}`}>
      {one.base ? <TrialStrip strip={one.base} /> : <span className="dim">not run</span>}
      <span aria-hidden className="dim">
        →
      </span>
      {one.candidate ? <TrialStrip strip={one.candidate} /> : <span className="dim">not run</span>}
    </span>
  );
}

function Moved({ one }: { one: ChangedLine }) {
  if (!one.metric || !one.scores) return <span className="dim">–</span>;
  return (
    <span className="num">
      <Breakable text={one.metric} />
      <span className={styles.under}>
        {scoreText(one.scores[0])} → {scoreText(one.scores[1])}
      </span>
    </span>
  );
}

function None({ filtered, missing, showAll }: { filtered: boolean; missing: boolean; showAll: () => void }) {
  if (!filtered) return <p className="dim">{missing ? "No case differs, as far as the verdicts are known." : "No case differs: all verdicts and all pass rates of trials are unchanged."}</p>;
  return (
    <Empty inside title="No matching case" does="Nothing matches the filter.">
      <Button action="showAll" does="show all cases" onClick={showAll}>Show all cases</Button>
    </Empty>
  );
}

/** Why a case did not pass, and why it did not before. */
function Why({ reason, before }: Pick<ChangedLine, "reason" | "before">) {
  const text = [reason, before && `before: ${before}`].filter(Boolean).join("; ");
  return text && <span className={styles.why} title={text}><Prose text={text} /></span>;
}
