import { type RefObject, useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { ACTIONS, type ActionName } from "./actions";

/** A key (`j`, `?`, `Enter`) or two in a row (`g r`), what it does in words for the help, and what it does. */
export interface Binding {
  keys: string;
  does: string;
  run: (event: KeyboardEvent) => void;
  /** Why it does nothing now. */
  unavailable?: string;
}

/** Bind an action to its key. `does`: what it does here, if its own words are not precise enough. */
export function bind(action: ActionName, run: Binding["run"], does: string = ACTIONS[action][1]): Binding {
  return { keys: ACTIONS[action][0], does, run };
}

const PATIENCE = 1_000; // milliseconds between the two keys of a sequence

type Layer = { current: readonly Binding[] };
let layers: Layer[] = [];
let listeners: (() => void)[] = [];
let first = { key: "", at: 0 };
let waits = 0; // parts of the page that are being read
let struck = { keys: [] as string[], page: "" }; // the keys that did nothing meanwhile, and the page that they are for
let timer = 0; // of the next of them

/** The bindings of what is on the screen; the newest layer that can do something wins where two want the same key. */
export function allBindings(): readonly Binding[] {
  const bindings = new Map<string, Binding>();
  for (const one of layers.flatMap(({ current }) => current)) if (!one.unavailable || !bindings.has(one.keys)) bindings.set(one.keys, one);
  return [...bindings.values()];
}

function findBinding(before: string, key: string): Binding | undefined {
  return matchBinding(allBindings().filter((one) => !one.unavailable), before, key);
}

/** Find what was meant: the second key of a sequence comes before a single key. */
export function matchBinding(bindings: readonly Binding[], before: string, key: string): Binding | undefined {
  return bindings.find((one) => before && one.keys === `${before} ${key}`) ?? bindings.find((one) => one.keys === key);
}

const OVERLAYS = "[role=menu],[role=listbox],[role=dialog]";

/** True where keys are text. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.closest(OVERLAYS) !== null || isField(target));
}

function isField(target: HTMLElement): boolean {
  return isTextField(target) || target instanceof HTMLSelectElement;
}

export function isTextField(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "submit"].includes(target.type);
  return target instanceof HTMLTextAreaElement || (target instanceof HTMLElement && target.isContentEditable);
}

function handleKey(event: KeyboardEvent): void {
  if (event.key === "Escape") struck.keys = [];
  if (event.defaultPrevented || isChord(event)) return;
  if (event.key === "Escape") return leaveField(event.target);
  if (isStriking()) return keep(event);
  if (isTyping(event.target)) return event.key === "Enter" && isDialog(event.target) ? postpone(event) : undefined;
  const before = event.timeStamp - first.at < PATIENCE ? first.key : "";
  first = { key: event.key, at: event.timeStamp };
  if (event.key === "Enter" && isControl(event.target)) return;
  const binding = findBinding(before, event.key);
  if (!binding) return postpone(event);
  event.preventDefault();
  first = { key: "", at: 0 };
  binding.run(event);
}

/** Keep a key that does nothing while a part of the page is read: it takes effect when the part is there. */
function postpone(event: KeyboardEvent): void {
  if (waits && (event.key !== " " || keptKeys().length)) keep(event);
}

function keep(event: KeyboardEvent): void {
  if (event.repeat || !/^(.|Enter)$/u.test(event.key)) return;
  event.preventDefault();
  keptKeys().push(event.key);
  if (isStriking()) strikeSoon();
}

/** Whether kept keys can take effect now: a new key comes after them. */
function isStriking(): boolean {
  const [key] = keptKeys();
  return key !== undefined && findBinding("", key) !== undefined;
}

/** Escape leaves a field, so that keys are no longer text. A dialog or a list answers it itself. */
function leaveField(target: EventTarget | null): void {
  if (target instanceof HTMLElement && isField(target) && !target.closest(OVERLAYS)) target.blur();
}

function strikeSoon(): void {
  timer ||= window.setTimeout(() => {
    timer = 0;
    strikeKept();
  });
}

/** Strike the kept keys, each after the page has followed the one before it. */
function strikeKept(): void {
  const [key] = keptKeys();
  if (key === undefined || (!strike(key) && waits)) return;
  struck.keys = struck.keys.slice(1);
  struck.page = shownPage();
  strikeSoon();
}

/** The kept keys of the page that is shown; those of another page are forgotten. */
function keptKeys(): string[] {
  if (struck.page !== shownPage()) struck = { keys: [], page: shownPage() };
  return struck.keys;
}

function shownPage(): string {
  return location.pathname + location.hash;
}

/** Do what a key does where the focus is now; false if it does nothing. */
function strike(key: string): boolean {
  const at = document.activeElement;
  if (key === "Enter" && at instanceof HTMLElement && isControl(at)) {
    at.click();
    return true;
  }
  if (isTyping(at)) return key.length === 1 && document.execCommand("insertText", false, key);
  const binding = findBinding("", key);
  binding?.run(new KeyboardEvent("keydown", { key }));
  return binding !== undefined;
}

/** While this component is shown, and `on`, a part of the page is being read: keys that do nothing until then take effect after it. */
export function useWait(on = true): void {
  useLayoutEffect(() => {
    if (!on) return undefined;
    waits += 1;
    return () => {
      waits -= 1;
      strikeSoon();
    };
  }, [on]);
}

/** Keys that are the browser's. A sign may need Alt on its keyboard: `[` is AltGr 8 on a German one, Option 5 on a German Mac's. */
function isChord(event: KeyboardEvent): boolean {
  if (event.metaKey) return true;
  if (/^[[\]/?]$/.test(event.key)) return event.ctrlKey && !event.altKey; // AltGr may come as both
  return event.ctrlKey || event.altKey;
}

/** A dialog as a whole has the focus, and no control of it. */
function isDialog(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.tabIndex < 0;
}

/** A focused link or button answers Enter itself. */
function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a,button,summary,[role=tab]") !== null; // a link of a chart is an SVG element
}

