import styles from "./TextPieces.module.css";
import { safeText } from "./safeText";

/** A stretch of text; `changed` where the two sides differ in it. Made by the server, never here. */
export interface Piece {
  text: string;
  changed: boolean;
}

type Tone = "mark" | "ins" | "del";

/** One side of a difference: only what differs is marked. `tone`: `del` for the expected side, `ins` for the actual one. */
export function TextPieces({ pieces, tone = "mark" }: { pieces: readonly Piece[]; tone?: Tone }) {
  const Mark = tone;
  return (
    <span className={styles.text}>
      {pieces.map(({ text, changed }, index) =>
        changed ? <Mark key={index}>{safeText(text)}</Mark> : <span key={index}>{safeText(text)}</span>,
      )}
    </span>
  );
}

/** Expected → actual in one text: what is gone is struck through, what is new is marked. */
export function InlineDifference({ expected, actual }: { expected: readonly Piece[]; actual: readonly Piece[] }) {
  return (
    <span className={styles.text}>
      {mergePieces(expected, actual).map(({ text, side }, index) =>
        side === "both" ? (
          <span key={index}>{safeText(text)}</span>
        ) : side === "expected" ? (
          <del key={index}>{safeText(text)}</del>
        ) : (
          <ins key={index}>{safeText(text)}</ins>
        ),
      )}
    </span>
  );
}

export interface MergedPiece {
  text: string;
  side: "both" | "expected" | "actual";
}

/** Put both sides into one line. Unchanged stretches stand on both sides in the same order. */
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
