// A case that is being edited is the very JSON of its file: an edit changes one place of it, and every key that no field
// shows stays where it is. Names of the format may have either spelling; a new key takes that of the case.
import { type Json, type JsonObject, isObject, isEqual } from "./exactJson";

export type Path = readonly (string | number)[];

export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let found: Json | undefined = value;
  for (const step of path) {
    if (Array.isArray(found) && typeof step === "number") found = found[step];
    else if (isObject(found) && typeof step === "string" && Object.hasOwn(found, step)) found = found[step];
    else return undefined;
  }
  return found;
}

/** The same value with another one at `path`; `undefined` takes the place out. Everything outside the path is unchanged. */
export function setAt(value: Json | undefined, path: Path, next: Json | undefined): Json {
  const [step, ...rest] = path;
  if (step === undefined) return next ?? null;
  if (typeof step === "number") {
    const items = Array.isArray(value) ? [...value] : [];
    if (!rest.length && next === undefined) items.splice(step, 1);
    else items[step] = setAt(items[step], rest, next);
    return items;
  }
  const object: JsonObject = isObject(value) ? { ...value } : {};
  if (rest.length || next !== undefined) define(object, step, setAt(object[step], rest, next));
  else delete object[step];
  return object;
}

/** Keys such as `__proto__` are keys like any other. */
function define(object: JsonObject, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** A list with one item moved by so many places. */
export function moveItem<Item>(items: readonly Item[], index: number, by: number): Item[] {
  const next = [...items];
  const [item] = next.splice(index, 1);
  if (item !== undefined) next.splice(Math.max(0, Math.min(items.length - 1, index + by)), 0, item);
  return next;
}

export function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The key by which an object has a field of the format; `undefined` where it has not. */
export function keyOf(object: Json | undefined, name: string): string | undefined {
  if (!isObject(object)) return undefined;
  return [name, toCamelCase(name)].find((key) => Object.hasOwn(object, key));
}

/** The key by which it has the field, or would. */
export function keyFor(object: Json | undefined, name: string, isCamel: boolean): string {
  return keyOf(object, name) ?? (isCamel ? toCamelCase(name) : name);
}

const TELLING = ["eval_id", "session_input", "conversation_scenario", "final_session_state", "creation_timestamp"];

/** Whether a case is written in camelCase, judging by its own keys, or else by those of its first turn. */
export function isCamelCase(value: Json): boolean {
  const turn = valueAt(value, ["conversation", 0]);
  return [value, turn].some(
    (part) => isObject(part) && [...TELLING, "user_content"].some((name) => toCamelCase(name) !== name && Object.hasOwn(part, toCamelCase(name))),
  );
}

function spellings(names: readonly string[], exact: boolean): ReadonlySet<string> {
  return new Set(exact ? names : names.flatMap((name) => [name, toCamelCase(name)]));
}

/** An object with one of its keys called otherwise, in its place; another of that name goes. */
export function renameKey(object: JsonObject, from: string, to: string): JsonObject {
  const made: JsonObject = {};
  for (const [key, value] of Object.entries(object)) if (key === from || key !== to) define(made, key === from ? to : key, value);
  return made;
}

/** The keys of an object that are not in `names`. */
export function otherKeys(object: Json | undefined, names: readonly string[], exact = false): JsonObject {
  const shown = spellings(names, exact);
  const found: JsonObject = {};
  if (isObject(object)) for (const [key, value] of Object.entries(object)) if (!shown.has(key)) define(found, key, value);
  return found;
}

/** An object with its other keys exchanged for `others`; those in `names` stay, in the same order. */
export function replaceOtherKeys(object: Json | undefined, names: readonly string[], others: JsonObject, exact = false): JsonObject {
  const shown = spellings(names, exact);
  const made: JsonObject = {};
  const old = isObject(object) ? object : {};
  for (const [key, value] of Object.entries(old)) {
    if (shown.has(key)) define(made, key, value);
    else if (Object.hasOwn(others, key)) define(made, key, others[key] ?? null);
  }
  for (const [key, value] of Object.entries(others)) if (!shown.has(key) && !Object.hasOwn(made, key)) define(made, key, value);
  return made;
}

/** A message of one text, in the words of the format. */
export function textContent(text: string, role: string): JsonObject {
  return { parts: [{ text }], role };
}

/** Every place in which two values differ, each as low as it has a name in both. */
export function differences(one: Json | undefined, other: Json | undefined, path: Path = []): Path[] {
  if (isEqual(one, other)) return [];
  if (isObject(one) && isObject(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...keys].flatMap((key) =>
      Object.hasOwn(one, key) && Object.hasOwn(other, key)
        ? differences(one[key], other[key], [...path, key])
        : [[...path, key]],
    );
  }
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length) {
    return one.flatMap((item, index) => differences(item, other[index], [...path, index]));
  }
  return [path];
}

export function pointer(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
