import type { AgentsPage } from "./types";

/** Eval sets, those in the agent's own folder first: the most likely choice for that agent. */
export function agentSetsFirst<Set extends { path: string }>(sets: readonly Set[], agents: AgentsPage | undefined, agent: string): Set[] {
  const folder = agents?.items.find(({ name }) => name === agent)?.reference;
  const isOwn = ({ path }: Set) => folder !== undefined && path.startsWith(`${folder}/`);
  return [...sets.filter(isOwn), ...sets.filter((one) => !isOwn(one))];
}
