import { type MouseEvent, type ReactNode, memo } from "react";
import { Link, useLocation } from "wouter";
import type { TermName } from "../terms/definitions";
import styles from "./Table.module.css";

export interface Column<Row> {
  id: string;
  head: ReactNode;
  cell: (row: Row) => ReactNode;
  /** The statistic that the column shows: the head explains it. */
  term?: TermName;
  /** A track of a CSS grid: `120px`, `minmax(0, 2fr)`. Default `minmax(0, 1fr)`. */
  width?: string;
  /** The same on a narrow page, where it is another one. */
  narrow?: string;
  align?: "end";
  /** Left out on a narrow page. */
  optional?: boolean;
  /** Left out on a page of at most 1100 pixels, such as paper: it needs more room. */
  wideOnly?: boolean;
  /** The cell is below the others, as wide as the row: on a page of at most 1100 pixels, or on every one. */
  below?: "narrow" | "always";
  /** What the column is sorted by; without it the column is not. `null` comes last. */
  sortBy?: (row: Row) => number | string | null;
  /** Which way the first press sorts. Default: ascending. */
  first?: "asc" | "desc";
}

export interface Choice {
  chosen: ReadonlySet<string>;
  /** `on`: the new state; without it, the state is toggled. */
  onChoose: (id: string, on?: boolean) => void;
  /** What choosing a row means, for those who hear it: "compare". */
  label: string;
}

interface Props<Row> {
  id: string;
  row: Row;
  index: number;
  /** Pixels from the top of the body; `null` where every row is drawn, one below the other. */
  start: number | null;
  columns: readonly Column<Row>[];
  current: boolean;
  measure: ((element: Element | null) => void) | null;
  href: string | undefined;
  choice?: Choice;
}

function Row<Row>({ id, row, index, start, columns, current, measure, href, choice }: Props<Row>) {
  const [, navigate] = useLocation();
  const open = (event: MouseEvent<HTMLElement>) => {
    if (!href || isControl(event.target) || window.getSelection()?.toString()) return;
    navigate(href);
  };
  return (
    <div
      role="row"
      ref={measure}
      data-index={index}
      aria-rowindex={index + 2}
      aria-current={current || undefined}
      className={styles.row}
      data-opens={href !== undefined || undefined}
      style={start === null ? undefined : { position: "absolute", top: 0, left: 0, right: 0, transform: `translateY(${start}px)` }}
      onClick={open}
    >
      {choice && <Box id={id} choice={choice} />}
      {columns.map((column, at) => (
        <div key={column.id} role="cell" className={styles.cell} data-align={column.align} data-optional={column.optional} data-wide={column.wideOnly} data-below={column.below}>
          {at === 0 && href ? (
            <Link href={href} className={styles.link}>
              {column.cell(row)}
            </Link>
          ) : (
            column.cell(row)
          )}
        </div>
      ))}
    </div>
  );
}

/** One row: drawn again only when something of it changes. */
export const TableRow = memo(Row) as typeof Row;

function Box({ id, choice }: { id: string; choice: Choice }) {
  return (
    <div role="cell" className={styles.box}>
      <label>
        <input type="checkbox" checked={choice.chosen.has(id)} onChange={(event) => choice.onChoose(id, event.target.checked)} />
        <span className="hidden">{`${choice.label} ${id}`}</span>
      </label>
    </div>
  );
}

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest("a,button,input,label,select,textarea") !== null;
}
