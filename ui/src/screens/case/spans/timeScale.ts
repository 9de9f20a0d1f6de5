import { secondsText } from "../../../components/text/numberFormats";
import type { SpanPart, SpansPage } from "../../../data/types";

/** Where a bar is, in per cent of what is shown. */
export interface Bar {
  left: number;
  width: number;
}

/** The part of the time that is shown, in seconds. */
export interface TimeWindow {
  from: number;
  to: number;
}

export interface Scale {
  /** The length of the whole, in seconds. */
  seconds: number;
  /** One for each span; null: duration not recorded. */
  bars: (Bar | null)[];
}

type Timed = Pick<SpanPart, "start" | "seconds" | "timing">;

/** Place the spans that have a time; nothing is made up for the others. */
export function barsOf(page: SpansPage, zoom: TimeWindow | null = null): Scale {
  const ends = page.spans.map(({ start, seconds }) => (start ?? 0) + (seconds ?? 0));
  const whole = Math.max(page.seconds ?? 0, ...ends);
  const { from, to } = zoom ?? { from: 0, to: whole };
  const share = (at: number) => Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100));
  const bars = page.spans.map((span) => {
    const time = timeOf(span);
    if (!time || to <= from) return null;
    return { left: share(time.from), width: share(time.to) - share(time.from) };
  });
  return { seconds: whole, bars };
}

/** The time of a span; null: not recorded. */
export function timeOf({ start, seconds, timing }: Timed): TimeWindow | null {
  return timing === "none" || start === null || seconds === null ? null : { from: start, to: start + seconds };
}

/** The spans of which a part is in the window: their indexes. A span without a time is shown with its turn. */
export function spansIn({ spans }: SpansPage, zoom: TimeWindow | null): number[] {
  const all = spans.map((_, index) => index);
  if (!zoom) return all;
  const overlaps = (time: TimeWindow | null) => time !== null && time.from < zoom.to && time.to > zoom.from;
  const turns = new Set(spans.filter((span) => span.kind === "turn" && overlaps(timeOf(span))).map(({ turn }) => turn));
  return all.filter((index) => {
    const span = spans[index];
    return span !== undefined && (timeOf(span) ? overlaps(timeOf(span)) : turns.has(span.turn));
  });
}

const SHORTEST = 0.001; // seconds that a window shows at least

/** The window half (or twice) as long, with the same middle; null: all of it. */
export function zoomBy(zoom: TimeWindow | null, whole: number, times: number): TimeWindow | null {
  const { from, to } = zoom ?? { from: 0, to: whole };
  const length = Math.max(SHORTEST, (to - from) * times);
  return moveTo((from + to - length) / 2, length, whole);
}

/** The window moved by a share of its length. */
export function panBy(zoom: TimeWindow, whole: number, share: number): TimeWindow | null {
  const length = zoom.to - zoom.from;
  return moveTo(zoom.from + share * length, length, whole);
}

function moveTo(from: number, length: number, whole: number): TimeWindow | null {
  if (length >= whole) return null;
  const begin = Math.min(Math.max(0, from), whole - length);
  return { from: begin, to: begin + length };
}

/** A window in the address: `1.2-3.4`, in seconds. */
export function readWindow(text: string | null): TimeWindow | null {
  const found = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? "");
  const [from, to] = [Number(found?.[1]), Number(found?.[2])];
  return found && to > from ? { from, to } : null;
}

export function writeWindow(zoom: TimeWindow | null): string | null {
  return zoom && `${Number(zoom.from.toFixed(4))}-${Number(zoom.to.toFixed(4))}`;
}

/** Round times for the head of the waterfall: about four. */
export function ticks(seconds: number, from = 0): number[] {
  if (seconds <= 0) return [];
  const rough = seconds / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((one) => one >= rough) ?? rough;
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor((from + seconds * 0.92) / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
}

/** A time on the scale: as short as it can be without two of them reading alike. */
export function tickText(seconds: number): string {
  const short = (value: number) => String(Number(value.toPrecision(3)));
  if (seconds === 0) return "0";
  return seconds < 1 ? `${short(seconds * 1000)} ms` : seconds < 60 ? `${short(seconds)} s` : secondsText(seconds);
}
