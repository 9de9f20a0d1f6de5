import { useState } from "react";
import { useAddress } from "../../app/address";
import { bind, stepFocus, useKeys } from "../../app/keyboard";
import { useTitle } from "../../components/text/title";
import { useChange, useData } from "../../data/queries";
import type { AgentsPage, ChatList, ChatPage } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { AreaField, SelectField, TextField } from "../../components/forms/Field";
import { Skeleton } from "../../components/feedback/Skeleton";
import { isObject, readJson, jsonError } from "../evalCase/editing/exactJson";
import { readChat } from "./chatStream";
import styles from "./Chat.module.css";
import { Conversation } from "./Conversation";

/** Screen 10: talk to an agent, and keep the conversation as a case. */
export function ChatScreen() {
  useTitle("Chat");
  const [query, setQuery] = useAddress();
  const id = query.get("chat");
  const chat = useData<ChatPage>(id ? `/api/chats/${encodeURIComponent(id)}` : null, { keep: false, fresh: Infinity, read: readChat });
  if (id && chat.data) return <Conversation key={id} chat={chat.data} leave={() => setQuery({ chat: null })} />;
  if (id && !chat.error) return <Skeleton rows={4} />;
  return (
    <>
      {id && <ErrorNote error={chat.error} />}
      <StartForm onStart={(chat) => setQuery({ chat }, { push: true })} />
    </>
  );
}

function StartForm({ onStart }: { onStart: (id: string) => void }) {
  const agents = useData<AgentsPage>("/api/agents");
  const open = useData<ChatList>("/api/chats", { fresh: 0 });
  const change = useChange<ChatPage>(["/api/chats"]);
  const [query] = useAddress();
  const [form, setForm] = useState({ agent: query.get("agent") ?? "", state: "{}", app_name: "", user_id: "" });
  if (!agents.data) return agents.error ? <ErrorNote error={agents.error} retry={agents.refetch} /> : <Skeleton rows={4} />;
  const names = agents.data.items.map(({ name }) => name).filter((name) => name !== "replay");
  if (!names.length) return <Empty title="No agents to talk to" does="Here you talk to an agent and save the conversation as a case. Start the server with a folder of agents, or name one as `agent` in proctor.toml." command="proctor web agents/" />;
  const agent = names.includes(form.agent) ? form.agent : (names[0] ?? "");
  const why = stateError(form.state);
  const begin = (): void =>
    change.mutate(
      { method: "POST", path: "/api/chats", body: { agent, state: JSON.parse(form.state) as unknown, app_name: form.app_name, user_id: form.user_id } },
      { onSuccess: ({ body }) => onStart(body.id) },
    );
  return (
    <>
      <h1>Talk to an agent</h1>
      <p className="dim">The agent runs in a separate process. A chat can be saved as a case, as with <code>proctor record</code>.</p>
      <form
        className={`${styles.begin} panel`}
        onSubmit={(event) => {
          event.preventDefault();
          if (!why) begin();
        }}
      >
        <SelectField label="Agent" value={agent} options={names.map((name) => [name, name] as const)} onChange={(event) => setForm({ ...form, agent: event.target.value })} />
        <details>
          <summary>Initial session</summary>
          <AreaField label="State, as JSON" error={why || null} spellCheck={false} value={form.state} onChange={(event) => setForm({ ...form, state: event.target.value })} />
          <TextField label="App" value={form.app_name} onChange={(event) => setForm({ ...form, app_name: event.target.value })} />
          <TextField label="User" value={form.user_id} onChange={(event) => setForm({ ...form, user_id: event.target.value })} />
        </details>
        <ErrorNote error={change.error} />
        <Button type="submit" look="first" action="runAgain" does="start the chat" busy={change.isPending} disabled={why && "the state is not valid JSON"}>
          {change.isPending ? "Starting the agent …" : "Start"}
        </Button>
      </form>
      {open.data && open.data.items.length > 0 && <OpenChats list={open.data} go={onStart} />}
    </>
  );
}

function stateError(text: string): string {
  return jsonError(text) || (isObject(readJson(text)) ? "" : "Expected an object: { … }");
}

const CHATS = "[data-chats] button";

function OpenChats({ list, go }: { list: ChatList; go: (id: string) => void }) {
  useKeys([bind("next", () => stepFocus(CHATS, 1), "next conversation; Enter opens it"), bind("previous", () => stepFocus(CHATS, -1), "previous conversation"), bind("open", () => document.querySelector<HTMLElement>(CHATS)?.click(), "open the first conversation")]);
  return (
    <>
      <h2>
        Open conversations, {list.items.length} of {list.most} at most
      </h2>
      <ul data-chats className={`${styles.open} panel`}>
        {list.items.map((chat) => (
          <li key={chat.id}>
            <button type="button" onClick={() => go(chat.id)}>
              <b>{chat.agent}</b> <span className="dim">{chat.turns} turns · {chat.state}</span>
              <span className={styles.begins}>{chat.begins || "no messages yet"}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
