import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { bind, useKeys } from "../../app/keyboard";

const DRAW_ALL = 80; // rows up to which all are drawn
const ROW = 38; // pixels that a row takes until it is measured
const HEAD = 60; // pixels at the top of the window that the head of the page covers

interface RowWindow {
  items: readonly { index: number; start: number | null }[];
  style: CSSProperties | undefined;
  measure: ((element: Element | null) => void) | null;
  reveal: (index: number) => void;
}

/** The rows that are drawn: all of a few, of many those in view. */
export function useRowWindow(
  body: RefObject<HTMLDivElement | null>,
  count: number,
  printing: boolean,
  onEnd: (() => void) | undefined,
): RowWindow {
  const [top, setTop] = useState(0);
  const all = count <= DRAW_ALL || printing;
  useEffect(() => {
    if (all) return; // after the page is drawn: to measure before that would lay it out once more
    const bodyTop = (body.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    if (Math.abs(bodyTop - top) > 1) setTop(bodyTop);
  });
  const virtual = useWindowVirtualizer({
    enabled: !all,
    count,
    estimateSize: () => ROW,
    overscan: 6,
    scrollMargin: top,
    scrollPaddingStart: HEAD,
  });
  const items = virtual.getVirtualItems();
  const last = all ? count - 1 : (items.at(-1)?.index ?? -1);
  useEffect(() => {
    if (count && last === count - 1) onEnd?.();
  }, [last, count, onEnd]);
  if (all) {
    const every = Array.from({ length: count }, (_, index) => ({ index, start: null }));
    return { items: every, style: undefined, measure: null, reveal: (index) => revealDrawn(body, index) };
  }
  return {
    items: items.map(({ index, start }) => ({ index, start: start - top })),
    style: { position: "relative", height: virtual.getTotalSize() },
    measure: virtual.measureElement,
    reveal: (index) => virtual.scrollToIndex(index, { align: "auto" }),
  };
}

/** Nothing has the focus, or only the content as a whole, to which it goes with a new page. */
function isUnfocused(at: Element | null): boolean {
  return at === null || at === document.body || at.id === "main";
}

function rowAt(body: RefObject<HTMLDivElement | null>, index: number): HTMLElement | null {
  return body.current?.querySelector<HTMLElement>(`:scope > [data-index="${index}"]`) ?? null;
}

function revealDrawn(body: RefObject<HTMLDivElement | null>, index: number): void {
  rowAt(body, index)?.scrollIntoView({ block: "nearest" });
}

/** True while the page is printed: paper has no scrolling, so every row is drawn. */
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const before = () => flushSync(() => setPrinting(true));
    const after = () => setPrinting(false);
    window.addEventListener("beforeprint", before);
    window.addEventListener("afterprint", after);
    return () => {
      window.removeEventListener("beforeprint", before);
      window.removeEventListener("afterprint", after);
    };
  }, []);
  return printing;
}

/** A row by its id, and its index when it became current: ids of a faulty file may not be unique. */
interface Place {
  id: string | null;
  was: number;
}

function indexOf({ id, was }: Place, ids: readonly string[]): number {
  return id === null ? -1 : ids[was] === id ? was : ids.indexOf(id);
}

interface RowAt {
  /** The row that is drawn as the current one; -1: none. */
  at: number;
  /** The row that the keys are at: ahead of what is drawn, when they come faster than drawings. */
  now: () => number;
  go: (index: number) => void;
  /** It is still at the row that was opened before one came back here. */
  cameBack: boolean;
}

/**
 * The current row of a table, by its id: new rows or a new order do not change it. The opened row is stored in
 * the entry of the history, so that going back (or up, with `rowState`) returns to it.
 */
export function useRowAt(label: string, ids: readonly string[]): RowAt {
  const [before] = useState(() => rememberedRow(label));
  const [drawn, draw] = useState<Place>({ id: before, was: -1 });
  const here = useRef(drawn);
  const at = useMemo(() => indexOf(drawn, ids), [ids, drawn]);
  const go = (index: number) => {
    here.current = { id: ids[index] ?? null, was: index };
    draw(here.current);
  };
  return { at, now: () => indexOf(here.current, ids), go, cameBack: before !== null && drawn.id === before };
}

/** The state of a history entry that begins at a row of the table called `label`. */
export function rowState(label: string, id: string): { row: { label: string; id: string } } {
  return { row: { label, id } };
}

/** Keep in the entry of this page which row was opened. */
export function rememberRow(label: string, id: string): void {
  window.history.replaceState({ ...(window.history.state as object | null), ...rowState(label, id) }, "");
}

function rememberedRow(label: string): string | null {
  const row = (window.history.state as Partial<ReturnType<typeof rowState>> | null)?.row;
  return row?.label === label ? row.id : null;
}

interface RowKeys {
  on: boolean;
  count: number;
  /** Where it begins at a row that was opened before, that is shown, and takes the focus where nothing else has it. */
  place: RowAt;
  body: RefObject<HTMLDivElement | null>;
  reveal: (index: number) => void;
  /** Go to the page of a row; without it, a row's own link is followed. */
  open: ((index: number) => void) | null;
  choose: ((index: number) => void) | null;
  /** The next row that needs attention below a row; -1: there is none. */
  next: ((after: number) => number) | null;
}

