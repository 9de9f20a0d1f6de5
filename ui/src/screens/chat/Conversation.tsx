import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { useKeys } from "../../app/keyboard";
import { useSource } from "../../data/queries";
import type { ChatPage } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { visible } from "../../components/text/safeText";
import styles from "./Chat.module.css";
import { Entry, type ToolAnswer, Took } from "./Entry";
import { SaveAsCase } from "./SaveAsCase";
import { type ChatEntry, follow, joined, shownOf, tokens } from "./chatStream";

interface Standing {
  state: string;
  turns: number;
}

/** A conversation under way. */
export function Conversation({ chat, leave }: { chat: ChatPage; leave: () => void }) {
  const talk = useTalk(chat);
  const [isSaving, setSaving] = useState(false);
  const source = useSource();
  const close = async (): Promise<void> => {
    await source.send("DELETE", talk.path).catch(() => undefined);
    leave();
  };
  const canSave = talk.turns > 0 && talk.state !== "answering";
  useKeys([{ keys: "s", does: "save as a case", run: () => canSave && setSaving(true) }]);
  return (
    <>
      <div className="row">
        <h1>{visible(chat.agent)}</h1>
        <span className="dim">
          {talk.turns} {talk.turns === 1 ? "turn" : "turns"}
        </span>
        <span className="grow" />
        <Button look="first" disabled={!canSave} onClick={() => setSaving(true)}>Save as case</Button>
        <Button disabled={!talk.turns || talk.state === "answering"} onClick={() => talk.go("/undo")}>Undo a turn</Button>
        <Button onClick={() => void close()}>Close</Button>
        <Button look="quiet" onClick={leave}>Others</Button>
      </div>
      <div className={styles.columns}>
        <div className={styles.talk}>
          <Entries talk={talk} />
          <ErrorNote error={talk.error} />
          {talk.state === "broken" && <Broken talk={talk} />}
          <Composer talk={talk} />
        </div>
        <State chat={chat} entries={talk.entries} />
      </div>
      <SaveAsCase open={isSaving} close={() => setSaving(false)} path={talk.path} turns={talk.turns} agent={chat.agent} />
    </>
  );
}

interface Talk extends Standing {
  path: string;
  entries: readonly ChatEntry[];
  error: Error | null;
  say: (text: string) => void;
  answer: (given: ToolAnswer) => void;
  /** One of the other things that a conversation can be asked: `/undo`, `/again`. */
  go: (what: string) => void;
  stop: () => void;
}

function useTalk(chat: ChatPage): Talk {
  const path = `/api/chats/${encodeURIComponent(chat.id)}`;
  const [entries, setEntries] = useState<readonly ChatEntry[]>(chat.entries);
  const [standing, setStanding] = useState<Standing>({ state: chat.state, turns: chat.turns });
  const [error, setError] = useState<Error | null>(null);
  const gone = useRef(new AbortController());
  const client = useQueryClient();
  const source = useSource();

  const tell = useCallback((newer: ChatEntry[]) => {
    setEntries((before) => joined(before, newer));
    const end = newer.findLast(({ kind }) => kind === "end");
    if (end) setStanding(end.value as Standing);
  }, []);
  const listen = useCallback(
    async (where: string, init: RequestInit): Promise<void> => {
      setError(null);
      setStanding((now) => ({ ...now, state: "answering" }));
      try {
        await follow(path + where, { ...init, signal: gone.current.signal }, tell);
      } catch (found) {
        setError(found instanceof Error ? found : new Error(String(found)));
        const { body } = await source.get<ChatPage>(path).catch(() => ({ body: null }));
        if (body) setStanding({ state: body.state, turns: body.turns });
      }
      void client.invalidateQueries({ queryKey: [path], refetchType: "none" });
    },
    [path, tell, source, client],
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
    ...standing,
    error,
    say: (text) => post("/messages", { text }),
    answer: (given) => post("/messages", { answer: given }),
    go: (what) => post(what),
    stop: () => void source.send("POST", `${path}/stop`).catch((found: unknown) => setError(found as Error)),
  };
}

function Entries({ talk }: { talk: Talk }) {
  const end = useRef<HTMLDivElement>(null);
  const shown = shownOf(talk.entries);
  const lastCall = shown.findLast(({ entry }) => entry.kind === "call" || entry.kind === "user")?.key;
  const count = talk.entries.length;
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [count]);
  return (
    <div className={styles.entries} role="log" aria-label="Conversation" aria-busy={talk.state === "answering"}>
      {!shown.length && <p className="dim">Nothing was said yet.</p>}
      {shown.map(({ key, entry }, index) => {
        const isLast = shown[index + 1]?.entry.exchange !== entry.exchange;
        const own = isLast ? talk.entries.filter(({ exchange }) => exchange === entry.exchange) : [];
        return (
          <div key={key}>
            <Entry entry={entry} answer={entry.waits && key === lastCall && talk.state === "ready" ? talk.answer : null} />
            {isLast && own.at(-1)?.kind === "end" && <Took seconds={own.at(-1)?.seconds ?? null} tokens={tokens(own)} />}
          </div>
        );
      })}
      {talk.state === "answering" && <p className={styles.waiting}>answering …</p>}
      <div ref={end} />
    </div>
  );
}

function Broken({ talk }: { talk: Talk }) {
  return (
    <div className={`${styles.broken} row`}>
      <span>The agent’s process was ended in the middle of that, and its session with it.</span>
      <Button onClick={() => talk.go("/again")}>Start it anew{talk.turns > 0 && ", and say the earlier messages again"}</Button>
    </div>
  );
}

function Composer({ talk }: { talk: Talk }) {
  const [text, setText] = useState("");
  const area = useRef<HTMLTextAreaElement>(null);
  const isAnswering = talk.state === "answering";
  useKeys([{ keys: "/", does: "write a message", run: () => area.current?.focus() }]);
  useEffect(() => {
    // one came to talk; where fingers type, the keyboard would cover what was said
    if (document.activeElement === document.body && !window.matchMedia("(pointer: coarse)").matches) area.current?.focus();
  }, []);
  const send = (): void => {
    if (!text.trim() || talk.state !== "ready") return;
    talk.say(text);
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
        disabled={talk.state === "broken"}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {isAnswering ? <Button onClick={talk.stop}>Stop</Button> : <Button type="submit" disabled={!text.trim() || talk.state !== "ready"}>Send</Button>}
    </form>
  );
}

function State({ chat, entries }: { chat: ChatPage; entries: readonly ChatEntry[] }) {
  const latest = entries.findLast(({ kind }) => kind === "session");
  const state = (latest?.value ?? chat.session_state) as Record<string, unknown>;
  const keys = Object.keys(state);
  return (
    <aside aria-label="State of the session" className={styles.state}>
      <h2>State of the session</h2>
      {!keys.length && <p className="dim small">Nothing is in it.</p>}
      <dl>
        {keys.map((key) => {
          const value = JSON.stringify(state[key]);
          const isNew = JSON.stringify(chat.initial_state[key]) !== value;
          return (
            <div key={key} data-new={isNew || undefined}>
              <dt>
                {visible(key)}
                {isNew && <span className="dim small"> changed</span>}
              </dt>
              <dd>{visible(value)}</dd>
            </div>
          );
        })}
      </dl>
    </aside>
  );
}
