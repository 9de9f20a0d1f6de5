import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { bind, useKeys } from "../../app/keyboard";
import { useSource } from "../../data/queries";
import type { ChatPage } from "../../data/types";
import { lineJson } from "../evalCase/editing/exactJson";
import { Button } from "../../components/forms/Button";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import styles from "./Chat.module.css";
import { Entry, type ToolAnswer, ExchangeTotals } from "./Entry";
import { SaveAsCase } from "./SaveAsCase";
import { type ChatEntry, streamEntries, appendEntries, shownEntries, tokens } from "./chatStream";

interface ChatStatus {
  state: string;
  turns: number;
}

/** A conversation under way. */
export function Conversation({ chat, leave }: { chat: ChatPage; leave: () => void }) {
  const conversation = useChat(chat);
  const [isSaving, setSaving] = useState(false);
  const source = useSource();
  const close = async (): Promise<void> => {
    await source.send("DELETE", conversation.path).catch(() => undefined);
    leave();
  };
  const waitsFor = conversation.turns === 0 ? "there is no turn yet" : conversation.state === "answering" && "the agent is answering";
  return (
    <>
      <div className="row">
        <h1>{chat.agent}</h1>
        <span className="dim">
          {conversation.turns} {conversation.turns === 1 ? "turn" : "turns"}
        </span>
        <span className="grow" />
        <Button look="first" action="save" does="save as a case" disabled={waitsFor} onClick={() => setSaving(true)}>Save as case</Button>
        <Button action="undo" does="undo a turn" disabled={waitsFor} onClick={() => conversation.go("/undo")}>Undo a turn</Button>
        <Button action="remove" does="close this chat" onClick={() => void close()}>Close</Button>
        <Button look="quiet" action="up" does="all chats" onClick={leave}>All chats</Button>
      </div>
      <div className={styles.columns}>
        <div className={styles.talk}>
          <Entries conversation={conversation} />
          <ErrorNote error={conversation.error} />
          {conversation.state === "broken" && <EndedProcess conversation={conversation} />}
          <Composer conversation={conversation} />
        </div>
        <State chat={chat} entries={conversation.entries} />
      </div>
      <SaveAsCase open={isSaving} close={() => setSaving(false)} path={conversation.path} turns={conversation.turns} agent={chat.agent} />
    </>
  );
}

interface Chat extends ChatStatus {
  path: string;
  entries: readonly ChatEntry[];
  error: Error | null;
  send: (text: string) => void;
  answer: (response: ToolAnswer) => void;
  /** One of the other things that a conversation can be asked: `/undo`, `/again`. */
  go: (what: string) => void;
  stop: () => void;
}

function useChat(chat: ChatPage): Chat {
  const path = `/api/chats/${encodeURIComponent(chat.id)}`;
  const [entries, setEntries] = useState<readonly ChatEntry[]>(chat.entries);
  const [status, setStatus] = useState<ChatStatus>({ state: chat.state, turns: chat.turns });
  const [error, setError] = useState<Error | null>(null);
  const gone = useRef(new AbortController());
  const client = useQueryClient();
  const source = useSource();

  const addEntries = useCallback((newer: ChatEntry[]) => {
    setEntries((before) => appendEntries(before, newer));
    const end = newer.findLast(({ kind }) => kind === "end");
    if (end) setStatus(end.value as ChatStatus);
  }, []);
  const listen = useCallback(
    async (where: string, init: RequestInit): Promise<void> => {
      setError(null);
      setStatus((now) => ({ ...now, state: "answering" }));
      try {
        await streamEntries(path + where, { ...init, signal: gone.current.signal }, addEntries);
      } catch (failure) {
        setError(failure instanceof Error ? failure : new Error(String(failure)));
        const { body } = await source.get<ChatPage>(path).catch(() => ({ body: null }));
        if (body) setStatus({ state: body.state, turns: body.turns });
      }
      void client.invalidateQueries({ queryKey: [path], refetchType: "none" });
    },
    [path, addEntries, source, client],
  );
  useEffect(() => {
    gone.current = new AbortController();
    const leaving = gone.current;
    if (chat.state === "answering") void listen("/events", { headers: { "Last-Event-ID": String(chat.entries.at(-1)?.number ?? 0) } });
    return () => leaving.abort();
  }, [chat, listen]);
  useEffect(() => () => client.removeQueries({ queryKey: [path] }), [client, path]);

  const post = (where: string, body?: unknown): void =>
    void listen(where, { method: "POST", ...(body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }) });
  return {
    path,
    entries,
    ...status,
    error,
    send: (text) => post("/messages", { text }),
    answer: (response) => post("/messages", { answer: response }),
    go: (what) => post(what),
    stop: () => void source.send("POST", `${path}/stop`).catch((failure: unknown) => setError(failure as Error)),
  };
}

