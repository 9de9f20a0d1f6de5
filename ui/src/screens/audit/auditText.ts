import type { AuditPage, AuditRow, AuditedCasePage, AuditedCaseRow, AuditedJudge, AuditedSet, FaultClass, MutantLine, SurvivorPart } from "../../data/types";
import { mdCode, mdProse, mdTable, mdText } from "../../components/text/markdown";
import { scoreAgainstThreshold } from "../case/metricText";
import { boundsText, countText, numText, percentText } from "../../components/text/numberFormats";

/** `2 mutants and 1 agent that does nothing`: the mutation score does not count the agents. */
export function countedMutants(lines: readonly Pick<MutantLine, "is_agent">[]): string {
  const agents = lines.filter(({ is_agent }) => is_agent).length;
  const mutants = countText(lines.length - agents, "mutant");
  if (!agents) return mutants;
  const idle = `${countText(agents, "agent")} that ${agents === 1 ? "does" : "do"} nothing`;
  return agents < lines.length ? `${mutants} and ${idle}` : idle;
}

/** `1 more class`, `2 more classes`. */
export function countedClasses(count: number): string {
  return `${numText(count)} more ${count === 1 ? "class" : "classes"}`;
}

/** The share of a class from which it counts as caught, or as noticed by a judge. */
export const ENOUGH = 0.95;

/** `It passes 8 of 8 recorded conversations: true positive rate 100 %, 95 % CI: 68–100 %`. */
export function rateText(judge: AuditedJudge, part: "recorded" | "mutants"): string {
  const { count, of, rate, low, high } = judge[part];
  const [verb, noun, name] = part === "recorded" ? (["passes", "recorded conversation", "positive"] as const) : (["fails", "mutant", "negative"] as const);
  const figure = of ? `${percentText(rate)}, 95 % CI: ${boundsText(low, high)}` : "unknown";
  return `It ${verb} ${numText(count)} of ${countText(of, noun)}: true ${name} rate ${figure}`;
}

/** What an eval set catches: `catches 31 of 40 classes of faults`; for an audit of single classes, its mutants. */
export function catchesText({ caught, classes, classes_caught }: AuditedSet): string {
  if (!caught.of) return "no mutant could be made";
  return classes > 1
    ? `catches ${numText(classes_caught)} of ${numText(classes)} classes of faults`
    : `catches ${numText(caught.count)} of ${countText(caught.of, "mutant")}`;
}

/** All mutants of an audit, over its sets. */
export function totals({ sets }: Pick<AuditRow, "sets">): { count: number; of: number; blind: string[]; passedByAny: number } {
  return {
    count: sets.reduce((sum, { caught }) => sum + caught.count, 0),
    of: sets.reduce((sum, { caught }) => sum + caught.of, 0),
    blind: [...new Set(sets.flatMap(({ blind }) => blind))],
    passedByAny: sets.reduce((sum, one) => sum + one.passed_by_any, 0),
  };
}

export const STANDING_WORDS: Readonly<Record<FaultClass["standing"], readonly [outcome: string, word: string]>> = {
  caught: ["passed", "Caught"],
  weak: ["inconclusive", "Weak"],
  blind: ["failed", "Blind"],
  not_applicable: ["not_applicable", "Not applicable"],
};

/** The groups of cases that the table can be limited to. */
export const GROUPS = ["all", "survivors", "any", "redundant", "left-out"] as const;
export type Group = (typeof GROUPS)[number];

const GROUP_TESTS: Readonly<Record<Group, (row: AuditedCaseRow) => boolean>> = {
  all: () => true,
  survivors: ({ survivors }) => survivors > 0,
  any: ({ passed_by }) => passed_by.length > 0,
  redundant: ({ same_as }) => same_as !== "",
  "left-out": ({ problem }) => problem !== "",
};

export const GROUP_WORDS: Readonly<Record<Group, string>> = {
  all: "All",
  survivors: "With survivors",
  any: "Passed by an agent that does nothing",
  redundant: "Redundant",
  "left-out": "Not audited",
};

export function casesOf(cases: readonly AuditedCaseRow[], group: Group): AuditedCaseRow[] {
  return cases.filter(GROUP_TESTS[group]);
}

export function groupOf(name: string | null): Group {
  return GROUPS.find((one) => one === name) ?? "all";
}

/** The mutants of a case to show first: the survivors in their order, agents that do nothing first. */
export function survivorsOf({ mutants, survivors }: AuditedCasePage): { line: MutantLine; part: SurvivorPart | undefined }[] {
  return mutants
    .filter(({ fate }) => fate === "survived")
    .map((line) => ({ line, part: survivors.find(({ number }) => number === line.number) }));
}

/** Why a case passes with a mutant: `tool_trajectory_avg_score 1.00 ≥ 0.9`. */
export function whyPassed({ scores }: SurvivorPart): string[] {
  return scores.filter(({ gate, score }) => gate && score !== null).map(scoreAgainstThreshold);
}

// --- Markdown -------------------------------------------------------------------------------------------------------------

export function auditMarkdown(page: AuditPage): string {
  const classes = page.classes.filter(({ caught }) => caught.of > 0);
  const table = mdTable(
    ["class of faults", "caught", "share", "95 % CI", ""],
    classes.map((one) => [
      mdText(one.label),
      `${numText(one.caught.count)}/${numText(one.caught.of)}`,
      percentText(one.caught.rate),
      boundsText(one.caught.low, one.caught.high),
      one.standing === "caught" ? "" : one.standing,
    ]),
    [1, 2, 3],
  );
  const passed = casesOf(page.cases, "any").map(({ eval_id, passed_by }) => `* ${mdCode(eval_id)}: ${mdText(passed_by.join(", "))}`);
  return [
    `**Audit of ${page.paths.map(mdCode).join(", ")}**: ${mdText(page.sentence)}`,
    table,
    ...page.judges.map(judgeMarkdown),
    ...(page.asked ? [mdProse(page.asked)] : []),
    ...(passed.length ? ["Cases that an agent passes that does nothing:", passed.join("\n")] : []),
    ...(page.notes.length ? [page.notes.map((note) => `* ${mdProse(note)}`).join("\n")] : []),
  ].join("\n\n");
}

function judgeMarkdown(judge: AuditedJudge): string {
  const table = mdTable(
    ["mutants that the judge decided", "noticed", "true negative rate", "95 % CI"],
    judge.classes.map(({ label, noticed }) => [
      mdText(label),
      `${numText(noticed.count)}/${numText(noticed.of)}`,
      percentText(noticed.rate),
      boundsText(noticed.low, noticed.high),
    ]),
    [1, 2, 3],
  );
  const lines = [`* ${mdText(rateText(judge, "recorded"))}`, `* ${mdText(rateText(judge, "mutants"))}`, ...judge.notes.map((note) => `* ${mdProse(note)}`)];
  return [`**Judge ${mdCode(judge.metric)} (${mdCode(judge.model)})**${judge.passes_everything ? ": it passes everything" : ""}`, lines.join("\n"), ...(judge.classes.length ? [table] : [])].join("\n\n");
}
