import { Route } from "wouter";
import { expect, it } from "vitest";
import { eventually, fixedSource, render } from "../../../test/render";
import type { CaseRow } from "../../data/types";
import { BlessScreen } from "./BlessScreen";

const row = (position: number, strip: string, change: CaseRow["change"] = null) =>
  ({ position, strip, change, eval_set_id: "set", eval_id: `case_${position}`, outcome: "failed", was: "failed", scores: {}, missed: [], errors: [], tags: [], tools: [], why: "", cost: null, cost_text: "" }) as unknown as CaseRow;

it("lists the cases as the run's table does: those that became worse first, then the lowest share of passed trials", async () => {
  const rows = [row(0, "ppf"), row(1, "fff"), row(2, "ppf", "worse"), row(3, "pff")];
  const cases = rows.map(({ position, eval_id, eval_set_id, strip }) => ({ position, eval_id, eval_set_id, strip, outcome: "failed", trials: 3, trial: null, status: "same", why: "", choose: false, changed_since: false, flaky: true, differ: true, path: "a.json", changes: [], hunks: [], lost: [] }));
  const source = fixedSource({
    "/api/runs/r": { run_id: "r", metrics: [], sets: [], num_runs: 3 },
    "/api/runs/r/cases": { items: rows, total: 4 },
    "/api/runs/r/bless/preview": { run_id: "r", short: "r", agent: "a", etag: "e", cases, files: [], problems: [] },
  });
  const { host } = render(<Route path="/runs/:run/bless"><BlessScreen /></Route>, "/runs/r/bless", source);
  const names = () => [...host.querySelectorAll("section[data-status]")].map((section) => /case_\d/.exec(section.textContent ?? "")?.[0]);
  await eventually(() => expect(names()).toEqual(["case_2", "case_1", "case_3", "case_0"]));
});
