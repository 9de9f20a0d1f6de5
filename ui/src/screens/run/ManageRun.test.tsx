import { expect, it } from "vitest";
import { eventually, fixedSource, press, render } from "../../../test/render";
import type { RunManagement, RunPage } from "../../data/types";
import { Manage } from "./ManageRun";

it("selects the name of a new baseline, so that typing replaces it", async () => {
  const page = { run_id: "r", short: "r", agent: "a", outcome: "passed", cases: 1, sets: [], counts: {}, state: "finished" } as unknown as RunPage;
  const managed = { name: "", note: "", starred: false, baselines: [], why_no_baseline: "", why_not_deleted: "", trials: 1, scorings: 1, labels: 0 } as unknown as RunManagement;
  render(<Manage page={page} managed={managed} />, "/", fixedSource({ "/api/baselines": { items: [] } }));
  press("B");
  await eventually(() => {
    const { value, selectionStart, selectionEnd } = document.activeElement as HTMLInputElement;
    expect(value?.slice(selectionStart ?? 0, selectionEnd ?? 0)).toBe("main");
  });
});
