import { expect, it } from "vitest";
import { render } from "../../../test/render";
import type { CaseRow, RunPage } from "../../data/types";
import { CaseTable } from "./CaseTable";
import type { ShownCases } from "./useShownCases";

const ROWS = ["a", "b", "c"].map((eval_id, position) => ({ eval_id, position })) as CaseRow[];
const page = { run_id: "r", metrics: [], sets: [] } as unknown as RunPage;
const columns = [{ id: "case", head: "Case", cell: ({ eval_id }: CaseRow) => eval_id }];
const words = { metrics: [], sets: [], tags: [], tools: [] };

function shown(reading: boolean, taken: readonly CaseRow[]) {
  const table = { words, filter: { takes: () => true, problem: "" }, columns, taken, searching: false, shown: () => taken } as unknown as ShownCases;
  return <CaseTable page={page} total={3} table={table} reading={reading} watched={false} tools={null} />;
}

it("never shows a number of cases that was not filtered by what was read", () => {
  const counts: string[] = [];
  const { host, again } = render(shown(true, ROWS), "/?q=tag:x");
  const watcher = new MutationObserver((changes) => counts.push(...changes.map(({ oldValue }) => oldValue ?? "")));
  watcher.observe(host, { subtree: true, characterData: true, characterDataOldValue: true });
  again(shown(false, ROWS.slice(1)));
  counts.push(...watcher.takeRecords().map(({ oldValue }) => oldValue ?? ""));
  expect(host.textContent).toContain("2 of 3");
  expect(counts.filter((text) => / of 3$/.test(text))).toEqual([]);
});

it("offers a value with spaces whole", () => {
  const words = { metrics: [], sets: [], tags: ["left, right"], tools: [] };
  const table = { words, filter: { takes: () => true, problem: "" }, columns, taken: ROWS, searching: false, shown: () => ROWS } as unknown as ShownCases;
  const { host } = render(<CaseTable page={page} total={3} table={table} reading={false} watched={false} tools={null} />, "/?q=flaky tag:le");
  expect([...host.querySelectorAll("button")].map((button) => button.textContent)).toContain('tag:"left, right"');
});
