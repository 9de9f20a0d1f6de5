import styles from "./Sparkline.module.css";

interface Props {
  /** Oldest first; `null` is a gap. */
  values: readonly (number | null)[];
  /** The scale; default 0 to 1. */
  from?: number;
  to?: number;
  width?: number;
  height?: number;
  /** The text for screen readers: "cases passed in the last 8 runs: 80 % to 92.5 %". */
  label: string;
}

/** How a figure went, small enough for a row. The last value is a dot. */
export function Sparkline({ values, from = 0, to = 1, width = 96, height = 22, label }: Props) {
  const pad = 3;
  const x = (index: number) => pad + (index * (width - 2 * pad)) / Math.max(1, values.length - 1);
  const y = (value: number) => height - pad - ((value - from) / (to - from || 1)) * (height - 2 * pad);
  const last = values.length - 1;
  const end = values[last];
  return (
    <svg className={styles.spark} role="img" aria-label={label} width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
      <title>{label}</title>
      <path d={pathThrough(values, x, y)} />
      {typeof end === "number" && <circle cx={values.length === 1 ? width - pad : x(last)} cy={y(end)} r={2.5} />}
    </svg>
  );
}

/** The line through the values, broken at gaps: `M3 4L9 2M20 3L26 5`. */
export function pathThrough(
  values: readonly (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  let pen = "M";
  let path = "";
  values.forEach((value, index) => {
    if (value === null) pen = "M";
    else {
      path += `${pen}${round(x(index))} ${round(y(value))}`;
      pen = "L";
    }
  });
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