/** A table of the page as the keys see it. */
interface KeyedTable extends Pick<RowKeys, "body" | "count" | "open" | "choose" | "next"> {
  now: () => number;
  move: (index: number) => void;
  leave: () => void;
}

let keyedTables: RefObject<KeyedTable>[] = [];

/** The tables that have rows, in the order of the page, and the index of the one with the current row; -1: none has it. */
function tablesInOrder(): { tables: KeyedTable[]; at: number } {
  const shown = keyedTables.flatMap(({ current }) => (current.count && current.body.current ? [{ table: current, body: current.body.current }] : []));
  shown.sort((one, other) => (one.body.compareDocumentPosition(other.body) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
  const tables = shown.map(({ table }) => table);
  return { tables, at: tables.findIndex((table) => table.now() >= 0) };
}

/** Go to a row of a table; no other table keeps a current row. */
function goTo(table: KeyedTable, index: number): void {
  const { tables, at } = tablesInOrder();
  const left = tables[at];
  if (left && left !== table) left.leave();
  table.move(index);
}

/** Go to the next row of the page or to the one before: behind the last row of a table comes the first of the next table. */
function stepRow(step: 1 | -1): void {
  const { tables, at } = tablesInOrder();
  const table = tables[Math.max(0, at)];
  if (!table) return;
  const to = table.now() + step;
  const other = at >= 0 ? tables[at + step] : undefined;
  if (other && (to < 0 || to >= table.count)) goTo(other, step > 0 ? 0 : other.count - 1);
  else goTo(table, Math.max(0, Math.min(table.count - 1, to)));
}

/** Go to the next row of the page that needs attention, if there is one. */
function goToAttention(): void {
  const { tables, at } = tablesInOrder();
  for (const table of tables.slice(Math.max(0, at))) {
    const index = table.next?.(table.now()) ?? -1;
    if (index >= 0) return goTo(table, index);
  }
}

/** Open or choose the row with the focus, else the current one, else the first: it becomes the current one. */
function callRow(act: "open" | "choose"): void {
  const { tables, at } = tablesInOrder();
  const table = tables.find(({ body }) => focusedRow(body) !== null) ?? tables[Math.max(0, at)];
  if (!table) return;
  const index = Math.max(0, focusedRow(table.body) ?? table.now());
  if (index !== table.now()) goTo(table, index);
  table[act]?.(index);
}

/**
 * j and k move from row to row through all tables of the page, n to the next worth a look; Enter opens, x chooses. However fast they
 * come, each key goes by those before it and not by what is drawn of them, and so does the focus: a focused link answers Enter itself.
 */
export function useRowKeys({ on, count, place, body, reveal, open, choose, next }: RowKeys): void {
  const { at, now, go, cameBack } = place;
  const focus = useRowFocus(body, at, cameBack);
  const move = (index: number) => {
    go(index);
    reveal(index);
    focus(index);
  };
  const openLink = (index: number) => rowAt(body, index)?.querySelector<HTMLElement>("a")?.click();
  const table: KeyedTable = { body, count, now, move, leave: () => go(-1), open: open ?? openLink, choose, next };
  const keyed = useRef(table);
  useLayoutEffect(() => {
    keyed.current = table;
  });
  useLayoutEffect(() => {
    if (!on) return undefined;
    keyedTables = [...keyedTables, keyed];
    return () => {
      keyedTables = keyedTables.filter((one) => one !== keyed);
    };
  }, [on]);
  useEffect(() => {
    if (!cameBack || at < 0) return undefined;
    const shown = requestAnimationFrame(() => reveal(at)); // after the page went to its top, or to where it was
    return () => cancelAnimationFrame(shown);
  }, []); // eslint-disable-line
  const keys = [
    bind("next", () => stepRow(1)),
    bind("previous", () => stepRow(-1)),
    bind("open", () => callRow("open")),
    ...(next ? [bind("attention", goToAttention)] : []),
    ...(choose ? [bind("choose", () => callRow("choose"))] : []),
  ];
  useKeys(on ? keys : []);
}

/** Moves the focus to a row: at once, or when the row is drawn, unless the focus has moved since. */
function useRowFocus(body: RefObject<HTMLDivElement | null>, at: number, cameBack: boolean): (index: number) => void {
  const pending = useRef(cameBack);
  useLayoutEffect(() => {
    if (!pending.current) return;
    if (isUnfocused(document.activeElement)) pending.current = !focusRow(body, at);
    else pending.current = false;
  });
  return (index) => {
    pending.current = !focusRow(body, index);
    if (pending.current && document.activeElement instanceof HTMLElement) document.activeElement.blur(); // Enter is for the new row
  };
}

/** The index of the row that has the focus. */
function focusedRow(body: RefObject<HTMLDivElement | null>): number | null {
  const row = document.activeElement?.closest<HTMLElement>("[data-index]");
  return row && body.current?.contains(row) ? Number(row.dataset.index) : null;
}

function focusRow(body: RefObject<HTMLDivElement | null>, index: number): boolean {
  const row = rowAt(body, index);
  row?.querySelector<HTMLElement>("a,button")?.focus({ preventScroll: true });
  return row !== null;
}
