import { useAddress } from "../../app/address";
import { pathOf } from "../../data/queries";
import type { ChangedLine } from "../../data/types";
import { PointLink } from "../../components/charts/PointLink";
import { useWidth } from "../../components/charts/useWidth";
import { numText, percentText, scoreText } from "../../components/text/numberFormats";
import styles from "./Slopes.module.css";
import { type Slope, type SlopeMeasure, measuresOf, slopesOf, spread } from "./slopes";

const MOST = 24; // slopes that are drawn: the largest drops, and the largest gains
const LABEL = 16;
const LEAST_HEIGHT = 180;
const WIDEST = 900;
const PAD = { left: 54, top: 26, bottom: 12 };
const LETTER = 7;
const NARROW = 480; // below it a label has no values: the scale shows them

const TITLES: Readonly<Record<SlopeMeasure, string>> = { trials: "Trials passed", score: "Score of the metric that changed most" };

interface Props {
  /** The cases of the table. */
  cases: readonly ChangedLine[];
  /** Where the page of a case is. */
  address: (one: ChangedLine) => string;
}

/** Before and after of the cases that changed: a line for each slope, thicker for several cases. */
export function Slopes({ cases, address }: Props) {
  const [query, setQuery] = useAddress();
  const [box, width] = useWidth();
  const measures = measuresOf(cases);
  const measure = measures.find((one) => one === query.get("draw")) ?? measures[0];
  if (!measure) return null;
  const all = slopesOf(cases, measure);
  const shown = all.length > MOST ? [...all.slice(0, MOST / 2), ...all.slice(-MOST / 2)] : all;
  const drawn = shown.reduce((sum, one) => sum + one.cases.length, 0);
  return (
    <figure ref={box} className={`${styles.figure} panel`}>
      <figcaption>
        <b>{TITLES[measure]}</b> <span className="dim">before → after</span>
        <span className="grow" />
        {measures.length > 1 && (
          <label className={`${styles.choose} no-print`}>
            <span className="dim">Draw</span>
            <select value={measure} onChange={({ target }) => setQuery({ draw: target.value })}>
              {measures.map((one) => (
                <option key={one} value={one}>
                  {TITLES[one]}
                </option>
              ))}
            </select>
          </label>
        )}
      </figcaption>
      <Picture slopes={shown} measure={measure} width={Math.min(WIDEST, width)} address={address} />
      {drawn < cases.length && (
        <p className="dim small">
          {numText(cases.length - drawn)} of {numText(cases.length)} cases {cases.length - drawn === 1 ? "is" : "are"} not drawn: a value is missing, or the change is smaller. The table has all.
        </p>
      )}
    </figure>
  );
}

function Picture({ slopes, measure, width, address }: { slopes: readonly Slope[]; measure: SlopeMeasure; width: number; address: Props["address"] }) {
  const height = Math.max(LEAST_HEIGHT, PAD.top + PAD.bottom + slopes.length * LABEL);
  const right = width - Math.min(260, Math.round(width * 0.46));
  const up = (share: number) => height - PAD.bottom - share * (height - PAD.top - PAD.bottom);
  const text = measure === "trials" ? (value: number) => percentText(value) : scoreText;
  const labels = spread(slopes.map(({ to }) => up(to)), LABEL, PAD.top, height - PAD.bottom);
  const letters = Math.floor((width - right - 22) / LETTER);
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={`${TITLES[measure]}, before and after`} className={styles.picture}>
      {[0, 0.5, 1].map((share) => (
        <g key={share}>
          <line className={styles.grid} x1={PAD.left} x2={right} y1={up(share)} y2={up(share)} />
          <text className={styles.tick} x={PAD.left - 8} y={up(share) + 4} textAnchor="end">
            {text(share)}
          </text>
        </g>
      ))}
      <text className={styles.tick} x={PAD.left} y={14}>
        baseline
      </text>
      <text className={styles.tick} x={right} y={14} textAnchor="end">
        candidate
      </text>
      {slopes.map((slope, at) => (
        <SlopeLine key={`${slope.values} ${slope.tone} ${slope.cases[0]?.eval_id}`} slope={slope} ends={[PAD.left, right]} up={up} label={labels[at] ?? 0} letters={letters} brief={width < NARROW} address={address} />
      ))}
    </svg>
  );
}

interface LineProps {
  slope: Slope;
  ends: [left: number, right: number];
  up: (share: number) => number;
  /** How high its label is. */
  label: number;
  /** How long its label may be. */
  letters: number;
  /** Whether its label has no values. */
  brief: boolean;
  address: Props["address"];
}

function SlopeLine({ slope, ends: [left, right], up, label, letters, brief, address }: LineProps) {
  const { cases, from, to, tone } = slope;
  const [first] = cases;
  if (!first) return null;
  const name = cases.length === 1 ? first.eval_id : `${numText(cases.length)} cases`;
  const names = cases.map(({ eval_id }) => eval_id).join(", ");
  const words = `${cases.length === 1 ? names : `${name} (${names})`}: ${slope.values}`;
  const values = brief ? "" : ` ${slope.values}`;
  const short = name.length + values.length > letters ? shortened(name, letters - values.length) : name;
  return (
    <PointLink to={cases.length === 1 ? address(first) : ofKind(address(first), first.change)} words={words} className={styles[tone]}>
      <title>{words}</title>
      <line className={styles.hit} x1={left} y1={up(from)} x2={right} y2={up(to)} />
      <line className={styles.slope} x1={left} y1={up(from)} x2={right} y2={up(to)} strokeWidth={1.5 + Math.min(5, cases.length - 1) * 0.7} />
      <circle cx={left} cy={up(from)} r={4} />
      <circle cx={right} cy={up(to)} r={4} />
      <path className={styles.leader} d={`M${right + 5} ${up(to)}L${right + 14} ${label}`} />
      <text x={right + 17} y={label + 4}>
        {short}
        <tspan className={styles.values}>{values}</tspan>
      </text>
    </PointLink>
  );
}

function shortened(name: string, letters: number): string {
  return `${[...name].slice(0, Math.max(3, letters - 1)).join("")}…`;
}

/** The comparison with the cases of one kind of change. */
function ofKind(address: string, change: string): string {
  const query = new URLSearchParams(address.split("?")[1]);
  return pathOf("/compare", { ...Object.fromEntries(query), set: null, case: null, only: change });
}
