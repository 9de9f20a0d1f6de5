import { describe, expect, it } from "vitest";
import type { ToolFigures } from "../../../data/types";
import { toolFilter, toolsMarkdown } from "./tools";

const tool = (more: Partial<ToolFigures> = {}): ToolFigures => ({
  name: "refund", calls: 1200, cases: 30, timed: 1200, mean_seconds: 0.25, p95_seconds: 1.5, total_seconds: 300, failed: 2, errors: [{ text: "limit | exceeded", calls: 2 }], ...more,
});

describe("the filter for a tool", () => {
  it.each([
    ["get_order", "tool:get_order"],
    ["get order", 'tool:"get order"'],
    ['a "quoted" name', 'tool:"a \\"quoted\\" name"'],
    ["a,b", 'tool:"a,b"'],
    ["a\nb", null],
  ])("of %s", (name, filter) => expect(toolFilter({ name })).toBe(filter));
});

describe("the tools as Markdown", () => {
  it("have every number, and their errors as text", () => {
    expect(toolsMarkdown([tool()])).toContain("| `refund` | 1,200 | 30 | 250 ms | 1.5 s | 2 | 2 × limit \\| exceeded |");
  });

  it("leave unknown times unknown", () => expect(toolsMarkdown([tool({ mean_seconds: null, p95_seconds: null })])).toContain("| 30 | – | – | 2 |"));
});
