import { shellWord } from "../run/Details";
import type { BlessCase, BlessPage, CaseRow } from "../../data/types";
import { countText } from "../../components/text/numberFormats";

/** What the address asks for: `cases=3,7`, `trials=3:2,7:1` (trials from 1), `trial=2` of the only case, `force=1`. */
interface BlessRequest {
  cases: number[] | null;
  trials: Record<string, number>;
  force: boolean;
}

export function readBlessRequest(query: URLSearchParams): BlessRequest {
  const cases = numbers(query.get("cases"));
  const trials: Record<string, number> = {};
  for (const pair of (query.get("trials") ?? "").split(",")) {
    const [position, trial] = pair.split(":");
    if (isWhole(position) && isWhole(trial) && Number(trial) > 0) trials[position] = Number(trial) - 1;
  }
  const [only] = cases ?? [];
  const trial = query.get("trial");
  if (only !== undefined && cases?.length === 1 && isWhole(trial) && Number(trial) > 0) trials[String(only)] ??= Number(trial) - 1;
  return { cases, trials, force: query.get("force") === "1" };
}

function numbers(text: string | null): number[] | null {
  const found = (text ?? "").split(",").filter(isWhole).map(Number);
  return found.length ? found : null;
}

function isWhole(text: string | null | undefined): text is string {
  return typeof text === "string" && /^\d{1,9}$/.test(text);
}

/** The cases of a table that were scored and did not pass, in the order of the run. */
export function positionsToBless(rows: readonly Pick<CaseRow, "position" | "outcome">[]): number[] {
  const others = rows.filter(({ outcome }) => ["failed", "error", "inconclusive"].includes(outcome));
  return others.map(({ position }) => position).sort((a, b) => a - b);
}

/** The cases in the order of a table's rows; cases without a row come last. */
export function sortAsTable(cases: readonly BlessCase[], rows: readonly Pick<CaseRow, "position">[]): BlessCase[] {
  const places = new Map(rows.map(({ position }, place) => [position, place]));
  const placeOf = ({ position }: BlessCase) => places.get(position) ?? rows.length;
  return [...cases].sort((one, other) => placeOf(one) - placeOf(other));
}

/** The cases of which something would be written. */
export function changedCases(cases: readonly BlessCase[]): BlessCase[] {
  return cases.filter(({ status }) => status === "changes");
}

/** The cases whose trials all ended alike: one of these can stand for the others. */
export function steadyCases(cases: readonly BlessCase[]): BlessCase[] {
  return cases.filter(({ flaky, differ }) => !flaky && !differ);
}

/** The command that does the same: one for each trial that was chosen for some of the cases; empty without a case. */
export function blessCommand(run: string, accepted: readonly BlessCase[], { trials, force }: Pick<BlessRequest, "trials" | "force">): string {
  const chosen = new Set(accepted.map(({ position }) => trials[String(position)]));
  return [...chosen]
    .map((trial) => {
      const names = accepted.filter(({ position }) => trials[String(position)] === trial).map(({ eval_set_id, eval_id }) => `${eval_set_id}/${eval_id}`);
      const options = [...(trial === undefined ? [] : ["--trial", String(trial + 1)]), ...(force ? ["--force"] : [])];
      return ["proctor", "bless", run, ...names, ...options].map(shellWord).join(" ");
    })
    .join(" && ");
}

/** Comments that would go with what is accepted, each with its file. */
export function lostComments(page: BlessPage, accepted: readonly BlessCase[]): string[] {
  const files = new Set(accepted.map(({ path }) => path));
  const elsewhere = page.files.filter(({ path }) => files.has(path)).flatMap(({ path, lost }) => lost.map((one) => `${path}:${one}`));
  return [...accepted.flatMap(({ path, lost }) => lost.map((one) => `${path}:${one}`)), ...elsewhere];
}

/** What the button does: `Write 2 cases into bookings.evalset.json`. */
export function writeButtonText(accepted: readonly BlessCase[]): string {
  const files = [...new Set(accepted.map(({ path }) => path))];
  const into = files.length === 1 ? files[0]?.split(/[\\/]/).pop() : `${files.length} files`;
  if (!accepted.length) return "Nothing accepted";
  return `Write ${countText(accepted.length, "case")} into ${into}`;
}
