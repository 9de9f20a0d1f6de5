import { Fragment } from "react";
import { visible } from "./safeText";

/** A long name that may break behind its underscores, dots, dashes and slashes. */
export function Breakable({ text }: { text: string }) {
  return visible(text)
    .split(/(?<=[_./-])/)
    .map((part, index) => (
      <Fragment key={index}>
        {index > 0 && <wbr />}
        {part}
      </Fragment>
    ));
}
