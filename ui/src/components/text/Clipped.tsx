import type { Clip } from "../../data/types";
import styles from "./Clipped.module.css";
import { numText } from "./numberFormats";

/** A text as it came; where only its beginning is here, how much is not. */
export function Clipped({ clip, mono = false }: { clip: Clip; mono?: boolean }) {
  return (
    <span className={`${styles.text} ${mono ? styles.mono : ""}`}>
      {clip.text}
      {clip.left_out > 0 && <LeftOut count={clip.left_out} />}
    </span>
  );
}

/** How many characters are not shown. */
export function LeftOut({ count }: { count: number }) {
  return <span className={styles.left}> … {numText(count)} more characters</span>;
}
