import { secondsText } from "../../../components/text/numberFormats";
import type { SpansPage } from "../../../data/types";

/** Where a bar is, in per cent of the whole. */
export interface Bar {
  left: number;
  width: number;
}

export interface Scale {
  /** The length of the whole, in seconds. */
  seconds: number;
  /** One for each span; null: duration not recorded. */
  bars: (Bar | null)[];
}

/** Place the spans that have a time; nothing is made up for the others. */
export function barsOf(page: SpansPage): Scale {
  const ends = page.spans.map(({ start, seconds }) => (start ?? 0) + (seconds ?? 0));
  const whole = Math.max(page.seconds ?? 0, ...ends);
  const bars = page.spans.map(({ start, seconds, timing }) => {
    if (timing === "none" || start === null || seconds === null || whole <= 0) return null;
    return { left: (start / whole) * 100, width: Math.min(100 - (start / whole) * 100, (seconds / whole) * 100) };
  });
  return { seconds: whole, bars };
}

/** Round times for the head of the waterfall: about four. */
export function ticks(seconds: number): number[] {
  if (seconds <= 0) return [];
  const rough = seconds / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((one) => one >= rough) ?? rough;
  return Array.from({ length: Math.floor((seconds * 0.92) / step) + 1 }, (_, index) => index * step);
}

/** A time on the scale: as short as it can be without two of them reading alike. */
export function tickText(seconds: number): string {
  const short = (value: number) => String(Number(value.toPrecision(3)));
  if (seconds === 0) return "0";
  return seconds < 1 ? `${short(seconds * 1000)} ms` : seconds < 60 ? `${short(seconds)} s` : secondsText(seconds);
}
