import { safeText } from "../text/safeText";
import { Term } from "./Term";
import type { TermName } from "./definitions";

const TERMS: readonly [words: RegExp, name: TermName][] = [
  [/^\d+(\.\d+)? % CI$/, "confidenceInterval"],
  [/^pass\^\d+$/, "passHatK"],
  [/^kappa$/, "kappa"],
  [/^true positive rate$/, "truePositiveRate"],
  [/^true negative rate$/, "trueNegativeRate"],
  [/^\d+ % agree$/, "votes"],
];
const WORDS = /(\d+(?:\.\d+)?[ \u00a0\u202f]% (?:CI|agree)|pass\^\d+|\bkappa\b|true (?:positive|negative) rate)/;

/** A sentence in which each statistic has its definition. */
export function TermText({ text }: { text: string }) {
  return safeText(text)
    .split(WORDS)
    .map((part, index) => {
      const plain = part.replace(/[\u00a0\u202f]/g, " ");
      const name = index % 2 ? TERMS.find(([words]) => words.test(plain))?.[1] : undefined;
      return name ? <Term key={index} name={name}>{part}</Term> : part;
    });
}
