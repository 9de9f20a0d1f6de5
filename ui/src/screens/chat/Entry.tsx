import { useState } from "react";
import { Button } from "../../components/forms/Button";
import { AreaField } from "../../components/forms/Field";
import { countText, secondsText } from "../../components/text/numberFormats";
import { isObject, jsonError, lineJson, readJson, writeJson } from "../evalCase/editing/exactJson";
import styles from "./Chat.module.css";
import type { ChatEntry } from "./chatStream";

export interface ToolAnswer {
  name: string;
  call_id: string;
  response: unknown;
}

/** One entry of the conversation: a message, a call, a response. */
export function Entry({ entry, answer }: { entry: ChatEntry; answer: ((response: ToolAnswer) => void) | null }) {
  switch (entry.kind) {
    case "user":
      return <div className={styles.user}>{entry.name ? <Call name={`${entry.name} answered`} value={entry.value} /> : <p>{entry.text}</p>}</div>;
    case "text":
      return (
        <div className={styles.agent}>
          {entry.author !== "agent" && <span className={styles.who}>{entry.author}</span>}
          <p data-partial={entry.partial || undefined}>{entry.text}</p>
        </div>
      );
    case "thought":
      return (
        <details className={styles.thought}>
          <summary>A thought</summary>
          <p>{entry.text}</p>
        </details>
      );
    case "call":
      return (
        <div className={styles.deed}>
          <Call name={entry.name} value={entry.value} />
          {entry.waits && answer && <ToolResponseForm entry={entry} answer={answer} />}
        </div>
      );
    case "response":
      return (
        <div className={styles.deed}>
          <Call name={`→ ${entry.name}`} value={entry.value} isResponse />
        </div>
      );
    case "state":
      return <Line sign="∆" words="state" value={entry.value} />;
    case "media":
      return <Line sign="◫" words={entry.name} value={entry.value} />;
    case "usage":
      return null;
    case "failure":
      return (
        <div role="alert" className={styles.failure}>
          ! {entry.text}
        </div>
      );
    default:
      return <div className={styles.aside}>{entry.text}</div>;
  }
}

/** What one exchange took. */
export function ExchangeTotals({ seconds, tokens }: { seconds: number | null; tokens: number }) {
  const parts = [seconds === null ? "" : secondsText(seconds), tokens ? countText(tokens, "token") : ""].filter(Boolean).join(" · ");
  return parts ? <div className={`${styles.took} num`}>{parts}</div> : null;
}

function Call({ name, value, isResponse = false }: { name: string; value: unknown; isResponse?: boolean }) {
  const text = isResponse ? oneLine(value) : argumentsOf(value);
  const line = isResponse ? `${name}: ${text}` : `${name}(${text})`;
  if (line.length <= 110) return <code className={styles.call}>{line}</code>;
  return (
    <details className={styles.call}>
      <summary>
        <code>{`${line.slice(0, 100)}…`}</code>
      </summary>
      <pre>{writeJson(value, 2)}</pre>
    </details>
  );
}

function argumentsOf(value: unknown): string {
  if (!isObject(value)) return oneLine(value);
  return Object.entries(value)
    .map(([name, one]) => `${name}=${oneLine(one)}`)
    .join(", ");
}

function oneLine(value: unknown): string {
  return value === undefined ? "" : lineJson(value);
}

function Line({ sign, words, value }: { sign: string; words: string; value: unknown }) {
  return (
    <div className={styles.aside}>
      <span aria-hidden>{sign}</span> {words} <code>{oneLine(value)}</code>
    </div>
  );
}

function ToolResponseForm({ entry, answer }: { entry: ChatEntry; answer: (response: ToolAnswer) => void }) {
  const [text, setText] = useState('{"status": "approved"}');
  const why = jsonError(text) || (isObject(readJson(text)) ? "" : "Expected an object: { … }");
  return (
    <div className={styles.byHand}>
      <AreaField label={`${entry.name} waits for its response, as JSON`} rows={2} spellCheck={false} error={why || null} value={text} onChange={(event) => setText(event.target.value)} />
      <Button action="write" does="answer the call" disabled={why && "the response is not valid JSON"} onClick={() => answer({ name: entry.name, call_id: entry.call_id, response: JSON.parse(text) as unknown })}>
        Answer the call
      </Button>
    </div>
  );
}
