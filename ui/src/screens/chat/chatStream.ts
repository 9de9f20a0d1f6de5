// The events of an agent, from a streamed answer.
import type { components } from "../../data/api.gen";
import { NO_ANSWER, SourceError } from "../../data/source";
import type { ChatPage } from "../../data/types";
import { type JsonObject, readJson } from "../evalCase/editing/exactJson";

export type ChatEntry = components["schemas"]["ChatEntry"];

/** Takes pieces of a stream of server-sent events as they come, and gives the entries that are whole. */
export class EntryReader {
  private rest = "";

  take(piece: string): ChatEntry[] {
    const blocks = (this.rest + piece).split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.flatMap(entryOf);
  }
}

function entryOf(block: string): ChatEntry[] {
  const data = block
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => line.slice(6))
    .join("\n");
  return data ? [withExactValue(JSON.parse(data) as ChatEntry, readJson(data) as JsonObject)] : [];
}

/** Read a conversation. The numbers in the values of its entries and in its state keep their digits: 310.0 is not 310. */
export function readChat(text: string): ChatPage {
  const page = JSON.parse(text) as ChatPage;
  const exact = readJson(text) as JsonObject;
  const entries = exact.entries as JsonObject[];
  return {
    ...page,
    entries: page.entries.map((entry, index) => withExactValue(entry, entries[index] ?? {})),
    session_state: exact.session_state as JsonObject,
    initial_state: exact.initial_state as JsonObject,
  };
}

function withExactValue(entry: ChatEntry, exact: JsonObject): ChatEntry {
  return entry.kind === "usage" || entry.kind === "end" ? entry : { ...entry, value: exact.value ?? null };
}

/** Post the request and pass the entries to `onEntries` as they come; if this ends early, the server continues the answer. */
export async function streamEntries(path: string, init: RequestInit, onEntries: (entries: ChatEntry[]) => void): Promise<void> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...init });
  } catch (error) {
    if (init.signal?.aborted) return;
    throw new SourceError(0, NO_ANSWER);
  }
  if (!response.ok || !response.body) throw new SourceError(response.status, await detail(response));
  const reader = new EntryReader();
  const decoder = new TextDecoder();
  const stream = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await stream.read();
      if (done) return;
      const entries = reader.take(decoder.decode(value, { stream: true }));
      if (entries.length) onEntries(entries);
    }
  } catch (error) {
    if (init.signal?.aborted) return;
    throw new SourceError(0, "The connection was lost. The agent continues: open the conversation again to see more.");
  }
}

async function detail(response: Response): Promise<string> {
  try {
    const { detail } = (await response.json()) as { detail?: unknown };
    if (typeof detail === "string") return detail;
  } catch {
    // not ours
  }
  return `The server answered ${response.status} without a reason.`;
}

/** The entries with newer ones behind; each number once, and pieces go when the whole text of the same author is there. */
export function appendEntries(entries: readonly ChatEntry[], newer: readonly ChatEntry[]): ChatEntry[] {
  const last = entries.at(-1)?.number ?? 0;
  const all = [...entries];
  for (const entry of newer) {
    if (entry.number <= last) continue;
    if (entry.kind === "text" && !entry.partial) dropPartial(all, entry);
    else if (entry.kind === "end") dropPartial(all, entry);
    all.push(entry);
  }
  return all;
}

function dropPartial(entries: ChatEntry[], whole: ChatEntry): void {
  for (let index = entries.length - 1; index >= 0 && entries[index]?.exchange === whole.exchange; index--) {
    if (entries[index]?.partial && whole.kind === "text") entries.splice(index, 1);
  }
}

interface ShownEntry {
  key: number;
  entry: ChatEntry;
}

/** What is shown: pieces of one text run together. */
export function shownEntries(entries: readonly ChatEntry[]): ShownEntry[] {
  const shown: ShownEntry[] = [];
  for (const entry of entries) {
    const last = shown.at(-1);
    if (last && isPartial(entry) && isPartial(last.entry) && last.entry.author === entry.author && last.entry.kind === entry.kind) {
      last.entry = { ...last.entry, text: last.entry.text + entry.text };
    } else if (!["session", "end"].includes(entry.kind)) {
      shown.push({ key: entry.number, entry });
    }
  }
  return shown;
}

function isPartial(entry: ChatEntry): boolean {
  return entry.partial && (entry.kind === "text" || entry.kind === "thought");
}

/** Tokens of one exchange: the sum of what was reported. */
export function tokens(entries: readonly ChatEntry[]): number {
  return entries.filter(({ kind }) => kind === "usage").reduce((sum, { value }) => sum + totalOf(value), 0);
}

function totalOf(value: unknown): number {
  const usage = (value ?? {}) as Record<string, unknown>;
  const total = usage.total_token_count ?? usage.totalTokenCount;
  if (typeof total === "number") return total;
  return ["prompt_token_count", "candidates_token_count"].reduce((sum, name) => sum + (typeof usage[name] === "number" ? usage[name] : 0), 0);
}
