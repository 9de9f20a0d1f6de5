import { useLayoutEffect, useRef, useState } from "react";
import { chipAction } from "../../app/actions";
import { bind, useKeys } from "../../app/keyboard";
import { Chip } from "../forms/Chip";
import styles from "./FilterBox.module.css";

/** A word of a filter, `outcome:failed`, with what it is called if that is clearer: `Failed`; and what it finds, if the word does not state that. */
export type Offer = string | readonly [text: string, words: string, finds?: string];

interface Props {
  /** What is filtered by now: keep it in the address (`useAddress`). */
  value: string;
  onChange: (value: string) => void;
  label: string;
  placeholder?: string;
  /** What can be pressed instead of typed. */
  offers?: readonly Offer[];
  /** The number of matches: "6 of 40". Screen readers announce it. */
  found?: string;
  /** Milliseconds without a key before the filter is taken: as long as what is filtered takes to ask for. */
  pause?: number;
}

const PAUSE = 150; // milliseconds without a key before the filter is taken

/** A line to filter by. `/` goes there; Enter or Escape leaves it. */
export function FilterBox({ value, onChange, label, placeholder, offers = [], found, pause = PAUSE }: Props) {
  const [text, setText] = useState(value);
  const box = useRef<HTMLInputElement>(null);
  const sent = useRef(value);
  const send = (filter: string): void => {
    sent.current = filter;
    onChange(filter);
  };
  useLayoutEffect(() => {
    if (value !== sent.current) setText(value); // what was typed comes back from the address: more may be typed by then
    sent.current = value;
  }, [value]);
  useLayoutEffect(() => {
    if (text === value) return undefined;
    const timer = window.setTimeout(() => send(text), pause);
    return () => window.clearTimeout(timer);
  }, [text]); // eslint-disable-line
  useKeys([bind("filter", () => focusAll(box.current))]);
  return (
    <div className={`${styles.filter} no-print`} role="search">
      <input
        ref={box}
        type="text"
        value={text}
        aria-label={label}
        placeholder={placeholder}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          send(text);
          event.currentTarget.blur(); // the next keys are for the rows
        }}
      />
      {offers.length > 0 && (
        <div className={styles.offers}>
          {offers.map((offer, index) => {
            const [word, words, finds = word] = typeof offer === "string" ? [offer, offer] : offer;
            return (
              <Chip key={word} pressed={hasWord(text, word)} title={finds} action={chipAction(index)} does={`filter: ${words}`} onPress={() => onChange(withWord(text, word))}>
                {words}
              </Chip>
            );
          })}
        </div>
      )}
      <span role="status" className="dim num">
        {found}
      </span>
    </div>
  );
}

function focusAll(box: HTMLInputElement | null): void {
  box?.focus();
  box?.select();
}

export function hasWord(text: string, word: string): boolean {
  return text.split(/\s+/).includes(word);
}

/** `text` with `word` in it, or without it where it was there. */
export function withWord(text: string, word: string): string {
  const words = text.split(/\s+/).filter(Boolean);
  return (words.includes(word) ? words.filter((one) => one !== word) : [...words, word]).join(" ");
}
