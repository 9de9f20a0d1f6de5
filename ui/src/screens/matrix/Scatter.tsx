import { ACTIONS } from "../../app/actions";
import { useAddress } from "../../app/address";
import { bind, useKeys } from "../../app/keyboard";
import type { MatrixHead } from "../../data/types";
import { PointLink } from "../../components/charts/PointLink";
import { AvailableLink } from "../../components/forms/AvailableLink";
import { useWidth } from "../../components/charts/useWidth";
import { Term } from "../../components/terms/Term";
import { boundsText, moneyText, numText, percentText, secondsText } from "../../components/text/numberFormats";
import { EXPENSES, type Expense, expenseOf, knownExpenses, paretoFront } from "./paretoFront";
import { unplacedText } from "./matrixText";
import styles from "./Scatter.module.css";

const HEIGHT = 220;
const PAD = { left: 48, right: 24, top: 26, bottom: 26 };
const LOW = 0.1; // below, there is no room for a number between the point and the axis
const TEXTS: Record<Expense, (value: number) => string> = { cost: moneyText, seconds: secondsText, tokens: (value) => numText(value, 0) };

/** Quality against expense: the runs that no other beats in both are joined. */
export function Scatter({ runs }: { runs: readonly MatrixHead[] }) {
  const [query, setQuery] = useAddress();
  const [box, width] = useWidth();
  const known = knownExpenses(runs);
  const expense = known.find((one) => one === query.get("by")) ?? known[0];
  const next = known[known.indexOf(expense ?? "cost") + 1] ?? known[0];
  useKeys(next && known.length > 1 ? [bind("view", () => setQuery({ by: next }), "the next expense across")] : []);
  const points = expense ? runs.flatMap((run) => pointOf(run, expense) ?? []) : [];
  if (!expense || !points.length) return null;
  const unplaced = unplacedText(runs, expense);
  const front = new Set(paretoFront(points.map(({ quality, x }) => ({ quality, expense: x.value }))));
  return (
    <section aria-label="Quality and expense">
      <div className="row">
        <h2>
          <Term name="passRate">Cases passed</Term> by {EXPENSES[expense].toLowerCase()}
        </h2>
        <span className="grow" />
        {known.length > 1 && (
          <label className={`${styles.choose} no-print`}>
            <span className="dim">Across</span>
            <select aria-keyshortcuts={ACTIONS.view[0]} title={ACTIONS.view[0]} value={expense} onChange={({ target }) => setQuery({ by: target.value })}>
              {known.map((one) => (
                <option key={one} value={one}>
                  {EXPENSES[one]}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <p>
        {answerText(points, expense, points.length < runs.length)} {unplaced}
      </p>
      <figure ref={box} className={`${styles.figure} panel`}>
        <Picture points={points} front={front} expense={expense} width={width} />
        <figcaption className="dim small">
          Joined: no other run is better and not more expensive. Bars: <Term name="confidenceInterval">95 % CI</Term>.
        </figcaption>
        <ol className={styles.numbers}>
          {points.map(({ run, x }, at) => (
            <li key={run.run_id}>
              <AvailableLink to={`/runs/${encodeURIComponent(run.run_id)}`}>{nameOf(run)}</AvailableLink>: {passedText(run)}; {expenseText(x, expense)}
              {front.has(at) ? "" : <span className="dim"> · another is at least as good and not more expensive</span>}
            </li>
          ))}
        </ol>
      </figure>
    </section>
  );
}

interface Point {
  run: MatrixHead;
  quality: number;
  x: NonNullable<ReturnType<typeof expenseOf>>;
}

function pointOf(run: MatrixHead, expense: Expense): Point | null {
  const x = expenseOf(run, expense);
  return x === null || run.passed.rate === null ? null : { run, quality: run.passed.rate, x };
}

interface PictureProps {
  points: readonly Point[];
  front: ReadonlySet<number>;
  expense: Expense;
  width: number;
}

function Picture({ points, front, expense, width }: PictureProps) {
  const text = TEXTS[expense];
  const most = Math.max(...points.map(({ x }) => Math.max(x.value, x.high ?? 0))) || 1;
  const across = (value: number) => PAD.left + (Math.max(0, value) / most) * (width - PAD.left - PAD.right);
  const up = (share: number) => HEIGHT - PAD.bottom - share * (HEIGHT - PAD.top - PAD.bottom);
  const joined = points.filter((_, at) => front.has(at)).sort((one, other) => one.x.value - other.x.value);
  return (
    <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="group" aria-label={`Cases passed by ${EXPENSES[expense].toLowerCase()}`} className={styles.picture}>
      {[0, 0.5, 1].map((share) => (
        <g key={share}>
          <line className={styles.grid} x1={PAD.left} x2={width - PAD.right} y1={up(share)} y2={up(share)} />
          <text className={styles.tick} x={PAD.left - 6} y={up(share) + 4} textAnchor="end">
            {percentText(share)}
          </text>
        </g>
      ))}
      {[0, most / 2, most].map((value) => (
        <text key={value} className={styles.tick} x={across(value)} y={HEIGHT - PAD.bottom + 16} textAnchor="middle">
          {text(value)}
        </text>
      ))}
      <polyline className={styles.front} points={joined.map(({ x, quality }) => `${across(x.value)},${up(quality)}`).join(" ")} />
      {points.map(({ run, quality, x }, at) => {
        const [left, top] = [across(x.value), up(quality)];
        const side = points.slice(0, at).some((other) => isNear(across(other.x.value) - left, up(other.quality) - top)) ? -1 : 1;
        return (
          <PointLink key={run.run_id} to={`/runs/${encodeURIComponent(run.run_id)}`} words={`${at + 1}, ${wordsOf(run, x, expense)}`} className={front.has(at) ? styles.best : styles.point}>
            <title>{wordsOf(run, x, expense)}</title>
            <line x1={left} x2={left} y1={up(run.passed.low)} y2={up(run.passed.high)} />
            {x.low !== null && x.high !== null && <line x1={across(x.low)} x2={across(x.high)} y1={top} y2={top} />}
            <circle className={styles.hit} cx={left} cy={top} r={14} />
            <circle cx={left} cy={top} r={5} />
            <text x={left + side * 8} y={top + (side > 0 && quality > LOW ? 15 : -7)} textAnchor={side > 0 ? "start" : "end"}>
              {at + 1}
            </text>
          </PointLink>
        );
      })}
    </svg>
  );
}

/** Whether the number of another point would be drawn over this one's: its distance in pixels. */
function isNear(across: number, down: number): boolean {
  return Math.abs(across) < 16 && Math.abs(down) < 12;
}

/** The runs with the highest pass rate, and which of these is the least expensive. */
function answerText(points: readonly Point[], expense: Expense, someLeftOut: boolean): string {
  const most = Math.max(...points.map(({ quality }) => quality));
  const best = points.filter(({ quality }) => quality === most);
  const cheapest = best.reduce((one, other) => (other.x.value < one.x.value ? other : one));
  const what = EXPENSES[expense].toLowerCase();
  const price = TEXTS[expense](cheapest.x.value);
  const rate = listText(best.map(({ run }) => `${nameOf(run)} (${numText(run.passed.count)} of ${numText(run.passed.of)}, ${percentText(most)})`));
  const heading = someLeftOut ? `Most cases passed, of the ${points.length} runs below` : "Most cases passed";
  if (best.length < 2) return `${heading}: ${rate}; ${what} ${price}.`;
  return `${heading}: ${rate}. Of these, ${nameOf(cheapest.run)} has the lowest ${what}: ${price}.`;
}

function listText(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function nameOf(run: MatrixHead): string {
  return `${run.agent} ${run.short}`;
}

function expenseText({ value, low, high }: Point["x"], expense: Expense): string {
  const text = TEXTS[expense];
  return low === null || high === null ? text(value) : `${text(value)} (${text(Math.max(0, low))} to ${text(high)})`;
}

function passedText({ passed }: MatrixHead): string {
  return `${percentText(passed.rate)} of cases passed, ${passed.count} of ${passed.of} (95 % CI: ${boundsText(passed.low, passed.high)})`;
}

function wordsOf(run: MatrixHead, x: Point["x"], expense: Expense): string {
  return `${nameOf(run)}: ${passedText(run)}, ${EXPENSES[expense].toLowerCase()} ${expenseText(x, expense)}`;
}
