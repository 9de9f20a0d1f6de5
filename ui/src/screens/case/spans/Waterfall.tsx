import { type CSSProperties, useEffect, useMemo, useRef } from "react";
import { useAddress } from "../../../app/address";
import { useData } from "../../../data/queries";
import type { SpanPart, SpansPage, TrialPage } from "../../../data/types";
import { Button } from "../../../components/forms/Button";
import { Copy } from "../../../components/text/Copy";
import { Clipped } from "../../../components/text/Clipped";
import { Empty } from "../../../components/feedback/Empty";
import { ErrorNote } from "../../../components/feedback/ErrorNote";
import { Skeleton } from "../../../components/feedback/Skeleton";
import { numText, secondsText } from "../../../components/text/numberFormats";
import { usePrinting, useRowWindow } from "../../../components/tables/useTableRows";
import styles from "./Waterfall.module.css";
import { SpanDetails } from "./SpanDetails";
import { type Figures, costText, brokenRules, figuresOf, shortName, spansMarkdown, tokensText } from "./spanFigures";
import { type Bar, type TimeWindow, barsOf, spansIn, tickText, ticks, timeOf } from "./timeScale";
import { useZoom } from "./useZoom";

interface Props {
  path: string;
  run: string;
  position: number;
  trial: TrialPage;
}

/** Screen 6: a trial over time, with what was asked and answered in each span. */
export function Waterfall({ path, run, position, trial }: Props) {
  const { data, error, refetch } = useData<SpansPage>(path, { fresh: 60_000, keep: false });
  if (!data) return error ? <ErrorNote error={error} retry={refetch} /> : <Skeleton rows={8} />;
  if (!data.spans.length) return <Empty inside title="No spans to show" does={data.note} />;
  return <WaterfallTable page={data} trial={trial} link={`/runs/${run}/cases/${position}?trial=${trial.number + 1}`} />;
}

function WaterfallTable({ page, trial, link }: { page: SpansPage; trial: TrialPage; link: string }) {
  const [query, setQuery] = useAddress();
  const chosen = Number(query.get("span") ?? 0) - 1;
  const whole = useMemo(() => barsOf(page).seconds, [page]);
  const figures = useMemo(() => figuresOf(page), [page]);
  const rules = useMemo(() => brokenRules(page, trial), [page, trial]);
  const body = useRef<HTMLDivElement>(null);
  const { zoom, change, keys } = useZoom(whole, () => {
    const span = page.spans[shown[focusedRow(body.current)] ?? chosen];
    return span ? timeOf(span) : null;
  });
  const [bars, shown] = useMemo(() => [barsOf(page, zoom).bars, spansIn(page, zoom)], [page, zoom]);
  const { items, style, measure, reveal } = useRowWindow(body, shown.length, usePrinting(), undefined);
  useEffect(() => {
    if (chosen > 0 && shown.includes(chosen)) reveal(shown.indexOf(chosen)); // an address may name one far below
  }, []); // eslint-disable-line
  const has = { tokens: figures.some((one) => tokensText(one)), cost: figures.some(({ cost }) => cost !== null) };
  return (
    <>
      <p className="dim">{page.note}</p>
      <TruncationNotes notes={page.cut} />
      <div className={`${styles.tools} no-print`}>
        {keys.map(({ name, title, run }) => (
          <Button key={name} look="quiet" title={title} disabled={run === null} onClick={() => run?.()}>
            {name}
          </Button>
        ))}
        <span className="dim small" role="status">
          {zoom && `${secondsText(zoom.from)} to ${secondsText(zoom.to)}, ${numText(shown.length)} of ${numText(page.spans.length)} spans`}
        </span>
        <span className="grow" />
        <Copy text={() => spansMarkdown(page, rules)} action="numbers">Copy the times</Copy>
      </div>
      <div className={`panel ${styles.waterfall}`} style={nesting(page)} data-tokens={has.tokens || undefined} data-cost={has.cost || undefined} role="table" aria-label="Spans" aria-rowcount={shown.length + 1}>
        <WaterfallHead window={zoom ?? { from: 0, to: whole }} has={has} />
        <div role="rowgroup" ref={body} style={style}>
          {items.map(({ index: place, start }) => {
            const index = shown[place] ?? -1;
            const span = page.spans[index];
            const own = figures[index];
            if (span === undefined || own === undefined) return null;
            const time = timeOf(span);
            return (
              <Row
                key={index}
                index={place}
                start={start}
                measure={measure}
                span={span}
                figures={own}
                rules={rules[index] ?? []}
                has={has}
                bar={bars[index] ?? null}
                on={index === chosen}
                choose={() => setQuery({ span: index === chosen ? null : String(index + 1) })}
                zoomTo={time && time.to > time.from ? () => change(time) : null}
                link={link}
              />
            );
          })}
        </div>
      </div>
      <AgentInstructions page={page} />
    </>
  );
}

