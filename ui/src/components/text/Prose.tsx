import { Breakable } from "./Breakable";
import styles from "./Clipped.module.css";
import { safeText } from "./safeText";

/** A sentence of Proctor: text in backticks is a name or a value. Nothing else is markup. */
export function Prose({ text }: { text: string }) {
  const parts = safeText(text).split(/(`[^`\n]+`)/);
  return (
    <span className={styles.text}>
      {parts.map((part, index) =>
        index % 2 ? (
          <code key={index} className={styles.name}>
            {part.slice(1, -1)}
          </code>
        ) : (
          <Breakable key={index} text={part} />
        ),
      )}
    </span>
  );
}
