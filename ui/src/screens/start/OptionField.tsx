import { useState } from "react";
import type { OptionFacts } from "../../data/types";
import { AreaField, SelectField, TextField } from "../../components/forms/Field";
import { parseNumber, shapeOf } from "./startRequest";

interface Props {
  option: OptionFacts;
  value: unknown;
  onChange: (value: unknown) => void;
}

/** One option of a metric, as a field of its type. Empty: the metric's default. */
export function OptionField({ option, value, onChange }: Props) {
  const shape = shapeOf(option.json_schema);
  const label = `${option.name}${option.required ? " (required)" : ""}`;
  const shared = { label, hint: option.meaning };
  switch (shape.kind) {
    case "yes":
      return (
        <SelectField {...shared} options={YES} value={String(value ?? "")} onChange={({ target }) => onChange(target.value ? target.value === "true" : undefined)} />
      );
    case "choice":
      return (
        <SelectField
          {...shared}
          options={[["", "default"], ...(shape.choices ?? []).map((one) => [one, one] as const)]}
          value={typeof value === "string" ? value : ""}
          onChange={({ target }) => onChange(target.value || undefined)}
        />
      );
    case "number":
      return (
        <TextField {...shared} inputMode="decimal" type="number" step={shape.whole ? 1 : "any"} defaultValue={textOf(value)} onChange={({ target }) => onChange(parseNumber(target.value))} />
      );
    case "texts":
      return (
        <AreaField {...shared} hint={`${option.meaning} (one a line)`} defaultValue={Array.isArray(value) ? value.join("\n") : ""} onChange={({ target }) => onChange(parseLines(target.value))} />
      );
    case "text":
      return <TextField {...shared} defaultValue={textOf(value)} onChange={({ target }) => onChange(target.value || undefined)} />;
    default:
      return <JsonField {...shared} value={value} onChange={onChange} />;
  }
}

const YES = [
  ["", "default"],
  ["true", "yes"],
  ["false", "no"],
] as const;

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function parseLines(text: string): string[] | undefined {
  const lines = text.split("\n").filter((line) => line.trim());
  return lines.length ? lines : undefined;
}

function JsonField({ label, hint, value, onChange }: { label: string; hint: string; value: unknown; onChange: (value: unknown) => void }) {
  const [text, setText] = useState(value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2));
  const [error, setError] = useState<string | null>(null);
  const change = (typed: string) => {
    setText(typed);
    try {
      onChange(typed.trim() ? (JSON.parse(typed) as unknown) : undefined);
      setError(null);
    } catch {
      const word = /^[\w .:/-]+$/.test(typed.trim());
      if (word) onChange(typed.trim());
      setError(word ? null : "Not valid JSON (expected a JSON value, as in a config).");
    }
  };
  return <AreaField label={label} hint={`${hint} (JSON)`} error={error} value={text} onChange={({ target }) => change(target.value)} spellCheck={false} />;
}
