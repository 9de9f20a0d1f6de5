import type { BallotPart } from "../../../data/types";
import { percentText } from "../../../components/text/numberFormats";

/** How the votes fell: `3 of 5 votes, 2 more could not change the result`. */
export function votesText({ votes, planned, agreement }: Pick<BallotPart, "votes" | "planned" | "agreement">): string {
  const usable = votes.filter(({ problem }) => !problem).length;
  const parts = [usable < votes.length ? `${usable} of ${votes.length} votes usable` : `${votes.length} ${votes.length === 1 ? "vote" : "votes"}`];
  const more = (planned ?? 0) - votes.length;
  if (more > 0) parts.push(usable ? `${more} more could not change the result` : `${more} not requested`);
  if (agreement !== null && usable > 1 && agreement < 1) parts.push("votes disagree");
  return parts.join(", ");
}

/** How many votes agree: `2 of 3 agree (67 %)`; only the share if it is not one of the usable votes, as the smallest of several rubrics. */
export function agreementText(agreement: number, votes: BallotPart["votes"]): string {
  const usable = votes.filter(({ problem }) => !problem).length;
  const count = Math.round(agreement * usable);
  const share = percentText(agreement);
  return usable && Math.abs(agreement * usable - count) < 0.01 ? `${count} of ${usable} agree (${share})` : `${share} agree`;
}
