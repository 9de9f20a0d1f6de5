import { type CSSProperties, useEffect, useMemo, useRef } from "react";
import { Link } from "wouter";
import { useAddress } from "../../../app/address";
import { useData } from "../../../data/queries";
import type { SpanPart, SpansPage } from "../../../data/types";
import { CopySmall } from "../../../components/text/Copy";
import { Clipped } from "../../../components/text/Clipped";
import { Empty } from "../../../components/feedback/Empty";
import { ErrorNote } from "../../../components/feedback/ErrorNote";
import { Skeleton } from "../../../components/feedback/Skeleton";
import { numText, secondsText } from "../../../components/text/numberFormats";
import { usePrinting, useRowWindow } from "../../../components/tables/useTableRows";
import { safeText } from "../../../components/text/safeText";
import styles from "./Spans.module.css";
import { indentJson } from "./indentJson";
import { type Bar, barsOf, tickText, ticks } from "./timeScale";

interface Props {
  path: string;
  run: string;
  position: number;
  number: number;
}

/** Screen 6: a trial over time, with what was asked and answered in each span. */
export function Spans({ path, run, position, number }: Props) {
  const { data, error, refetch } = useData<SpansPage>(path, { fresh: 60_000, keep: false });
  if (!data) return error ? <ErrorNote error={error} retry={refetch} /> : <Skeleton rows={8} />;
  if (!data.spans.length) return <Empty inside title="No spans to show" does={data.note} />;
  return <Waterfall page={data} link={`/runs/${run}/cases/${position}?trial=${number + 1}`} />;
}

