// How figures read, the same everywhere. What is not known is "–", never 0.

export const UNKNOWN = "–";
const THIN = "\u202f";

const formats = new Map<number, Intl.NumberFormat>(); // to make one takes longer than to draw the row it is for

function formatOf(digits: number): Intl.NumberFormat {
  const format = formats.get(digits) ?? new Intl.NumberFormat("en-US", { maximumFractionDigits: digits });
  formats.set(digits, format);
  return format;
}

/** A number with so many digits at most: 0.961, 1,204. */
export function numText(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return UNKNOWN;
  return formatOf(digits).format(value).replace("-", "−");
}

/** A number with its noun: 1 case, 1,204 cases. */
export function countText(count: number, one: string, several = `${one}s`): string {
  return `${numText(count)} ${count === 1 ? one : several}`;
}

const EXACT = 30; // more decimals than a number between two multiples of a half has zeros

/** `toFixed`, with an exact half rounded to the even digit, as Python rounds: 0.625 is 0.62 in every report. */
export function fixedText(value: number, digits: number): string {
  const text = value.toFixed(digits);
  const exact = value.toFixed(EXACT);
  const end = exact.length - EXACT + digits;
  const isHalf = /^50*$/.test(exact.slice(end));
  return isHalf && Number(text.at(-1)) % 2 ? exact.slice(0, end).replace(/\.$/, "") : text;
}

const MOST_DECIMALS = 6;

/** The number of decimals, at least `fewest`, with which a number does not read as 0 or 1, unless it is: 0.9997. */
export function decimalsOf(value: number, fewest = 2): number {
  const isEnd = (digits: number) => [0, 1].includes(Math.abs(Number(fixedText(value, digits))));
  let digits = fewest;
  while (!isEnd(MOST_DECIMALS) && isEnd(digits)) digits++;
  return digits;
}

const SCIENTIFIC_FROM = 1e7;

/** A score, or the standard error of a mean, as the other reports write it: two digits, or more if rounding would make it 0 or 1; 1.23e+7. */
export function scoreText(value: number | null | undefined, digits = 2): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (Math.abs(value) >= SCIENTIFIC_FROM) return value.toExponential(digits).replace(/^-/, "−");
  const text = fixedText(value, decimalsOf(value, digits));
  return Number(text) ? text.replace("-", "−") : text.replace("-", "");
}

/** A share of 1 as percent, as the other reports write it: 92.5 %, 100 %; an end that was not reached is not shown: 99.96 % is not 100 %. */
export function percentText(share: number | null | undefined): string {
  if (share === null || share === undefined) return UNKNOWN;
  const percent = fixedText(share * 100, 1).replace(/\.0$/, "");
  if (percent === "100" && share < 1) return `99.9${THIN}%`;
  return `${percent === "0" && share > 0 ? "0.1" : percent}${THIN}%`;
}

const NARROW = 0.05;
const FINEST = 4;

/** An interval of shares in percent, as the other reports write it: 38–96, with decimals where it is narrow: 84.1–87.2. An end is 100 (or 0) only if it is all (or none). */
export function boundsText(low: number, high: number): string {
  const ends = [low, high];
  let digits = high - low >= NARROW ? 0 : 1;
  while (digits < FINEST && ends.some((end) => end > 0 && end < 1 && [0, 100].includes(Number(fixedText(end * 100, digits))))) digits++;
  return ends.map((end) => fixedText(end * 100, digits)).join("–");
}

const LEAST_DOLLARS = 1e-6;

/** US dollars, as the other reports write them: $1,204.00, $0.420, $0.0031; small amounts with two significant digits. */
export function moneyText(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined) return UNKNOWN;
  if (dollars === 0) return "$0";
  if (dollars < LEAST_DOLLARS) return "< $0.000001";
  const digits = dollars >= 1 ? 2 : dollars >= 0.01 ? 3 : 1 - Math.floor(Math.log10(dollars));
  return `$${dollars.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** The cost of a run or a case: `$0.60`, `≥ $0.60`, `unknown`; `–` if no cost was reported. */
export function costText({ cost_text }: { cost_text: string }): string {
  return cost_text.replace("at least ", "≥ ") || UNKNOWN;
}

/** A length of time: 320 ms, 2.4 s, 3 m 12 s, 2 h 05 m. */
export function secondsText(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return UNKNOWN;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${numText(seconds, 1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} m`;
}

/** How long ago: just now, 5 min ago, 3 h ago, yesterday, then the date. */
export function agoText(at: number, now: number = Date.now() / 1000): string {
  const past = now - at;
  if (past < 60) return "just now";
  if (past < 3600) return `${Math.floor(past / 60)} min ago`;
  if (past < 86_400) return `${Math.floor(past / 3600)} h ago`;
  if (past < 2 * 86_400) return "yesterday";
  if (past < 7 * 86_400) return `${Math.floor(past / 86_400)} days ago`;
  return clockText(at).slice(0, 10);
}

/** A time on the clock here: 2026-11-22 14:02. */
export function clockText(at: number): string {
  const time = new Date(at * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
