import { pathOf } from "../../data/queries";
import type { ChangedLine, ComparisonPage, MeasuredLine, RunRow } from "../../data/types";
import { CHANGE_WORDS, capital } from "../../components/terms/caseWords";
import { agoText, countText, numText } from "../../components/text/numberFormats";
import { safeText } from "../../components/text/safeText";

/** What a reader calls each kind of change, in the order in which they are listed. */
export const CHANGES: Readonly<Record<ChangedLine["change"], [word: string, outcome: string]>> = {
  now_fails: [capital(CHANGE_WORDS.now_fails[0]), "worse"],
  missing: [capital(CHANGE_WORDS.missing[0]), "error"],
  now_in_error: [capital(CHANGE_WORDS.now_in_error[0]), "error"],
  now_passes: [capital(CHANGE_WORDS.now_passes[0]), "better"],
  no_longer_in_error: [capital(CHANGE_WORDS.no_longer_in_error[0]), "inconclusive"],
  fewer_pass: [capital(CHANGE_WORDS.fewer_pass[0]), "inconclusive"],
  more_pass: [capital(CHANGE_WORDS.more_pass[0]), "inconclusive"],
  within_noise: [capital(CHANGE_WORDS.within_noise[0]), "inconclusive"],
};

/** The sign of a change; a case that the candidate did not reach is neither worse nor in error. */
export function markOf({ change, candidate }: Pick<ChangedLine, "change" | "candidate">): string {
  return change === "missing" && !candidate ? "not_run" : CHANGES[change][1];
}

export type Change = keyof typeof CHANGES;

/** The sentence without the outcome, which is next to the heading. */
export function sentenceText(sentence: string): string {
  return plainText(sentence.slice(sentence.indexOf(": ") + 2));
}

/** A sentence of the comparison, with a capital letter and a full stop. */
export function plainText(rest: string): string {
  return `${rest.charAt(0).toUpperCase()}${rest.slice(1)}.`.replace(/ x (?=\d)/g, " × ").replace(/(?<=\d) %/g, "\u202f%").replace(/(^|[\s(])-(?=\d)/g, "$1−");
}

/** `2 now fail, 1 has missing verdicts, 37 unchanged, 1 unknown`: each number is that of the list, which has no unknown case. */
export function changeSummary(page: ComparisonPage): string {
  const counts = (Object.keys(CHANGES) as Change[]).map((change) => [countOf(page, change), change] as const);
  const some = counts.filter(([count]) => count > 0).map(([count, change]) => countText(count, CHANGE_WORDS[change][0], CHANGE_WORDS[change][1]));
  const unknown = page.without_verdicts > 0 ? [`${numText(page.without_verdicts)} unknown`] : [];
  return [...some, `${numText(page.same)} unchanged`, ...unknown].join(", ");
}

export function countOf(page: ComparisonPage, change: Change): number {
  return page.cases.filter((one) => one.change === change).length;
}

/** How far the bars reach to each side: shares and scores have one scale together, a figure has its own. */
export function reaches(measures: readonly MeasuredLine[]): (one: MeasuredLine) => number {
  const reach = (one: MeasuredLine) => Math.max(...[one.low, one.high, one.difference].map((value) => Math.abs(value ?? 0))) * 1.05;
  const shared = Math.max(0, ...measures.filter(({ figure }) => !figure).map(reach)) || 1;
  return (one) => (one.figure ? reach(one) || 1 : shared);
}

/** Whether a difference is good news: what is not significant is neither. */
export function toneOf(one: MeasuredLine): "worse" | "better" | "same" {
  return one.verdict === "worse" || one.verdict === "better" ? one.verdict : "same";
}

/** `96 % CI` */
export function ciText(confidence: number): string {
  return `${Number((100 * confidence).toPrecision(3))} % CI`;
}

/** `12`; `7 of 11` if values are missing: the means are of seven cases. */
export function pairsText({ known, pairs }: Pick<MeasuredLine, "known" | "pairs">): string {
  return known === pairs ? numText(pairs) : `${numText(known)} of ${numText(pairs)}`;
}

export function probability(value: number): string {
  return value < 0.001 ? "< 0.001" : String(Number(value.toPrecision(2)));
}

/** A run in a list to choose from. */
export function runName(row: RunRow): string {
  return `${row.short} · ${safeText(row.agent)} · ${safeText(row.sets.join(", "))} · ${agoText(row.created_at)}`;
}

export interface ComparisonQuery {
  base: string;
  candidate: string;
  margin: string | null;
}

/** Where the API has one case of two runs side by side. */
export function pairPath({ base, candidate }: { base: { run_id: string }; candidate: { run_id: string } }, one: { eval_set_id: string; eval_id: string }): string {
  return pathOf("/api/compare/case", { base: base.run_id, candidate: candidate.run_id, set: one.eval_set_id, case: one.eval_id });
}

/** Where the API has a comparison; without runs, that of the newest two that share cases. */
export function apiPath({ base, candidate, margin }: Partial<ComparisonQuery>): string {
  return pathOf("/api/compare", { base, candidate, margin });
}

/** A case by words in its name and in why, and by its kind. */
export function caseMatcher(text: string, only: string): (one: ChangedLine) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (one) => {
    if (only && one.change !== only) return false;
    const searched = `${one.eval_set_id}/${one.eval_id} ${one.metric} ${one.reason} ${one.before}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  };
}

/** The changed case before or after the one that is shown. */
export function neighbourOf(cases: readonly ChangedLine[], set: string, id: string, step: 1 | -1): ChangedLine | null {
  const at = cases.findIndex((one) => one.eval_set_id === set && one.eval_id === id);
  return at < 0 ? null : (cases[at + step] ?? null);
}

export function caseHref(run: string, position: number | null, trial: number | null = null): string | null {
  if (position === null) return null;
  return pathOf(`/runs/${encodeURIComponent(run)}/cases/${position}`, { trial: trial === null ? null : trial + 1 });
}
