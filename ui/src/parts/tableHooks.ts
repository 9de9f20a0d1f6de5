import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useKeys } from "../app/keyboard";

const DRAW_ALL = 80; // rows up to which all are drawn
const ROW = 38; // pixels that a row takes until it is measured
const HEAD = 60; // pixels at the top of the window that the head of the page covers

export interface RowWindow {
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
  useLayoutEffect(() => {
    const found = (body.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    if (Math.abs(found - top) > 1) setTop(found);
  });
  const virtual = useWindowVirtualizer({
    count: all ? 0 : count,
    estimateSize: () => ROW,
    overscan: 12,
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
function isNowhere(at: Element | null): boolean {
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

/**
 * The row a table is at, by its id: rows that arrive or are sorted anew do not move it to another. What was opened stands in
 * the history's own entry, so that going back (or up, with `rowState`) comes to where one was.
 */
export function useRowAt(label: string, ids: readonly string[]): [at: number, setAt: (index: number) => void, cameBack: boolean] {
  const [before] = useState(() => rememberedRow(label));
  const [{ id, was }, set] = useState({ id: before, was: -1 });
  const at = useMemo(() => (id === null ? -1 : ids[was] === id ? was : ids.indexOf(id)), [ids, id, was]); // ids of a faulty file may not be unique
  return [at, (index) => set({ id: ids[index] ?? null, was: index }), before !== null && id === before];
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
  at: number;
  setAt: (index: number) => void;
  /** It begins at a row that was opened before: that is shown, and takes the focus where nothing else has it. */
  cameBack: boolean;
  body: RefObject<HTMLDivElement | null>;
  reveal: (index: number) => void;
  choose: ((index: number) => void) | null;
  /** The next row worth a look, below the one it is at; -1: there is none. */
  next: (() => number) | null;
}

/** j and k move from row to row and take the focus along; Enter opens by the focused link; x chooses. */
export function useRowKeys({ on, count, at, setAt, cameBack, body, reveal, choose, next }: RowKeys): void {
  const moved = useRef(cameBack && isNowhere(document.activeElement));
  const here = useRef(at); // ahead of what is drawn, when keys come faster than drawings
  useEffect(() => {
    here.current = at;
  }, [at]);
  const move = (to: number) => {
    if (!count) return;
    const next = Math.max(0, Math.min(count - 1, to));
    moved.current = true;
    here.current = next;
    setAt(next);
    reveal(next);
  };
  useEffect(() => {
    if (!moved.current) return;
    const row = rowAt(body, at);
    if (!row) return; // not drawn yet: the next drawing brings it
    moved.current = false;
    row.querySelector<HTMLElement>("a,button")?.focus({ preventScroll: true });
  });
  useEffect(() => {
    if (!cameBack || at < 0) return undefined;
    const shown = requestAnimationFrame(() => reveal(at)); // after the page went to its top, or to where it was
    return () => cancelAnimationFrame(shown);
  }, []); // eslint-disable-line
  const keys = [
    { keys: "j", does: "next row", run: () => move(here.current + 1) },
    { keys: "k", does: "row before", run: () => move(here.current - 1) },
    { keys: "Enter", does: "open the row", run: () => rowAt(body, at)?.querySelector<HTMLElement>("a")?.click() },
    ...(next ? [{ keys: "n", does: "next row worth a look", run: () => next() >= 0 && move(next()) }] : []),
    ...(choose ? [{ keys: "x", does: "choose the row", run: () => choose(here.current) }] : []),
  ];
  useKeys(on ? keys : []);
}
