import styles from "./TextPieces.module.css";

/** A stretch of text; `changed` where the two sides differ in it. Made by the server, never here. */
export interface Piece {
  text: string;
  changed: boolean;
}

/** Expected and actual of a trial, or a file before and after a change. */
type Side = "expected" | "actual" | "before" | "after";

/** One side of a difference: only what differs is marked. */
export function TextPieces({ pieces, side }: { pieces: readonly Piece[]; side: Side }) {
  return (
    <span className={styles.text}>
      {pieces.map(({ text, changed }, index) =>
        changed ? <Changed key={index} text={text} side={side} /> : <span key={index}>{text}</span>,
      )}
    </span>
  );
}

function Changed({ text, side }: { text: string; side: Side }) {
  const Mark = side === "expected" || side === "before" ? "del" : "ins";
  return <Mark className={styles[side]}>{text}</Mark>;
}
