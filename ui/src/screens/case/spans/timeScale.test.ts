import { describe, expect, it } from "vitest";
import type { SpanPart, SpansPage } from "../../../data/types";
import { votesText } from "../judges/votesText";
import { barsOf, tickText, ticks } from "./timeScale";

const span = (start: number | null, seconds: number | null, timing: SpanPart["timing"] = "clock"): SpanPart => ({ start, seconds, timing }) as SpanPart;
const page = (seconds: number | null, ...spans: SpanPart[]): SpansPage => ({ seconds, spans }) as SpansPage;

describe("bars", () => {
  it("are placed by their times", () => {
    expect(barsOf(page(4, span(0, 4), span(1, 2, "events"))).bars).toEqual([{ left: 0, width: 100 }, { left: 25, width: 50 }]);
  });
  it("are not made up where no time is recorded", () => {
    expect(barsOf(page(4, span(null, 2), span(1, null), span(1, 2, "none"))).bars).toEqual([null, null, null]);
  });
  it("make room for spans longer than the recorded trial", () => expect(barsOf(page(1, span(0, 4))).seconds).toBe(4));
  it("never reach beyond the end", () => {
    for (const bar of barsOf(page(1, span(0.5, 0.5), span(0.999, 0.1))).bars) expect((bar?.left ?? 0) + (bar?.width ?? 0)).toBeLessThanOrEqual(100);
  });
  it("are none where nothing took any time", () => expect(barsOf(page(0, span(0, 0))).bars).toEqual([null]));
});

describe("the scale", () => {
  it.each([0.0013, 0.02, 1, 3.1, 59, 600, 86_400])("has a few round times for %s s, no two alike", (seconds) => {
    const found = ticks(seconds);
    expect(found.length).toBeGreaterThanOrEqual(2);
    expect(found.length).toBeLessThanOrEqual(6);
    expect(new Set(found.map(tickText)).size).toBe(found.length);
    expect(Math.max(...found)).toBeLessThanOrEqual(seconds);
  });
  it("is empty for nothing", () => expect(ticks(0)).toEqual([]));
});

describe("how votes fell", () => {
  const vote = (problem = "") => ({ problem });
  it.each([
    [[vote()], 1, null, "1 vote"],
    [[vote(), vote(), vote()], 5, 1, "3 votes, 2 more could not change the result"],
    [[vote(), vote("429")], 3, 1, "1 of 2 votes usable, 1 more could not change the result"],
    [[vote("429")], 3, null, "0 of 1 votes usable, 2 not requested"],
    [[vote(), vote(), vote()], 3, 0.67, "3 votes, votes disagree"],
  ])("%#", (votes, planned, agreement, text) => {
    expect(votesText({ votes, planned, agreement } as Parameters<typeof votesText>[0])).toBe(text);
  });
});
