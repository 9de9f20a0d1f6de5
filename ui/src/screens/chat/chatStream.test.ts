import { expect, test } from "vitest";
import { writeJson } from "../evalCase/editing/exactJson";
import { type ChatEntry, EntryReader, appendEntries, readChat, shownEntries, tokens } from "./chatStream";

function entry(number: number, kind: string, more: Partial<ChatEntry> = {}): ChatEntry {
  return { number, exchange: 0, kind, author: "agent", text: "", partial: false, name: "", call_id: "", value: null, waits: false, seconds: null, ...more };
}

const EVENTS = [entry(1, "user", { text: "a\n\nb: data: é" }), entry(2, "text", { text: "x" })]
  .map((one) => `id: ${one.number}\nevent: entry\ndata: ${JSON.stringify(one)}\n\n`)
  .join(": still here\n\n");

test.each([1, 2, 3, 7, 50, 10_000])("a stream cut into pieces of %i reads the same", (size) => {
  const reader = new EntryReader();
  const found: ChatEntry[] = [];
  for (let at = 0; at < EVENTS.length; at += size) found.push(...reader.take(EVENTS.slice(at, at + size)));
  expect(found.map(({ number, text }) => [number, text])).toEqual([
    [1, "a\n\nb: data: é"],
    [2, "x"],
  ]);
});

test("what comes twice is taken once", () => {
  const first = appendEntries([], [entry(1, "user"), entry(2, "call")]);
  expect(appendEntries(first, [entry(2, "call"), entry(3, "end")]).map(({ number }) => number)).toEqual([1, 2, 3]);
});

test("pieces run together, and go when the whole is there", () => {
  const pieces = appendEntries([], [entry(1, "user"), entry(2, "text", { text: "Go ", partial: true }), entry(3, "text", { text: "on", partial: true })]);
  expect(shownEntries(pieces).map((one) => one.entry.text)).toEqual(["", "Go on"]);
  const whole = appendEntries(pieces, [entry(4, "text", { text: "Go on" }), entry(5, "end")]);
  expect(shownEntries(whole).map((one) => one.entry.text)).toEqual(["", "Go on"]);
});

test("what was stopped in the middle stays to be seen", () => {
  const stopped = appendEntries([], [entry(1, "user"), entry(2, "text", { text: "Go ", partial: true }), entry(3, "note"), entry(4, "end")]);
  expect(shownEntries(stopped).map((one) => one.entry.kind)).toEqual(["user", "text", "note"]);
});

test.each([
  [{ total_token_count: 7 }, 7], [{ prompt_token_count: 2, candidates_token_count: 3 }, 5], [{}, 0], [null, 0],
])("tokens of %j: %i", (value, expected) => {
  expect(tokens([entry(1, "usage", { value })])).toBe(expected);
});

test("numbers in arguments and in the state keep their digits", () => {
  const call = JSON.stringify(entry(1, "call", { value: { amount: 310 } })).replace("310", "310.0");
  const [streamed] = new EntryReader().take(`data: ${call}\n\n`);
  expect(writeJson(streamed?.value)).toBe('{"amount":310.0}');

  const chat = readChat(`{"turns": 1, "entries": [${call}], "session_state": {"paid": 1.0}, "initial_state": {}}`);
  expect(writeJson([chat.entries[0]?.value, chat.session_state, chat.turns])).toBe('[{"amount":310.0},{"paid":1.0},1]');
});
