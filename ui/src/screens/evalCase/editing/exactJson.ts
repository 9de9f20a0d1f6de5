// JSON without loss: a number that JavaScript would write in other digits (1.0, 1e3, twenty digits) keeps its own.

/** A number as the text has it. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Json = null | boolean | number | string | ExactNumber | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARK = "\u0000exact:"; // no text of a file has NUL in it
const MARKED = /"\\u0000exact:(-?[0-9.eE+-]+)"/g;

/** Read JSON. Throws SyntaxError, as JSON.parse. */
export function readJson(text: string): Json {
  JSON.parse(text); // the error then refers to the original text
  const marked = text.replace(TOKEN, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : JSON.stringify(MARK + token),
  );
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === "string" && value.startsWith(MARK) ? new ExactNumber(value.slice(MARK.length)) : value,
  ) as Json;
}

/** Write JSON. */
export function writeJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, (_, inner: unknown) => (inner instanceof ExactNumber ? MARK + inner.text : inner), indent);
  return text.replace(MARKED, "$1");
}

/** Write JSON in one line with spaces, as the terminal and Python do: `{"a": 1, "b": [2]}`. */
export function lineJson(value: unknown): string {
  const text = writeJson(value, 1); // a line break is outside of every string
  return text.replace(/([[{])\n *|\n *([\]}])|\n */g, (_, open?: string, close?: string) => open ?? close ?? " ");
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** Whether two values are the same JSON, in any order of keys. */
export function isEqual(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (one instanceof ExactNumber || other instanceof ExactNumber) return one instanceof ExactNumber && other instanceof ExactNumber && one.text === other.text;
  if (Array.isArray(one)) return Array.isArray(other) && one.length === other.length && one.every((item, at) => isEqual(item, other[at]));
  if (!isObject(one) || !isObject(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]));
}

/** Where a text stops being JSON, in words: `line 3, column 7: …`. Empty where it is JSON. */
export function jsonError(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const at = /position (\d+)/.exec(message)?.[1];
    if (at === undefined) return `This is not JSON: ${message}`;
    const before = text.slice(0, Number(at)).split("\n");
    return `This is not JSON: line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${message.replace(/ (?:in JSON )?at position.*$/s, "")}`;
  }
}
