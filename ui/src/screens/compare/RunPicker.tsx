import { useAddress } from "../../app/address";
import { bind, stepFocus, useKeys } from "../../app/keyboard";
import { useData, useSource } from "../../data/queries";
import type { BaselinesPage, ComparisonPage, RunsPage } from "../../data/types";
import { Button } from "../../components/forms/Button";
import styles from "./Compare.module.css";
import { type ComparisonQuery, runName } from "./comparisonText";

const MARGINS = ["0.01", "0.02", "0.05", "0.1", "0.2"];
const NAMES: readonly (readonly [name: string, words: string])[] = [
  ["previous", "the run before the latest"],
  ["latest", "the latest run"],
];

interface Props {
  options: ComparisonQuery;
  runs: RunsPage | undefined;
  page: ComparisonPage | undefined;
}

/** Which two runs, and by how much the pass rate may fall. Everything is in the address. A file has one comparison. */
export function RunPicker(props: Props) {
  return useSource().live ? <Choices {...props} /> : null;
}

function Choices({ options, runs, page }: Props) {
  const [, setQuery] = useAddress();
  const margin = options.margin ?? String(page?.margin ?? 0.05);
  const margins = MARGINS.includes(margin) ? MARGINS : [...MARGINS, margin];
  useKeys([bind("add", () => stepFocus(`.${styles.picker} select`, 1), "choose the runs or the margin")]);
  const swap = () =>
    page && setQuery({ base: page.candidate.run_id, candidate: page.base.run_id, set: null, case: null }, { push: true });
  return (
    <div className={`${styles.picker} no-print`} role="group" aria-label="What is compared">
      <Choose label="Baseline" name="base" value={options.base} runs={runs} />
      <Button onClick={swap} disabled={!page && "choose two runs"} action="swap" title="Swap the two runs" aria-label="Swap the two runs">
        ⇄
      </Button>
      <Choose label="Candidate" name="candidate" value={options.candidate} runs={runs} />
      <label className={styles.choose}>
        <span>Margin</span>
        <select value={margin} onChange={(event) => setQuery({ margin: event.target.value })}>
          {margins.map((one) => (
            <option key={one} value={one}>
              {Number((Number(one) * 100).toPrecision(6))} points
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

interface ChooseProps {
  label: string;
  name: "base" | "candidate";
  value: string;
  runs: RunsPage | undefined;
}

function Choose({ label, name, value, runs }: ChooseProps) {
  const [, setQuery] = useAddress();
  const items = runs?.items ?? [];
  const { data: baselines } = useData<BaselinesPage>(name === "base" ? "/api/baselines" : null);
  const named = baselines?.items ?? [];
  const known = named.some((one) => one.name === value) || NAMES.some(([one]) => one === value) || items.some(({ run_id }) => run_id === value);
  const set = (to: string) => setQuery({ [name]: to, set: null, case: null }, { push: true });
  return (
    <label className={styles.choose} data-wide>
      <span>{label}</span>
      <select value={value} onChange={(event) => set(event.target.value)}>
        {!known && <option value={value}>{value}</option>}
        {NAMES.map(([one, words]) => (
          <option key={one} value={one}>
            {one} · {words}
          </option>
        ))}
        {named.map((one) => (
          <option key={`baseline ${one.name}`} value={one.name}>
            {one.name} · baseline · {one.agent}
          </option>
        ))}
        {items.map((row) => (
          <option key={row.run_id} value={row.run_id}>
            {runName(row)}
          </option>
        ))}
      </select>
    </label>
  );
}
