// The line that the runs are filtered by: `agent:travel* outcome:failed,error since:7d`.

import { pathOf } from "../../data/queries";

export const OUTCOMES = ["passed", "failed", "error", "inconclusive", "skipped", "not_run"] as const;
const STATES = ["running", "interrupted", "finished"] as const;
export const PAGE = 100;

interface RunFilter {
  agent: string;
  set: string;
  outcome: string[];
  state: string[];
  /** Only those with a star. */
  starred: boolean;
  /** Unix seconds; 0: from the beginning. */
  since: number;
  /** What was not understood, in words. */
  problems: string[];
}

const UNITS: Record<string, number> = { h: 3600, d: 86_400, w: 7 * 86_400 };

/** Read the line. `now` in Unix seconds. A single word is part of an agent's name. */
export function readFilter(line: string, now: number = Date.now() / 1000): RunFilter {
  const filter: RunFilter = { agent: "", set: "", outcome: [], state: [], starred: false, since: 0, problems: [] };
  for (const word of line.split(/\s+/).filter(Boolean)) readWord(filter, word, now);
  return filter;
}

function readWord(filter: RunFilter, word: string, now: number): void {
  const [, name = "", value = ""] = /^([a-z]+):(.*)$/.exec(word) ?? [];
  if (word === "starred") filter.starred = true;
  else if (!name) filter.agent = filter.agent ? `${filter.agent}*${word}*`.replaceAll("**", "*") : `*${word}*`;
  else if (value === "") return; // still being typed
  else if (name === "agent" || name === "set") filter[name] = value;
  else if (name === "outcome") filter.outcome = readNames(value, OUTCOMES, name, filter.problems);
  else if (name === "state") filter.state = readNames(value, STATES, name, filter.problems);
  else if (name === "since") filter.since = momentOf(value, now, filter.problems);
  else filter.problems.push(`unknown field ${name}: (expected agent, set, outcome, state or since)`);
}

function readNames(value: string, names: readonly string[], what: string, problems: string[]): string[] {
  const values = value.split(",").filter(Boolean);
  const unknown = values.filter((one) => !names.includes(one));
  if (unknown.length) problems.push(`not a valid ${what}: ${unknown.join(", ")} (expected ${names.join(", ")})`);
  return values.filter((one) => names.includes(one));
}

function momentOf(value: string, now: number, problems: string[]): number {
  const [, count, unit] = /^(\d+)([hdw])$/.exec(value) ?? [];
  if (count && unit) return now - Number(count) * (UNITS[unit] ?? 0);
  const day = /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(`${value}T00:00:00`).getTime() / 1000 : NaN;
  if (Number.isFinite(day)) return day;
  problems.push(`not a valid time: since:${value} (expected e.g. 12h, 7d, 2w or 2026-11-01)`);
  return 0;
}

/** The API's path for what the line asks for. */
export function runsPath({ agent, set, outcome, state, starred }: RunFilter, before: string | null): string {
  const path = pathOf("/api/runs", { limit: PAGE, before, agent, set, starred: starred ? "true" : null });
  const lists = [...outcome.map((one) => `outcome=${one}`), ...state.map((one) => `state=${one}`)];
  return [path, ...lists].join("&");
}
