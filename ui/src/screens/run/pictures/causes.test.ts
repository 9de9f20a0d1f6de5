import { describe, expect, it } from "vitest";
import type { RunPage } from "../../../data/types";
import { readFilter } from "../caseFilter";
import { causeFilter, causesMarkdown, sinceText, trendLabel } from "./causes";

const CAUSES = [
  { text: "trajectory: `verify_identity` was not called, or too late", cases: 11, before: 0 },
  { text: "answer: … of the reference's … words are in the answer", cases: 1, before: 1 },
  { text: 'sql: `a` "b" \\ c', cases: 1, before: 1 },
];

describe("the causes of failures", () => {
  it.each(CAUSES)("filter the cases: $text", (cause) => {
    const { takes, problem } = readFilter(causeFilter(cause), { metrics: [], sets: [], tags: [] });
    expect(problem).toBe("");
    const row = (text: string) => ({ cause: text, why: "" }) as Parameters<typeof takes>[0];
    expect([takes(row(cause.text)), takes(row("another"))]).toEqual([true, false]);
  });

  it.each([[null, ""], [0, "new"], [1, "1 case"], [3, "3 cases"]])("have the number of the run before: %s", (before, text) => {
    expect(sinceText({ before })).toBe(text);
  });

  it("are copied with their sizes in the last runs", () => {
    const page = { causes: CAUSES, against: null } as Partial<RunPage> as RunPage;
    const trend = { runs: [1, 2, 3].map(() => ({ run_id: "", short: "", created_at: 0, failed: 0 })), causes: [{ text: CAUSES[0]?.text ?? "", sizes: [0, 4, 11], since: "since 7f3k2c (2 runs)" }] };
    expect(causesMarkdown(page, trend)).toContain("| Last 3 runs |");
    expect(causesMarkdown(page, trend)).toContain("| 11 | 0, 4, 11 (since 7f3k2c (2 runs)) |");
    expect(trendLabel({ text: "", sizes: [0, 4, 11], since: "" }, trend)).toBe("cases in each of the last 3 runs: 0, 4, 11");
  });

  it("are copied as a table", () => {
    const page = { causes: CAUSES, against: { short: "7f3k2c" } } as Partial<RunPage> as RunPage;
    expect(causesMarkdown(page)).toContain("| trajectory: `verify_identity` was not called, or too late | 11 | new |");
    expect(causesMarkdown({ ...page, against: null })).not.toContain("new");
  });
});
