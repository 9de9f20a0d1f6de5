import type { StepPart, TurnPart } from "../../../data/types";

const LONG = 6; // equal steps in a row from which their middle is folded
const KEPT = 2; // of them at either end

/** Steps to show one after the other, or a number of them that are folded into one line. */
export type Stretch = { from: number; to: number; folded: boolean };

/** Cut the steps of a turn into stretches: of a long run of equal ones only the ends are of interest. */
export function stretches(steps: readonly StepPart[], opened: ReadonlySet<number>, at: number | null): Stretch[] {
  const found: Stretch[] = [];
  const add = (from: number, to: number, folded: boolean): void => {
    const last = found[found.length - 1];
    if (last && !last.folded && !folded) last.to = to;
    else if (to > from) found.push({ from, to, folded });
  };
  for (let from = 0; from < steps.length; ) {
    let to = from + 1;
    while (to < steps.length && quiet(steps[from]) && quiet(steps[to])) to += 1;
    const [first, end] = [from + KEPT, to - KEPT];
    const named = at !== null && at >= first && at < end;
    if (to - from >= LONG && !opened.has(first) && !named) {
      add(from, first, false);
      add(first, end, true);
      add(end, to, false);
    } else add(from, to, false);
    from = to;
  }
  return found;
}

function quiet(step: StepPart | undefined): boolean {
  return step !== undefined && (step.kind === "same" || step.kind === null);
}

const MOST_OPEN = 8; // turns up to which all are open if none differs

/** Whether the turns that went as expected are folded: where others did not, and where there are many. */
export function foldsExpected(turns: readonly TurnPart[]): boolean {
  return turns.length > MOST_OPEN || (turns.length > 1 && turns.some(({ differs }) => differs));
}

/** Whether a turn is shown whole at first. */
export function isOpen(turn: TurnPart, folds: boolean, at: number | null): boolean {
  return !folds || turn.differs || turn.index === at;
}

const LONGEST = 160;

/** A turn in one line: what the user wrote, the number of calls, and the answer. */
export function turnSummary({ user, steps, answer }: TurnPart): string {
  const calls = steps.filter(({ call }) => call !== null).length;
  const text = (answer.actual?.pieces ?? []).map((piece) => piece.text).join("");
  const parts = [user.text, calls ? `${calls} ${calls === 1 ? "call" : "calls"}` : "", text];
  return parts.filter(Boolean).map((part) => part.slice(0, LONGEST)).join(" → ");
}
