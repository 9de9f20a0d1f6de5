// The keys of a set besides its cases, and which of them have their own field.
import { keyOf } from "../evalCase/editing/jsonEdit";
import { ExactNumber, type Json } from "../evalCase/editing/exactJson";

interface HeadFacts {
  /** The id that the file names; null where it names none. */
  id: string | null;
  /** When the set was made, in seconds since 1970; null where that is not stated. */
  made: number | null;
  /** The keys that are shown above: all others are under "Everything else". */
  names: readonly string[];
}

const LAST = 8.64e12; // seconds that a Date can hold

/** What is only shown of a head, and what of it has a field. */
export function headFacts(head: Json): HeadFacts {
  const idKey = keyOf(head, "eval_set_id") ?? keyOf(head, "id");
  const id = valueAt(head, idKey);
  const made = secondsOf(valueAt(head, keyOf(head, "creation_timestamp")));
  const names = ["name", "description"];
  if (idKey !== undefined && typeof id === "string") names.push(idKey);
  if (made !== null) names.push("creation_timestamp");
  return { id: typeof id === "string" ? id : null, made, names };
}

function valueAt(head: Json, key: string | undefined): Json | undefined {
  return key === undefined ? undefined : (head as Record<string, Json>)[key];
}

function secondsOf(value: Json | undefined): number | null {
  const number = value instanceof ExactNumber ? Number(value.text) : value;
  return typeof number === "number" && Math.abs(number) <= LAST ? number : null;
}

/** Whether a head is written in camelCase. */
export function isCamelHead(head: Json): boolean {
  return ["eval_set_id", "creation_timestamp"].some((name) => {
    const key = keyOf(head, name);
    return key !== undefined && key !== name;
  });
}
