import { describe, expect, it } from "vitest";
import type { AuditPage, AuditedJudge } from "../../data/types";
import { auditMarkdown, countedClasses, countedMutants, rateText } from "./auditText";

const share = (count: number, of: number) => ({ count, of, rate: of ? count / of : null, low: 0.1, high: 0.9 });
const judge: AuditedJudge = {
  metric: "final_response_match_v2",
  model: "openai:gpt-5",
  recorded: share(8, 8),
  mutants: share(0, 5),
  passes_everything: true,
  classes: [{ label: "wrong numbers", family: "answers", is_agent: false, noticed: share(0, 5) }],
  notes: ["Without a verdict: 2"],
};
const page = {
  sentence: "Catches 3 of 8 mutants.", paths: ["a.evalset.json"], classes: [], cases: [], notes: [],
  judges: [judge], asked: "Judges were asked about 5 of 9 mutants.",
} as unknown as AuditPage;

describe("the judges of an audit", () => {
  it.each([
    ["recorded", judge, "It passes 8 of 8 recorded conversations: true positive rate 100 %, 95 % CI: 10–90"],
    ["mutants", judge, "It fails 0 of 5 mutants: true negative rate 0 %, 95 % CI: 10–90"],
    ["mutants", { ...judge, mutants: share(0, 0) }, "It fails 0 of 0 mutants: true negative rate unknown"],
  ] as const)("%s: the rate with its interval", (part, of, text) => {
    expect(rateText(of, part).replace(/\s/g, " ")).toBe(text);
  });

  it("are in the Markdown with the rate of each class, and a judge that passes everything is named", () => {
    const text = auditMarkdown(page);
    expect(text).toContain("**Judge `final_response_match_v2` (`openai:gpt-5`)**: it passes everything");
    expect(text).toContain("| wrong numbers | 0/5 |");
    expect(text).toContain("Judges were asked about 5 of 9 mutants.");
  });

  it("count classes", () => {
    expect([1, 2].map(countedClasses)).toEqual(["1 more class", "2 more classes"]);
  });
});

describe("the mutants of a case", () => {
  it.each([
    [2, 0, "2 mutants"],
    [1, 1, "1 mutant and 1 agent that does nothing"],
    [0, 6, "6 agents that do nothing"],
    [0, 0, "0 mutants"],
  ])("%s and %s agents", (mutants, agents, text) => {
    const lines = Array.from({ length: mutants + agents }, (_, index) => ({ is_agent: index < agents }));
    expect(countedMutants(lines)).toBe(text);
  });
});
