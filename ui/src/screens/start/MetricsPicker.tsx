import { useState } from "react";
import { bind, stepFocus, useKeys } from "../../app/keyboard";
import type { MetricInfo, StartProblem } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { OptionField } from "./OptionField";
import styles from "./Start.module.css";
import { type Options, problemsOfMetric } from "./startRequest";

interface Props {
  metrics: readonly MetricInfo[];
  chosen: Record<string, Options>;
  onChange: (chosen: Record<string, Options>) => void;
  problems: readonly StartProblem[];
}

/** The metrics of a run with their options. */
export function MetricsPicker({ metrics, chosen, onChange, problems }: Props) {
  const [words, setWords] = useState("");
  useKeys([bind("add", () => stepFocus("[data-add]", 1), "next metric to add; Enter adds it")]);
  const free = metrics.filter((one) => one.gates && !(one.name in chosen) && fits(one, words));
  return (
    <>
      {Object.entries(chosen).map(([name, options]) => (
        <Chosen
          key={name}
          metric={metrics.find((one) => one.name === name)}
          name={name}
          options={options}
          problem={problemsOfMetric(problems, name)}
          onChange={(next) => onChange({ ...chosen, [name]: next })}
          onRemove={() => onChange(Object.fromEntries(Object.entries(chosen).filter(([one]) => one !== name)))}
        />
      ))}
      <input
        className={styles.search}
        aria-label="Search metrics"
        placeholder={`Search ${metrics.length} metrics`}
        value={words}
        onChange={({ target }) => setWords(target.value)}
      />
      <ul className={styles.pick} aria-label="Metrics to choose">
        {free.slice(0, words ? 20 : 6).map((one) => (
          <li key={one.name}>
            <Button data-add onClick={() => onChange({ ...chosen, [one.name]: initialOptions(one) })} aria-label={`Add ${one.name}`}>
              +
            </Button>
            <span>
              <code>{one.name}</code>
              {one.asks_judge && <span className={styles.judge}>LLM judge</span>}
              <span className={styles.hint}>{one.description}</span>
            </span>
          </li>
        ))}
      </ul>
      {!words && free.length > 6 && <p className="dim small">and {free.length - 6} more: search by what they measure</p>}
      {free.length === 0 && <p className="dim small">No matching metric.</p>}
    </>
  );
}

function fits({ name, description }: MetricInfo, words: string): boolean {
  const text = `${name} ${description}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** The options of the example in the metric's own facts, else its threshold. */
function initialOptions(metric: MetricInfo): Options {
  const example = metric.example?.[metric.name];
  if (example !== null && typeof example === "object") return { ...(example as Options) };
  return { threshold: typeof example === "number" ? example : (metric.default_threshold ?? 0.8) };
}

interface ChosenProps {
  metric: MetricInfo | undefined;
  name: string;
  options: Options;
  problem: string | null;
  onChange: (options: Options) => void;
  onRemove: () => void;
}

function Chosen({ metric, name, options, problem, onChange, onRemove }: ChosenProps) {
  const shown = metric?.options.filter((one) => one.name === "threshold" || one.required || one.name in options) ?? [];
  const others = metric?.options.filter((one) => !shown.includes(one)) ?? [];
  const set = (option: string, value: unknown) => {
    const next = { ...options, [option]: value };
    if (value === undefined) delete next[option];
    onChange(next);
  };
  return (
    <fieldset className={styles.metric} data-wrong={problem ? true : undefined}>
      <legend>
        <code>{name}</code>
        {metric?.asks_judge && <span className={styles.judge}>LLM judge</span>}
      </legend>
      <p className={styles.hint}>
        {metric?.description}
        {metric && metric.needs.length > 0 && ` Needs ${metric.needs.join(", ")}.`}
      </p>
      {problem && (
        <p role="alert" className={styles.error}>
          {problem}
        </p>
      )}
      <div className={styles.options}>
        {shown.map((option) => (
          <OptionField key={option.name} option={option} value={options[option.name]} onChange={(value) => set(option.name, value)} />
        ))}
      </div>
      {others.length > 0 && (
        <details>
          <summary>{others.length} more options</summary>
          <div className={styles.options}>
            {others.map((option) => (
              <OptionField key={option.name} option={option} value={options[option.name]} onChange={(value) => set(option.name, value)} />
            ))}
          </div>
        </details>
      )}
      <Button look="quiet" onClick={onRemove}>
        Remove {name}
      </Button>
    </fieldset>
  );
}