/** The place of the row that has the focus; -1: none. */
function focusedRow(body: HTMLElement | null): number {
  const row = body?.contains(document.activeElement) ? document.activeElement?.closest("[data-index]") : null;
  return Number(row?.getAttribute("data-index") ?? -1);
}

interface Has {
  tokens: boolean;
  cost: boolean;
}

function WaterfallHead({ window: { from, to }, has }: { window: TimeWindow; has: Has }) {
  return (
    <div role="row" className={styles.head}>
      <span role="columnheader">What</span>
      <span role="columnheader" className={styles.scale}>
        <span className="hidden">When</span>
        {ticks(to - from, from).map((at) => (
          <i key={at} style={{ left: `${((at - from) / (to - from || 1)) * 100}%` }}>
            {tickText(at)}
          </i>
        ))}
      </span>
      {has.tokens && (
        <span role="columnheader" className={styles.tokens}>
          Tokens in → out
        </span>
      )}
      {has.cost && (
        <span role="columnheader" className={styles.cost}>
          Cost
        </span>
      )}
      <span role="columnheader" className={styles.end}>
        Duration
      </span>
    </div>
  );
}

/** Notes on traced spans that are missing or truncated. */
function TruncationNotes({ notes }: { notes: string[] }) {
  if (!notes.length) return null;
  return (
    <details className={`panel ${styles.cut}`}>
      <summary>Some traced spans are missing or truncated: {notes.length === 1 ? "1 note" : `${notes.length} notes`}</summary>
      <ul>
        {notes.map((note, index) => (
          <li key={index}>{note}</li>
        ))}
      </ul>
    </details>
  );
}

const NAMES: Record<SpanPart["kind"], string> = { turn: "", agent: "agent", model: "model", tool: "tool", step: "step", event: "event" };
const DEEPEST = 12;

/** How deep the spans are nested, for the steps between them: long names keep room. */
function nesting({ spans }: SpansPage): CSSProperties {
  const deepest = spans.reduce((most, { depth }) => Math.max(most, depth), 1);
  return { "--deepest": Math.min(deepest, DEEPEST) } as CSSProperties;
}

interface RowProps {
  index: number;
  /** Pixels from the top; null where every row is drawn, one below the other. */
  start: number | null;
  measure: ((element: Element | null) => void) | null;
  span: SpanPart;
  figures: Figures;
  /** The rules that its call breaks. */
  rules: readonly string[];
  has: Has;
  bar: Bar | null;
  on: boolean;
  choose: () => void;
  zoomTo: (() => void) | null;
  link: string;
}

function Row({ index, start, measure, span, figures, rules, has, bar, on, choose, zoomTo, link }: RowProps) {
  return (
    <div
      role="row"
      ref={measure}
      data-index={index}
      aria-rowindex={index + 2}
      className={styles.row}
      style={start === null ? undefined : { position: "absolute", top: 0, left: 0, right: 0, transform: `translateY(${start}px)` }}
      data-kind={span.kind}
      data-on={on || undefined}
      data-failed={span.failed || rules.length > 0 || undefined}
    >
      <span role="cell" className={styles.name} style={{ paddingInlineStart: `calc(12px + ${Math.min(span.depth, DEEPEST)} * var(--nest))` }}>
        <button type="button" onClick={choose} aria-expanded={on} title={span.name}>
          {NAMES[span.kind] && <span className={styles.kind}>{NAMES[span.kind]} </span>}
          {span.failed && (
            <span className={styles.failed}>
              ✕<span className="hidden"> failed</span>{" "}
            </span>
          )}
          {shortName(span)}
        </button>
        {rules.map((rule) => (
          <span key={rule} className={styles.rule} title={rule}>
            <span aria-hidden>✕ </span>rule: {rule}
          </span>
        ))}
      </span>
      <span role="cell" className={styles.track}>
        {bar ? <i style={{ left: `${bar.left}%`, width: `max(3px, ${bar.width}%)` }} /> : <span className={styles.untimed}>no time recorded</span>}
      </span>
      {has.tokens && (
        <span role="cell" className={`${styles.tokens} num`}>
          {tokensText(figures)}
        </span>
      )}
      {has.cost && (
        <span role="cell" className={`${styles.cost} num`}>
          {costText(figures)}
        </span>
      )}
      <span role="cell" className={`${styles.end} num`}>
        {secondsText(span.seconds)}
      </span>
      {on && (
        <SpanDetails span={span} link={link} zoomTo={zoomTo} />
      )}
    </div>
  );
}

function AgentInstructions({ page }: { page: SpansPage }) {
  if (!page.agents.length) return null;
  return (
    <>
      <h2>Instructions of the agents</h2>
      <div className="panel">
        {page.agents.map((agent) => (
          <details key={agent.name} className={styles.agent}>
            <summary>
              {agent.name} <span className="dim">{agent.tools.length ? `with ${agent.tools.join(", ")}` : "without tools"}</span>
            </summary>
            {agent.instructions ? <Clipped clip={agent.instructions} /> : <span className="dim">The agent reports no instructions.</span>}
          </details>
        ))}
      </div>
    </>
  );
}
