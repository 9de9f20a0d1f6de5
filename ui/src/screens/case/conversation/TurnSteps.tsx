import { type ReactNode, useState } from "react";
import type { StepPart, TurnPart } from "../../../data/types";
import { type Step, Steps } from "../../../components/tables/Steps";
import { Clipped, LeftOut } from "../../../components/text/Clipped";
import { numText } from "../../../components/text/numberFormats";
import { idOf } from "../caseLocation";
import { isLone } from "../flow/lanes";
import styles from "./Conversation.module.css";
import { type Stretch, stretches } from "./folding";
import { Passage } from "./Passage";

/** Steps and the messages between them, in order. */
export function TurnSteps({ turn, at }: { turn: TurnPart; at: number | null }) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const blocks: ReactNode[] = [];
  let message = 0;
  const lone = isLone(turn);
  let headed = lone;
  const addMessages = (before: number) => {
    for (let next = turn.messages[message]; next && next.before <= before; next = turn.messages[++message]) {
      blocks.push(
        <Passage key={`message-${message}`} role="agent" name={next.author} note={next.thought ? "thinking" : ""}>
          <div className={next.thought ? styles.thought : styles.text}>
            <Clipped clip={next.text} />
          </div>
        </Passage>,
      );
    }
  };
  for (const part of splitAtMessages(turn, stretches(turn.steps, opened, at))) {
    addMessages(firstCall(turn.steps, part.from));
    blocks.push(
      <Passage key={`steps-${part.from}`} role="tools">
        {part.folded ? (
          <button type="button" aria-expanded={false} className={styles.fold} onClick={() => setOpened(new Set([...opened, part.from]))}>
            … {numText(part.to - part.from)} more that match
          </button>
        ) : (
          <Steps
            steps={turn.steps.slice(part.from, part.to).map((step) => asStep(step, turn))}
            heads={headed ? null : ["expected", "actual"]}
            lone={lone}
            at={at === null ? null : at - part.from}
            idOf={(index) => idOf(turn.index, part.from + index)}
          />
        )}
      </Passage>,
    );
    headed = true;
  }
  addMessages(Number.POSITIVE_INFINITY);
  return <>{blocks}</>;
}

/** Stretches, split at messages between two calls. */
function splitAtMessages(turn: TurnPart, all: readonly Stretch[]): Stretch[] {
  const messages = new Set(turn.messages.map(({ before }) => before));
  return all.flatMap((stretch) => {
    if (stretch.folded) return [stretch];
    const parts: Stretch[] = [];
    let from = stretch.from;
    for (let index = stretch.from + 1; index < stretch.to; index += 1) {
      const call = turn.steps[index]?.call;
      if (call !== null && call !== undefined && messages.has(call) && call !== firstCall(turn.steps, from)) {
        parts.push({ from, to: index, folded: false });
        from = index;
      }
    }
    return [...parts, { from, to: stretch.to, folded: false }];
  });
}

function firstCall(steps: readonly StepPart[], from: number): number {
  return steps.slice(from).find(({ call }) => call !== null)?.call ?? Number.POSITIVE_INFINITY;
}

function asStep(step: StepPart, turn: TurnPart): Step {
  const several = turn.authors.length > 1 && step.author;
  const left = (step.expected?.left_out ?? 0) + (step.actual?.left_out ?? 0);
  const below = step.response || several || left > 0 || step.broken.length > 0;
  return {
    kind: step.kind,
    fault: step.broken.length > 0,
    expected: step.expected?.pieces ?? [],
    actual: step.actual?.pieces ?? [],
    ...(below
      ? {
          below: (
            <>
              {left > 0 && <LeftOut count={left} />}
              {several && <span className={styles.author}>{step.author} </span>}
              {step.response && <Response step={step} />}
              <BrokenRules rules={step.broken} />
            </>
          ),
        }
      : {}),
  };
}

/** The rules that a call breaks. */
function BrokenRules({ rules }: { rules: readonly string[] }) {
  return rules.map((rule) => (
    <div key={rule} className={styles.broken}>
      <span aria-hidden>✕ </span>breaks the rule: {rule}
    </div>
  ));
}

const MAX_INLINE = 160;

/** What a tool answered: short ones whole, long ones when they are asked for. */
function Response({ step }: { step: StepPart }) {
  const { response } = step;
  if (!response) return null;
  if (response.text.length <= MAX_INLINE && !response.left_out) {
    return (
      <span>
        <span aria-hidden>→ </span>
        <span className="hidden">answered </span>
        <Clipped clip={response} mono />
      </span>
    );
  }
  return (
    <details className={styles.response}>
      <summary>
        → <code>{response.text.slice(0, 100)}…</code> {numText(response.text.length + response.left_out)} characters
      </summary>
      <Clipped clip={response} mono />
    </details>
  );
}