function Waterfall({ page, link }: { page: SpansPage; link: string }) {
  const [query, setQuery] = useAddress();
  const chosen = Number(query.get("span") ?? 0) - 1;
  const scale = useMemo(() => barsOf(page), [page]);
  const body = useRef<HTMLDivElement>(null);
  const { items, style, measure, reveal } = useRowWindow(body, page.spans.length, usePrinting(), undefined);
  useEffect(() => {
    if (chosen > 0 && chosen < page.spans.length) reveal(chosen); // an address may name one far below
  }, []); // eslint-disable-line
  return (
    <>
      <p className="dim">{page.note}</p>
      <TruncationNotes notes={page.cut} />
      <div className={`panel ${styles.waterfall}`} style={nesting(page)} role="table" aria-label="Spans" aria-rowcount={page.spans.length + 1}>
        <div role="row" className={styles.head}>
          <span role="columnheader">What</span>
          <span role="columnheader" className={styles.scale}>
            <span className="hidden">When</span>
            {ticks(scale.seconds).map((at) => (
              <i key={at} style={{ left: `${(at / (scale.seconds || 1)) * 100}%` }}>
                {tickText(at)}
              </i>
            ))}
          </span>
          <span role="columnheader" className={styles.end}>
            Duration
          </span>
        </div>
        <div role="rowgroup" ref={body} style={style}>
          {items.map(({ index, start }) => {
            const span = page.spans[index];
            if (span === undefined) return null;
            return (
              <Row
                key={index}
                index={index}
                start={start}
                measure={measure}
                span={span}
                bar={scale.bars[index] ?? null}
                on={index === chosen}
                choose={() => setQuery({ span: index === chosen ? null : String(index + 1) })}
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

/** Notes on traced spans that are missing or truncated. */
function TruncationNotes({ notes }: { notes: string[] }) {
  if (!notes.length) return null;
  return (
    <details className={`panel ${styles.cut}`}>
      <summary>Some traced spans are missing or truncated: {notes.length === 1 ? "1 note" : `${notes.length} notes`}</summary>
      <ul>
        {notes.map((note, index) => (
          <li key={index}>{safeText(note)}</li>
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

/** A name without its kind: `execute_tool look` is the tool look. */
function short({ kind, name }: SpanPart): string {
  return kind === "tool" || kind === "agent" ? name.replace(/^(execute_tool|invoke_agent) (?=\S)/, "") : name;
}

interface RowProps {
  index: number;
  /** Pixels from the top; null where every row is drawn, one below the other. */
  start: number | null;
  measure: ((element: Element | null) => void) | null;
  span: SpanPart;
  bar: Bar | null;
  on: boolean;
  choose: () => void;
  link: string;
}

function Row({ index, start, measure, span, bar, on, choose, link }: RowProps) {
  const tokens = [span.input_tokens, span.output_tokens].some((count) => count !== null);
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
      data-failed={span.failed || undefined}
    >
      <span role="cell" className={styles.name} style={{ paddingInlineStart: `calc(12px + ${Math.min(span.depth, DEEPEST)} * var(--nest))` }}>
        <button type="button" onClick={choose} aria-expanded={on} title={safeText(span.name)}>
          {NAMES[span.kind] && <span className={styles.kind}>{NAMES[span.kind]} </span>}
          {span.failed && (
            <span className={styles.failed}>
              ✕<span className="hidden"> failed</span>{" "}
            </span>
          )}
          {safeText(short(span))}
        </button>
      </span>
      <span role="cell" className={styles.track}>
        {bar ? <i style={{ left: `${bar.left}%`, width: `max(3px, ${bar.width}%)` }} /> : <span className={styles.untimed}>no time recorded</span>}
      </span>
      <span role="cell" className={`${styles.end} num`}>
        {secondsText(span.seconds)}
      </span>
      {on && (
        <div role="cell" className={styles.details}>
          <div className={styles.facts}>
            {span.author && <span>by {safeText(span.author)}</span>}
            {tokens && (
              <span>
                {numText(span.input_tokens)} tokens in, {numText(span.output_tokens)} out
              </span>
            )}
            <span>{timingText(span)}</span>
            <Link href={`${link}&turn=${span.turn + 1}${span.call !== null ? `&step=${span.call + 1}` : ""}`}>in the conversation</Link>
          </div>
          {span.error && <SpanText head="error" clip={span.error} failed />}
          {span.request && <SpanText head={requestHead(span)} clip={span.request} />}
          {span.response && <SpanText head="response" clip={span.response} />}
          <Attributes span={span} />
        </div>
      )}
    </div>
  );
}

function requestHead(span: SpanPart): string {
  if (span.kind === "tool") return "called with";
  return span.attributes.length || span.timing === "span" ? "request" : "new input";
}

const MAX_ONE_LINE = 90;
const MAX_OPEN_SIZE = 600;
const MAX_OPEN_LINES = 15;

/** A text of a span. A long text is collapsed. */
function SpanText({ head, clip, failed }: { head: string; clip: NonNullable<SpanPart["request"]>; failed?: boolean }) {
  const size = clip.text.length + clip.left_out;
  const shown = clip.left_out || size <= MAX_ONE_LINE ? clip.text : indentJson(clip.text);
  const text = <Clipped clip={{ ...clip, text: shown }} mono />;
  if (size <= MAX_OPEN_SIZE && shown.split("\n").length <= MAX_OPEN_LINES)
    return (
      <div className={styles.text}>
        <div className={failed ? styles.failed : styles.kind}>
          {head} <CopySmall text={shown} what={`Copy the ${head}`} />
        </div>
        {text}
      </div>
    );
  return (
    <details className={styles.text}>
      <summary>
        {head} <span className="dim">{numText(size)} characters</span>
      </summary>
      <CopySmall text={shown} what={`Copy the ${head}`} />
      {text}
    </details>
  );
}

function Attributes({ span }: { span: SpanPart }) {
  if (!span.attributes.length) return null;
  return (
    <details className={styles.text}>
      <summary>
        attributes <span className="dim">{numText(span.attributes.length)}</span>
      </summary>
      <dl className={styles.attributes}>
        {span.attributes.map(({ name, value }, index) => (
          <div key={index}>
            <dt>{safeText(name)}</dt>
            <dd>
              <Clipped clip={value} mono />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function timingText({ timing, start }: SpanPart): string {
  if (timing === "none") return "duration not recorded";
  const from = start === null ? "" : `, starts at ${secondsText(start)}`;
  if (timing === "span") return `traced${from}`;
  return timing === "clock" ? `measured${from}` : `from event timestamps${from}`;
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
              {safeText(agent.name)} <span className="dim">{agent.tools.length ? `with ${safeText(agent.tools.join(", "))}` : "without tools"}</span>
            </summary>
            {agent.instructions ? <Clipped clip={agent.instructions} /> : <span className="dim">The agent reports no instructions.</span>}
          </details>
        ))}
      </div>
    </>
  );
}
