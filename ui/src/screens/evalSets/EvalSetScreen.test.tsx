import { describe, expect, it } from "vitest";
import { Route } from "wouter";
import { eventually, fixedSource, render } from "../../../test/render";
import { EvalSetScreen } from "./EvalSetScreen";

const PAGE = { id: "a", path: "a.evalset.json", name: "", eval_set_id: "a", kind: "eval set", cases: 1, description: "", can_edit: false, has_head: true, is_old: false, why_not: "", migrates_to: null, problems: [], command: "proctor" };
const ROW = { eval_id: "one", tags: [], asks: "hi", kind: "conversation", turns: 1, calls: 0, rubrics: 0, has_state: false, errors: 0, warnings: 0 };

describe("the cases of an eval set", () => {
  it.each([
    [{ errors: 0, warnings: 0 }, false],
    [{ errors: 0, warnings: 2 }, true],
    [{ errors: 1, warnings: 0 }, true],
  ])("have a column of problems only if one has a problem: %j", async (problems, shown) => {
    const source = fixedSource({ "/api/eval-sets/a": PAGE, "/api/eval-sets/a/cases?limit=100000": { items: [{ ...ROW, ...problems }] } });
    const { host } = render(<Route path="/eval-sets/:set"><EvalSetScreen /></Route>, "/eval-sets/a", source);
    await eventually(() => expect(host.querySelectorAll("[role=table] [role=columnheader]").length).toBeGreaterThan(0));
    const heads = [...host.querySelectorAll("[role=columnheader]")].map((one) => one.textContent);
    expect(heads.includes("Problems")).toBe(shown);
  });
});
