import styles from "./TextPieces.module.css";
import { safeText } from "./safeText";

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
        changed ? <Changed key={index} text={text} side={side} /> : <span key={index}>{safeText(text)}</span>,
      )}
    </span>
  );
}

/** Expected → actual in one text, with the marks of both sides. */
export function InlineDifference({ expected, actual }: { expected: readonly Piece[]; actual: readonly Piece[] }) {
  return (
    <span className={`${styles.text} ${styles.inline}`}>
      {mergePieces(expected, actual).map(({ text, side }, index) =>
        side === "both" ? <span key={index}>{safeText(text)}</span> : <Changed key={index} text={text} side={side} />,
      )}
    </span>
  );
}

function Changed({ text, side }: { text: string; side: Side }) {
  const Mark = side === "expected" || side === "before" ? "del" : "ins";
  return <Mark className={styles[side]}>{safeText(text)}</Mark>;
}

export interface MergedPiece {
  text: string;
  side: "both" | "expected" | "actual";
}

/** Put both sides into one line. Both sides contain the unchanged stretches in the same order. */
export function mergePieces(expected: readonly Piece[], actual: readonly Piece[]): MergedPiece[] {
  const out: MergedPiece[] = [];
  let at = 0;
  const takeChanged = (): void => {
    for (let next = actual[at]; next?.changed; next = actual[++at]) out.push({ text: next.text, side: "actual" });
  };
  for (const { text, changed } of expected) {
    if (changed) {
      out.push({ text, side: "expected" });
      continue;
    }
    takeChanged();
    out.push({ text, side: "both" });
    if (actual[at] && !actual[at]?.changed) at += 1;
  }
  takeChanged();
  return out;
}
