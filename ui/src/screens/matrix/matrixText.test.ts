import { describe, expect, it } from "vitest";
import type { MatrixCell, MatrixHead, MatrixPage, MatrixRow } from "../../data/types";
import { asMarkdown, readRunNames, rowMatcher, summary, unplacedText, whyText } from "./matrixText";

function row(eval_id: string, differs: boolean, cells: (Partial<MatrixCell> | null)[] = []): MatrixRow {
  return { eval_set_id: "set", eval_id, metric: "m", differs, cells } as MatrixRow;
}

function page(rows: MatrixRow[], runs = 2): MatrixPage {
  const head = { agent: "a|b", short: "abc", passed: { count: 1, of: 2, rate: 0.5, low: 0, high: 1 } };
  return { rows, different: rows.filter(({ differs }) => differs).length, runs: Array.from({ length: runs }, () => head) } as unknown as MatrixPage;
}

describe("runs side by side", () => {
  it.each([
    [page([row("a", true), row("b", false)]), "1 of 2 cases differs."],
    [page([row("a", false)]), "The case has the same outcome in every run."],
    [page([row("a", false), row("b", false)]), "All 2 cases have the same outcome in every run."],
    [page([row("a", false)], 1), "1 case. Add a run to compare it with."],
  ])("are summed up in a sentence", (given, text) => {
    expect(summary(given)).toBe(text);
  });

  it("are named in the address, each once", () => {
    expect(readRunNames("a, b,,a")).toEqual(["a", "b"]);
    expect(readRunNames(null)).toEqual([]);
  });

  it("are filtered by words and by whether they differ", () => {
    const found = row("booking", false, [{ why: "covers is 4" }]);
    expect([rowMatcher("covers", false)(found), rowMatcher("", true)(found), rowMatcher("refund", false)(found)]).toEqual([true, false, false]);
  });

  it("without a known expense are left out of its picture, and named with their cases passed", () => {
    const run = (short: string, cost: number | null, rate: number | null = 0.95) => ({ agent: "own", short, cost, passed: { count: 19, of: 20, rate } }) as MatrixHead;
    const [known, unknown, empty] = [run("a", 0), run("b", null), run("c", 0.1, null)];
    const unpriced = "cost of a trial unknown (the agent reports no usage, or a model has no price)";
    expect(unplacedText([known, known], "cost")).toBe("");
    expect(unplacedText([known, unknown], "cost")).toBe(`Left out, ${unpriced}: own b (19 of 20).`);
    expect(unplacedText([known, unknown, empty], "cost")).toBe(`Left out, ${unpriced}: own b (19 of 20); cases were not run: own c (19 of 20).`);
  });

  it.each([
    ["m 0.39 < 0.8: 8 of 14 words\nare missing", "8 of 14 words\nare missing"],
    ["m 0.39 < 0.8", "m 0.39 < 0.8"],
    ["other 0.39 < 0.8: why", "other 0.39 < 0.8: why"],
    ["agent raised: m", "agent raised: m"],
  ])("have reasons without what their cell shows: %s", (why, text) => expect(whyText(why, "m")).toBe(text));

  it("are text in Markdown, with any name", () => {
    const text = asMarkdown(page([row("<b>", true, [{ outcome: "failed", score: 0, metric: "m" }, null])]), [
      row("<b>", true, [{ outcome: "failed", score: 0, metric: "m" }, null]),
    ]);
    expect(text).toContain("a\\|b `abc`");
    expect(text).toContain("| `set/<b>` | failed 0.00 | – |");
    const other = asMarkdown(page([]), [row("a", true, [{ outcome: "failed", score: 0.39, metric: "other" }])]);
    expect(other).toContain("| `set/a` | failed `other` 0.39 |");
    expect(text).toContain("| passed | 1 of 2 (50");
  });
});
