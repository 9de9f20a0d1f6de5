// Tokens, costs and broken rules of the rows of a waterfall, and the waterfall as a table to copy.
import { mdText, mdTable } from "../../../components/text/markdown";
import { UNKNOWN, moneyText, numText, secondsText } from "../../../components/text/numberFormats";
import { safeText } from "../../../components/text/safeText";
import type { SpanPart, SpansPage, TrialPage } from "../../../data/types";

export interface Figures {
  input: number | null;
  output: number | null;
  cost: number | null;
}

/** The figures of each row: those of a model request, and of a turn the sum of its requests. */
export function figuresOf({ spans }: SpansPage): Figures[] {
  const sums = new Map<number, Figures>();
  for (const span of spans) {
    if (span.kind !== "model") continue;
    const sum = sums.get(span.turn);
    const own = ownFigures(span);
    sums.set(span.turn, sum ? { input: add(sum.input, own.input), output: add(sum.output, own.output), cost: addKnown(sum.cost, own.cost) } : own);
  }
  return spans.map((span) => (span.kind === "turn" ? (sums.get(span.turn) ?? ownFigures(span)) : ownFigures(span)));
}

function ownFigures({ input_tokens, output_tokens, cost }: SpanPart): Figures {
  return { input: input_tokens, output: output_tokens, cost };
}

function add(one: number | null, other: number | null): number | null {
  return one === null ? other : one + (other ?? 0);
}

/** A sum with an unknown part is unknown: it would be read as the whole cost. */
function addKnown(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

/** Tokens in a row: `820 → 30`. */
export function tokensText({ input, output }: Figures): string {
  return input === null && output === null ? "" : `${numText(input)} → ${numText(output)}`;
}

export function costText({ cost }: Figures): string {
  return cost === null ? "" : moneyText(cost);
}

/** The name of what a span calls, without its kind: `execute_tool look` is the tool look, and so is a span that has this tool among its attributes. */
export function shortName({ kind, name, attributes }: SpanPart): string {
  const tool = kind === "tool" && attributes.find((one) => one.name === "gen_ai.tool.name")?.value.text;
  return tool || (kind === "tool" || kind === "agent" ? name.replace(/^(execute_tool|invoke_agent) (?=\S)/, "") : name);
}

/** The rules that the tool call of each row breaks, as the steps of the trial name them. */
export function brokenRules({ spans }: Pick<SpansPage, "spans">, { turns }: Pick<TrialPage, "turns">): (readonly string[])[] {
  return spans.map(({ kind, turn, call }) => {
    const steps = kind === "tool" && call !== null ? turns.find(({ index }) => index === turn)?.steps : undefined;
    return steps?.find((step) => step.call === call)?.broken ?? [];
  });
}

/** The waterfall as a table; `rules`: those that each row breaks. */
export function spansMarkdown(page: SpansPage, rules: readonly (readonly string[])[]): string {
  const figures = figuresOf(page);
  const rows = page.spans.map((span, index) => {
    const own = figures[index] ?? ownFigures(span);
    const name = `${"· ".repeat(span.depth)}${span.kind === "turn" ? "" : `${span.kind} `}${safeText(shortName(span))}`;
    return [mdText(name), span.start === null ? UNKNOWN : secondsText(span.start), secondsText(span.seconds), tokensText(own) || UNKNOWN, costText(own) || UNKNOWN, mdText(safeText((rules[index] ?? []).join("; ")))];
  });
  return `${mdTable(["What", "Starts at", "Duration", "Tokens in → out", "Cost", "Broken rule"], rows, [1, 2, 3, 4])}\n`;
}