function addLayer(layer: Layer): () => void {
  if (!layers.length) window.addEventListener("keydown", handleKey);
  layers = [...layers, layer];
  for (const listener of listeners) listener();
  return () => {
    layers = layers.filter((one) => one !== layer);
    if (!layers.length) window.removeEventListener("keydown", handleKey);
    for (const listener of listeners) listener();
  };
}

/**
 * Bind keys while this component is shown. They are off while a text field or a dialog has the focus. What is bound changes in
 * the same step as the page: a later one would leave keys that are pressed at once to what was there before, or to nothing.
 */
export function useKeys(bindings: readonly Binding[]): void {
  const layer = useRef(bindings);
  useLayoutEffect(() => {
    layer.current = bindings;
  });
  const hasKeys = bindings.length > 0;
  useLayoutEffect(() => (hasKeys ? addLayer(layer) : undefined), [hasKeys]);
}

/** A control that a key presses, too. Without an action it has none. */
export interface Shortcut {
  action?: ActionName | undefined;
  /** What the key does, for the help. */
  does?: string | undefined;
  title?: string | undefined;
  /** Whether it cannot be pressed, or why not, for the help and its title. */
  disabled?: boolean | string | undefined;
  /** What the control needs is being read: until then it cannot be pressed, and after that its key, struck meanwhile, presses it. */
  reading?: boolean | undefined;
}

/** What a control needs so that the key of its action presses it, once however long it is held: the ref that it must have, and what names the key. */
export function useShortcut<E extends HTMLElement>({ action, does, title, reading = false, disabled = false }: Shortcut) {
  const ref: RefObject<E | null> = useRef<E>(null);
  const unavailable = reading ? "it is being read" : typeof disabled === "string" ? disabled : "";
  useWait(reading);
  const press = (event: KeyboardEvent) => {
    if (!event.repeat) ref.current?.click();
  };
  useKeys(action && (unavailable || !disabled) ? [{ ...bind(action, press, does), unavailable }] : []);
  const words = [title, reading ? "" : unavailable].filter(Boolean).join(": ");
  if (!action) return { ref, title: words || undefined };
  const [key] = ACTIONS[action];
  return { ref, title: words ? `${words} (${key})` : key, "aria-keyshortcuts": /^[A-Z]$/.test(key) ? `Shift+${key}` : key };
}

/** Move the focus to the next visible element of the content that `selector` names, or to the previous one; behind the last comes the first. */
export function stepFocus(selector: string, step: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>(`#main :is(${selector})`)].filter((one) => one.checkVisibility());
  const side = step > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const beyond = all.filter((one) => ((document.activeElement ?? document.body).compareDocumentPosition(one) & side) > 0);
  const to = beyond.length ? beyond : all;
  to.at(step > 0 ? 0 : -1)?.focus();
}

function subscribe(listener: () => void): () => void {
  listeners = [...listeners, listener];
  return () => {
    listeners = listeners.filter((one) => one !== listener);
  };
}

/** How many layers of keys there are: what shows the bindings draws itself again when that changes. */
export function useLayers(): number {
  return useSyncExternalStore(subscribe, () => layers.length);
}
