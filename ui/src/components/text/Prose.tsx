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
            {part}
          </code>
        ) : (
          <Breakable key={index} text={part} />
        ),
      )}
    </span>
  );
}
