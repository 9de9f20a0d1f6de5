import { pathOf } from "../../data/queries";
import type { RunRow, RunsPage } from "../../data/types";
import { agoText, clockText, costText, numText, percentText, secondsText } from "../../components/text/numberFormats";
import { mdCode, mdTable, mdText } from "../../components/text/markdown";
import { outcomeWord } from "../../components/charts/Outcome";
import { afterComma, missingText, shortCommit } from "./runColumns";

/** What happened last: `greeter on greetings failed 5 min ago: 1 of 4 cases passed.` */
export function summary({ items, total }: RunsPage): string {
  const [first] = items;
  if (!first) return "";
  const last = items.reduce((newest, one) => (one.created_at > newest.created_at ? one : newest), first); // a file has them in its own order
  const on = `${last.agent} on ${last.sets.join(", ")}`;
  const { count, of } = last.pass_rate;
  const counted = `${numText(count)} of ${numText(of)} ${of === 1 ? "case" : "cases"} passed${afterComma(missingText(last))}`;
  const runs = total === 1 ? "One run is stored." : `${numText(total)} runs are stored.`;
  if (last.state === "running") return `${on} is running. ${runs}`;
  return `The latest run, ${on}, ${verb(last)} ${agoText(last.created_at)}: ${counted}. ${runs}`;
}

/** How many are listed: `7 of 10`; where there are more pages, only how many here. */
export function listedCountText(here: number, total: number, paged: boolean): string {
  return paged ? `${numText(here)} on this page, ${numText(total)} in total` : `${numText(here)} of ${numText(total)}`;
}

function verb({ outcome, standing }: RunRow): string {
  if (outcome === "passed" || outcome === "failed") return outcome;
  return `ended ${outcome ? outcomeWord(outcome) : standing}`;
}

/** Two runs side by side, more as a matrix; nothing for fewer. Oldest first. */
export function comparePath(chosen: readonly string[]): string | null {
  const [base, candidate] = chosen;
  if (base === undefined || candidate === undefined) return null;
  if (chosen.length > 2) return pathOf("/matrix", { runs: chosen.join(",") });
  return pathOf("/compare", { base, candidate });
}

const HEADS = ["Run", "Agent", "Sets", "Outcome", "Cases passed", "Cost", "Duration", "Commit", "Started"];

/** The rows as a table for an issue. */
export function asMarkdown(rows: readonly RunRow[]): string {
  return mdTable(HEADS, rows.map(cells), [4, 5, 6]);
}

function cells(row: RunRow): string[] {
  const { count, of, rate } = row.pass_rate;
  return [
    mdCode(row.short),
    mdText(row.agent),
    mdText(row.sets.join(", ")),
    outcomeWord(row.outcome ?? row.standing),
    of ? `${numText(count)} of ${numText(of)}${rate === null ? afterComma(missingText(row)) : ` (${percentText(rate)})`}` : missingText(row) || "–",
    costText(row),
    secondsText(row.duration),
    mdCode(shortCommit(row.commit)),
    clockText(row.created_at),
  ];
}
