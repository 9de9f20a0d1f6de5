// As `jsx-runtime`, for the development server and the tests.
import { type ElementType, type Key, type ReactElement } from "react";
import { Fragment, type JSXSource, jsxDEV as reactJsx } from "react/jsx-dev-runtime";
import { type Props, safeProps } from "./jsx-runtime";

export { Fragment };

export function jsxDEV(type: ElementType, props: Props, key: Key | undefined, isStatic: boolean, source?: JSXSource, self?: unknown): ReactElement {
  return reactJsx(type, safeProps(props), key, isStatic, source, self);
}
