import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { CaseRow, LiveEnd, LiveProgress } from "../../data/types";

const ROW_DELAY = 200; // milliseconds that rows wait for one another before the table is drawn again
const RECONNECT_DELAY = 3_000; // milliseconds until a stream that was refused is asked for again

export interface Live {
  progress: LiveProgress | null;
  /** What has been decided since the page was opened, by position. */
  rows: ReadonlyMap<number, CaseRow>;
  end: LiveEnd | null;
}

const NOTHING: Live = { progress: null, rows: new Map(), end: null };

/** Follow a run while it is under way. `null` follows nothing. When it ends, everything about it is read again. */
export function useLive(run: string | null): Live {
  const client = useQueryClient();
  const [live, setLive] = useState<Live>(NOTHING);
  useEffect(() => {
    setLive(NOTHING);
    if (run === null) return undefined;
    const read = (path: string) =>
      client.invalidateQueries({ predicate: ({ queryKey: [key] }) => typeof key === "string" && key.startsWith(path) });
    const cases = () => void read(`/api/runs/${run}/cases`);
    return followRun(run, {
      connected: cases,
      missed: cases,
      changed: (change) => setLive((before) => ({ ...before, ...change(before) })),
      ended: () => void read("/api/runs").then(() => setLive((before) => ({ ...before, rows: new Map() }))),
    });
  }, [run, client]);
  return live;
}

interface Listener {
  /** The stream is connected: cases decided before must be read once. */
  connected: () => void;
  missed: () => void;
  changed: (change: (before: Live) => Partial<Live>) => void;
  ended: () => void;
}

/** Listen to a run's events; returns what ends it. */
export function followRun(run: string, listener: Listener, open: (url: string) => EventSource = (url) => new EventSource(url)): () => void {
  let source: EventSource | null = null;
  let waiting: CaseRow[] = [];
  let timer = 0;
  let again = 0;
  let known = false;

  const flush = () => {
    timer = 0;
    const [rows] = [waiting];
    waiting = [];
    if (rows.length) listener.changed((before) => ({ rows: new Map([...before.rows, ...rows.map((row) => [row.position, row] as const)]) }));
  };
  const close = () => {
    source?.close();
    window.clearTimeout(timer);
    window.clearTimeout(again);
  };
  const finish = (event: MessageEvent<string>) => {
    close();
    flush();
    listener.changed(() => ({ end: JSON.parse(event.data) as LiveEnd }));
    listener.ended();
  };
  const start = () => {
    source = open(`/api/runs/${encodeURIComponent(run)}/events?from=now`);
    source.addEventListener("progress", (event: MessageEvent<string>) => {
      if (!known) listener.connected();
      known = true;
      listener.changed(() => ({ progress: JSON.parse(event.data) as LiveProgress }));
    });
    source.addEventListener("case", (event: MessageEvent<string>) => {
      waiting.push(JSON.parse(event.data) as CaseRow);
      timer ||= window.setTimeout(flush, ROW_DELAY);
    });
    source.addEventListener("reread", () => listener.missed());
    source.addEventListener("finished", finish);
    source.addEventListener("broken", finish);
    source.addEventListener("error", () => {
      if (source?.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
      known = false;
      again = window.setTimeout(start, RECONNECT_DELAY);
    });
  };
  start();
  return close;
}
