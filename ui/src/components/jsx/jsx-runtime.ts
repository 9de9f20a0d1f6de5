// The functions that JSX is compiled to: React's, but the text that an element shows has no unsafe characters (`safeText`). So
// every text of agents, models and files is safe wherever it is shown, and no screen has to remember it.
import { type ElementType, type Key, type ReactElement } from "react";
import { Fragment, jsx as reactJsx, jsxs as reactJsxs } from "react/jsx-runtime";
import { safeText } from "../text/safeText";

export { Fragment };

export type Props = Record<string, unknown>;

const SHOWN = ["children", "title", "aria-label", "placeholder"];

/** The properties of an element with safe text; the same object if all of it is. */
export function safeProps(props: Props): Props {
  const changed = SHOWN.flatMap((name) => {
    const value = safe(props[name]);
    return value === props[name] ? [] : [[name, value]];
  });
  return changed.length ? { ...props, ...Object.fromEntries(changed) } : props;
}

function safe(value: unknown): unknown {
  if (typeof value === "string") return safeText(value);
  if (!Array.isArray(value)) return value;
  const texts = value.map(safe);
  return texts.some((text, index) => text !== value[index]) ? texts : value;
}

export function jsx(type: ElementType, props: Props, key?: Key): ReactElement {
  return reactJsx(type, safeProps(props), key);
}

export function jsxs(type: ElementType, props: Props, key?: Key): ReactElement {
  return reactJsxs(type, safeProps(props), key);
}
