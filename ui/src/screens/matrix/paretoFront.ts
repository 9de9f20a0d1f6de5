// Which of several runs to take: those that no other run beats in both quality and expense.
import type { MatrixHead } from "../../data/types";

export const EXPENSES = {
  cost: "Cost of a trial",
  seconds: "Duration of a turn",
  tokens: "Tokens of a turn",
} as const;

export type Expense = keyof typeof EXPENSES;

/** What a run has of an expense, with its interval; null: unknown. */
export function expenseOf(run: Pick<MatrixHead, Expense>, expense: Expense): { value: number; low: number | null; high: number | null } | null {
  if (expense !== "cost") return run[expense];
  return run.cost === null ? null : { value: run.cost, low: null, high: null };
}

/** The expenses that at least two runs know. */
export function knownExpenses(runs: readonly MatrixHead[]): Expense[] {
  return (Object.keys(EXPENSES) as Expense[]).filter((one) => runs.filter((run) => expenseOf(run, one) !== null && run.passed.rate !== null).length > 1);
}

interface Measured {
  quality: number;
  expense: number;
}

/** The places of those that no other beats: at least as good and not more expensive, and one of both strictly. */
export function paretoFront(runs: readonly Measured[]): number[] {
  const beats = (other: Measured, one: Measured) =>
    other.quality >= one.quality && other.expense <= one.expense && (other.quality > one.quality || other.expense < one.expense);
  return runs.flatMap((one, at) => (runs.some((other) => beats(other, one)) ? [] : [at]));
}
