import type { CasePage, TrialPage } from "../../data/types";

/** The part of a case that the address names. Trials, turns and steps count from 1 there. */
export interface CaseLocation {
  /** From 0; null: the most informative trial. */
  trial: number | null;
  turn: number | null;
  step: number | null;
  tab: string;
}

const TABS = ["conversation", "tools", "state", "metrics", "spans", "judges"] as const;

export function readCaseLocation(query: URLSearchParams): CaseLocation {
  const tab = query.get("tab") ?? "";
  return {
    trial: from0(query.get("trial")),
    turn: from0(query.get("turn")),
    step: from0(query.get("step")),
    tab: (TABS as readonly string[]).includes(tab) ? tab : "conversation",
  };
}

/** The trial to begin with: the one the address names, else the first that shows why the case is what it is, else the first. */
export function trialToShow({ outcome, trials }: Pick<CasePage, "outcome" | "trials">, named: number | null): number | null {
  const telling = outcome === "passed" ? undefined : (trials.find((one) => one.outcome === outcome) ?? trials.find((one) => one.outcome !== "passed"));
  const found = trials.find(({ number }) => number === named) ?? telling ?? trials[0];
  return found?.number ?? null;
}

function whole(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}

function from0(text: string | null): number | null {
  const found = whole(text);
  return found === null ? null : found - 1;
}

/** Something in a trial that is not as expected. `step` is null if it concerns a whole turn, for example its answer. */
export interface Difference {
  tab: "conversation" | "state";
  turn: number | null;
  step: number | null;
}

/** Everything that is not as expected, in the order in which a person reads: turn by turn, then the final state. */
export function differences(trial: TrialPage): Difference[] {
  const found: Difference[] = [];
  for (const turn of trial.turns) {
    const before = found.length;
    turn.steps.forEach(({ kind }, step) => {
      if (kind !== null && kind !== "same") found.push({ tab: "conversation", turn: turn.index, step });
    });
    if (turn.differs && found.length === before) found.push({ tab: "conversation", turn: turn.index, step: null });
  }
  if (trial.state.rows.some(({ kind }) => kind !== null && kind !== "same")) {
    found.push({ tab: "state", turn: null, step: null });
  }
  return found;
}

/** The difference after (or before) the one that the address names; round at the end. */
export function nextDifference(all: readonly Difference[], at: CaseLocation, back = false): Difference | null {
  const place = (one: Difference): number => order(one.tab, one.turn, one.step);
  const here = order(at.tab === "state" ? "state" : "conversation", at.turn, at.step);
  const sorted = back ? [...all].reverse() : all;
  const beyond = sorted.find((one) => (back ? place(one) < here : place(one) > here));
  return beyond ?? sorted[0] ?? null;
}

const MANY = 1e6;

function order(tab: string, turn: number | null, step: number | null): number {
  if (tab === "state") return MANY * MANY;
  return (turn === null ? -1 : turn) * MANY + (step === null ? -0.5 : step);
}

/** The id of a turn, or of a step in it, on the page. */
export function idOf(turn: number, step: number | null = null): string {
  return step === null ? `turn-${turn + 1}` : `turn-${turn + 1}-step-${step + 1}`;
}