function Entries({ conversation }: { conversation: Chat }) {
  const end = useRef<HTMLDivElement>(null);
  const shown = shownEntries(conversation.entries);
  const lastCall = shown.findLast(({ entry }) => entry.kind === "call" || entry.kind === "user")?.key;
  const count = conversation.entries.length;
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [count]);
  return (
    <div className={styles.entries} role="log" aria-label="Conversation" aria-busy={conversation.state === "answering"}>
      {!shown.length && <p className="dim">No messages yet.</p>}
      {shown.map(({ key, entry }, index) => {
        const isLast = shown[index + 1]?.entry.exchange !== entry.exchange;
        const own = isLast ? conversation.entries.filter(({ exchange }) => exchange === entry.exchange) : [];
        return (
          <div key={key}>
            <Entry entry={entry} answer={entry.waits && key === lastCall && conversation.state === "ready" ? conversation.answer : null} />
            {isLast && own.at(-1)?.kind === "end" && <ExchangeTotals seconds={own.at(-1)?.seconds ?? null} tokens={tokens(own)} />}
          </div>
        );
      })}
      {conversation.state === "answering" && <p className={styles.waiting}>answering …</p>}
      <div ref={end} />
    </div>
  );
}

function EndedProcess({ conversation }: { conversation: Chat }) {
  return (
    <div className={`${styles.broken} row`}>
      <span>The agent’s process ended during this turn; its session is lost.</span>
      <Button action="runAgain" does="restart the agent" onClick={() => conversation.go("/again")}>Restart it{conversation.turns > 0 && "and repeat the earlier messages"}</Button>
    </div>
  );
}

function Composer({ conversation }: { conversation: Chat }) {
  const [text, setText] = useState("");
  const area = useRef<HTMLTextAreaElement>(null);
  const isAnswering = conversation.state === "answering";
  useKeys([bind("filter", () => area.current?.focus(), "write a message")]);
  useEffect(() => {
    // not on touch devices: the on-screen keyboard would cover the conversation
    if (document.activeElement === document.body && !window.matchMedia("(pointer: coarse)").matches) area.current?.focus();
  }, []);
  const send = (): void => {
    if (!text.trim() || conversation.state !== "ready") return;
    conversation.send(text);
    setText("");
  };
  return (
    <form
      className={`${styles.composer} no-print`}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={area}
        rows={2}
        aria-label="Message"
        placeholder="Enter sends, Shift+Enter begins a line"
        value={text}
        disabled={conversation.state === "broken"}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {isAnswering ? <Button action="cancel" does="stop the answer" onClick={conversation.stop}>Stop</Button> : <Button type="submit" disabled={!text.trim() || conversation.state !== "ready"}>Send</Button>}
    </form>
  );
}

function State({ chat, entries }: { chat: ChatPage; entries: readonly ChatEntry[] }) {
  const latest = entries.findLast(({ kind }) => kind === "session");
  const state = (latest?.value ?? chat.session_state) as Record<string, unknown>;
  const keys = Object.keys(state);
  return (
    <aside aria-label="Session state" className={styles.state}>
      <h2>Session state</h2>
      {!keys.length && <p className="dim small">Empty.</p>}
      <dl>
        {keys.map((key) => {
          const value = lineJson(state[key]);
          const isNew = !(key in chat.initial_state) || lineJson(chat.initial_state[key]) !== value;
          return (
            <div key={key} data-new={isNew || undefined}>
              <dt>
                {key}
                {isNew && <span className="dim small"> changed</span>}
              </dt>
              <dd>{value}</dd>
            </div>
          );
        })}
      </dl>
    </aside>
  );
}
