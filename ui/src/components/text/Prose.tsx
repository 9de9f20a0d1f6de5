import { Fragment } from "react";
import { Breakable } from "./Breakable";
import styles from "./Clipped.module.css";
import { codeParts } from "./markdown";
import { safeText } from "./safeText";

/** A sentence of Proctor: text that is marked as code is a name or a value. Nothing else is markup. */
export function Prose({ text }: { text: string }) {
  const parts = codeParts(safeText(text));
  return (
    <span className={styles.text}>
      {parts.map((part, index) =>
        index % 2 ? (
          <code key={index} className={styles.name}>
            <Code text={part} />
          </code>
        ) : (
          <Breakable key={index} text={part} />
        ),
      )}
    </span>
  );
}

/** A call whose line breaks rather behind a bracket, a comma or an equals sign than inside a name. */
function Code({ text }: { text: string }) {
  return text.split(/(?<=[(,=])/).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
