import type { BallotPart } from "../../../data/types";

/** How the votes fell: `3 of 5 votes, 2 more could not change the result`. */
export function votesText({ votes, planned, agreement }: Pick<BallotPart, "votes" | "planned" | "agreement">): string {
  const usable = votes.filter(({ problem }) => !problem).length;
  const parts = [usable < votes.length ? `${usable} of ${votes.length} votes usable` : `${votes.length} ${votes.length === 1 ? "vote" : "votes"}`];
  const more = (planned ?? 0) - votes.length;
  if (more > 0) parts.push(usable ? `${more} more could not change the result` : `${more} not requested`);
  if (agreement !== null && usable > 1 && agreement < 1) parts.push("votes disagree");
  return parts.join(", ");
}
