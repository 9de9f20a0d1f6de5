import type { TurnPart } from "../../../data/types";
import { LeftOut } from "../../../components/text/Clipped";
import { TextPieces } from "../../../components/text/TextPieces";
import styles from "./Conversation.module.css";
import { Passage } from "./Passage";

type MarkedText = NonNullable<TurnPart["answer"]["actual"]>;

/** The final response of a turn; if it is another one than expected, both side by side with the words that differ. */
export function Answer({ turn }: { turn: TurnPart }) {
  const { expected, actual, same } = turn.answer;
  const name = turn.authors.at(-1) ?? "agent";
  if (!expected && !actual) return turn.failure ? null : <Passage role="agent" name={name} note="no final response">{null}</Passage>;
  return (
    <Passage role="agent" name={name}>
      <div className={styles.answerHead}>{answerHead(Boolean(expected), Boolean(actual), same)}</div>
      {expected && actual && !same ? (
        <div className={styles.pair}>
          <Side name="expected" marked={expected} />
          <Side name="actual" marked={actual} />
        </div>
      ) : actual ? (
        <Text marked={actual} side="actual" />
      ) : (
        expected && <Text marked={{ ...expected, pieces: expected.pieces.map((piece) => ({ ...piece, changed: true })) }} side="expected" />
      )}
    </Passage>
  );
}

function answerHead(expected: boolean, actual: boolean, same: boolean): string {
  if (!expected) return "final response (the case expects no text)";
  if (!actual) return "final response: expected, but missing";
  return same ? "final response, as expected" : "final response";
}

function Side({ name, marked }: { name: "expected" | "actual"; marked: MarkedText }) {
  return (
    <div className={styles.side} role="group" aria-label={`${name} response`}>
      <div className={styles.sideHead}>{name}</div>
      <Text marked={marked} side={name} />
    </div>
  );
}

function Text({ marked, side }: { marked: MarkedText; side: "expected" | "actual" }) {
  return (
    <div className={styles.text}>
      <TextPieces pieces={marked.pieces} side={side} />
      {marked.left_out > 0 && <LeftOut count={marked.left_out} />}
    </div>
  );
}
