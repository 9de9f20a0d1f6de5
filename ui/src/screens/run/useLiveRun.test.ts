import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CaseRow } from "../../data/types";
import { type Live, followRun } from "./useLiveRun";

/** A stream that sends what the test emits. */
class FakeStream extends EventTarget {
  static made: FakeStream[] = [];
  readyState = 1;
  closed = false;

  constructor(readonly url: string) {
    super();
    FakeStream.made.push(this);
  }

  close(): void {
    this.closed = true;
  }

  emit(name: string, data: unknown = {}): void {
    this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }));
  }
}

function startListening() {
  let live: Live = { progress: null, rows: new Map(), end: null };
  const calls: string[] = [];
  const stop = followRun(
    "a run",
    {
      connected: () => calls.push("begun"),
      missed: () => calls.push("missed"),
      ended: () => calls.push("ended"),
      changed: (change) => {
        live = { ...live, ...change(live) };
      },
    },
    (url) => new FakeStream(url) as unknown as EventSource,
  );
  return { stop, calls, now: () => live, stream: () => FakeStream.made.at(-1) as FakeStream };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", { CLOSED: 2 });
  FakeStream.made = [];
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const caseAt = (position: number, outcome = "passed") => ({ position, outcome }) as CaseRow;

describe("following a run", () => {
  it("asks for what comes from now on, and reads once what was before", () => {
    const { stream, calls } = startListening();
    expect(stream().url).toBe("/api/runs/a%20run/events?from=now");
    stream().emit("progress", { done: 1 });
    stream().emit("progress", { done: 2 });
    expect(calls).toEqual(["begun"]);
  });

  it("gathers rows that come together; the last one of a case counts", () => {
    const { stream, now } = startListening();
    for (const position of [3, 1, 3]) stream().emit("case", caseAt(position, position === 3 ? "failed" : "passed"));
    stream().emit("case", caseAt(3, "passed"));
    expect(now().rows.size).toBe(0);
    vi.advanceTimersByTime(250);
    expect([...now().rows.keys()].sort()).toEqual([1, 3]);
    expect(now().rows.get(3)?.outcome).toBe("passed");
  });

  it("shows waiting rows before it reports the end of the run", () => {
    const { stream, now, calls } = startListening();
    stream().emit("case", caseAt(5));
    stream().emit("finished", { state: "finished" });
    expect(now().rows.has(5)).toBe(true);
    expect(now().end?.state).toBe("finished");
    expect(stream().closed).toBe(true);
    expect(calls).toEqual(["ended"]);
  });

  it("reads everything again after a restart of the server", () => {
    const { stream, calls } = startListening();
    stream().emit("reread");
    expect(calls).toEqual(["missed"]);
  });

  it("waits while the browser reconnects", () => {
    const { stream, now } = startListening();
    stream().readyState = 0;
    stream().dispatchEvent(new Event("error"));
    stream().emit("progress", { done: 1 });
    expect(now().progress).toEqual({ done: 1 });
    expect(FakeStream.made).toHaveLength(1);
  });

  it("reconnects itself if the browser gives up, and reads everything again", () => {
    const { stream, calls } = startListening();
    stream().emit("progress", {});
    stream().readyState = 2;
    stream().dispatchEvent(new Event("error"));
    vi.advanceTimersByTime(3_500);
    expect(FakeStream.made).toHaveLength(2);
    stream().emit("progress", {});
    expect(calls).toEqual(["begun", "begun"]);
  });

  it("ends with the page", () => {
    const { stop, stream } = startListening();
    stop();
    expect(stream().closed).toBe(true);
  });
});
