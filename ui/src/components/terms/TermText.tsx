import { safeText } from "../text/safeText";
import { Term } from "./Term";
import type { TermName } from "./definitions";
import styles from "./Term.module.css";

const TERMS: readonly [words: RegExp, name: TermName][] = [
  [/^\d+(\.\d+)? % CI$/, "confidenceInterval"],
  [/^pass\^\d+$/, "passHatK"],
  [/^kappa$/, "kappa"],
  [/^true positive rate$/, "truePositiveRate"],
  [/^true negative rate$/, "trueNegativeRate"],
  [/^(\d+ %|\d+ of \d+) agree$/, "votes"],
];
const WORDS =
  /(\(?(?:\d+(?:\.\d+)?[ \u00a0\u202f]% (?:CI|agree)|\d+ of \d+ agree|pass\^\d+|\bkappa\b|true (?:positive|negative) rate)[:,)]?)/;

/** A sentence in which each statistic has its definition. */
export function TermText({ text }: { text: string }) {
  return safeText(text)
    .split(WORDS)
    .map((part, index) => (index % 2 ? <OneTerm key={index} part={part} /> : part));
}

/** A statistic; the signs around it stay on its line. */
function OneTerm({ part }: { part: string }) {
  const [, before, term, after] = /^(\(?)(.*?)([:,)]?)$/.exec(part) ?? ["", "", part, ""];
  const name = TERMS.find(([words]) => words.test((term ?? "").replace(/[\u00a0\u202f]/g, " ")))?.[1];
  if (!name) return part;
  return (
    <span className={styles.joined}>
      {before}
      <Term name={name}>{term}</Term>
      {after}
    </span>
  );
}
