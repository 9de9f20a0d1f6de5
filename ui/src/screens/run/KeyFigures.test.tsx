import { expect, it } from "vitest";
import type { RunPage } from "../../data/types";
import { render } from "../../../test/render";
import { KeyFigures } from "./KeyFigures";

const MEAN = { value: 0.4, standard_error: 0.2, low: 0, high: 0.9, cases: 6, values: 6 };

it.each([
  [{ passed: 8, failed: 6, error: 4 }, "8 of 14", "of the 14 scored; 4 in error left out", "6 cases; errors count as failures"],
  [{ passed: 8, failed: 6 }, "8 of 14", "", "6 cases"],
])("states what the rates of %j contain", (trials, count, left, cases) => {
  const page = { pass_rate: { count: 0, of: 0 }, trials, num_runs: 3, counts: {}, metrics: [], money: [], duration: 1, pass_k: [{ k: 2, hat: MEAN, at: MEAN }] } as unknown as RunPage;
  const figures = [...render(<KeyFigures page={page} notes={undefined} />).host.querySelectorAll("dt")].map(({ textContent }) => textContent);
  expect(figures[0]).toBe(`Trials passed, ${count}${left}`);
  expect(figures[1]).toMatch(new RegExp(`${cases}$`));
});
