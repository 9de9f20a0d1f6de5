import { describe, expect, it } from "vitest";
import type { SpanPart, SpansPage } from "../../../data/types";
import { agreementText, votesText } from "../judges/votesText";
import { brokenRules, figuresOf, shortName, spansMarkdown } from "./spanFigures";
import { barsOf, panBy, readWindow, spansIn, tickText, ticks, writeWindow, zoomBy } from "./timeScale";

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

describe("a window of the time", () => {
  it.each([
    ["in, about the middle", zoomBy(null, 8, 0.5), { from: 2, to: 6 }],
    ["in again", zoomBy({ from: 2, to: 6 }, 8, 0.5), { from: 3, to: 5 }],
    ["out, not beyond the end", zoomBy({ from: 6, to: 8 }, 8, 2), { from: 4, to: 8 }],
    ["out to all of it", zoomBy({ from: 2, to: 6 }, 8, 2), null],
    ["later, to the end at most", panBy({ from: 5, to: 7 }, 8, 0.9), { from: 6, to: 8 }],
    ["earlier, to the begin at most", panBy({ from: 1, to: 3 }, 8, -0.9), { from: 0, to: 2 }],
  ])("%s", (_, zoom, expected) => expect(zoom).toEqual(expected));

  it("is in the address", () => {
    expect(readWindow(writeWindow({ from: 0.25, to: 1 / 3 }))).toEqual({ from: 0.25, to: 0.3333 });
    for (const text of [null, "", "3-1", "1-1", "a-b", "-1-2"]) expect(readWindow(text)).toBeNull();
  });

  const spans = [span(0, 4), span(1, 1), span(3, 1), span(null, null, "none")].map((one, index) => ({ ...one, turn: 0, kind: index ? "tool" : "turn" }) as SpanPart);
  it("shows the spans of which a part is in it, and those without a time of its turns", () => {
    expect(spansIn(page(4, ...spans), { from: 0.5, to: 2.5 })).toEqual([0, 1, 3]);
    expect(spansIn(page(4, ...spans), null)).toEqual([0, 1, 2, 3]);
  });
  it("cuts the bars at its ends", () => expect(barsOf(page(4, span(0, 4), span(1, 2)), { from: 2, to: 4 }).bars).toEqual([{ left: 0, width: 100 }, { left: 0, width: 50 }]));
  it("has round times of its own", () => expect(ticks(2, 3.1)).toEqual([3.5, 4, 4.5]));
});

describe("tokens and cost", () => {
  const model = (turn: number, input: number | null, cost: number | null) => ({ kind: "model", name: "m|x", depth: 1, turn, start: 0, seconds: 1, input_tokens: input, output_tokens: input, cost, attributes: [] }) as unknown as SpanPart;
  const turn = (index: number) => ({ ...model(index, null, null), kind: "turn", name: "turn", depth: 0 }) as SpanPart;
  const spans = page(2, turn(0), model(0, 10, 0.5), model(0, 20, 0.25), turn(1), model(1, 5, 0.1), model(1, null, null), turn(2));
  it("of a turn are the sums of its requests, and unknown where one is", () => {
    const turns = figuresOf(spans).filter((_, index) => spans.spans[index]?.kind === "turn");
    expect(turns.map(({ input, cost }) => [input, cost])).toEqual([[30, 0.75], [5, null], [null, null]]);
  });
  it("are in the table to copy", () => expect(spansMarkdown(spans, [[], ["no a\|b"]])).toContain("| · model m\\|x | 0 ms | 1 s | 10 → 10 | $0.500 | no a\\|b |"));
});

describe("the rules that calls break", () => {
  const span = (kind: string, turn: number, call: number | null) => ({ kind, turn, call });
  const turns = [{ index: 0, steps: [{ call: null, broken: [] }, { call: 0, broken: ["verify first", "once"] }, { call: 1, broken: [] }] }, { index: 1, steps: [{ call: 0, broken: ["once"] }] }];
  it("are at their tools, and at no model that requested them", () => {
    const spans = [span("turn", 0, null), span("model", 0, 0), span("tool", 0, 0), span("tool", 0, 1), span("tool", 1, 0), span("tool", 2, 0)];
    expect(brokenRules({ spans } as never, { turns } as never)).toEqual([[], [], ["verify first", "once"], [], ["once"], []]);
  });
});

describe("the name of a span", () => {
  it.each([
    ["tool", "execute_tool", "get_order", "get_order"],
    ["tool", "running", "get_order", "get_order"],
    ["tool", "execute_tool look", "", "look"],
    ["tool", "execute_tool", "", "execute_tool"],
    ["agent", "invoke_agent desk", "get_order", "desk"],
    ["model", "execute_tool x", "get_order", "execute_tool x"],
  ])("of the kind %s, named %s, with the tool %j: %s", (kind, name, tool, shown) => {
    const attributes = tool ? [{ name: "gen_ai.tool.name", value: { text: tool } }] : [];
    expect(shortName({ kind, name, attributes } as unknown as SpanPart)).toBe(shown);
  });
});

describe("how votes fell", () => {
  it.each([
    [2 / 3, "2 of 3 agree (66.7\u202f%)"],
    [0.5, "50\u202f% agree"],
  ])("an agreement of %s", (agreement, text) => {
    const votes = ["", "", "", "429"].map((problem) => ({ problem })) as Parameters<typeof agreementText>[1];
    expect(agreementText(agreement, votes)).toBe(text);
  });

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
