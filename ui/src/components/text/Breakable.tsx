import { Fragment } from "react";
import { safeText } from "./safeText";

/** A long name that may break behind its underscores, dots, dashes and slashes. */
export function Breakable({ text }: { text: string }) {
  return safeText(text)
    .split(/(?<=[_./-])/)
    .map((part, index) => (
      <Fragment key={index}>
        {index > 0 && <wbr />}
        {part}
      </Fragment>
    ));
}
