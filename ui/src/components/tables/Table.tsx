import { type CSSProperties, type MouseEvent, useMemo, useRef } from "react";
import { useLocation } from "wouter";
import { Term } from "../terms/Term";
import { type Choice, type Column, TableRow } from "./TableRow";
import styles from "./Table.module.css";
import { sortRows } from "./sortRows";
import { rememberRow, usePrinting, useRowAt, useRowKeys, useRowWindow } from "./useTableRows";

export type { Choice, Column } from "./TableRow";

export interface TableProps<Row> {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  idOf: (row: Row) => string;
  /** The page of a row, where it has one: the first column links there, Enter and a click on the row go there. */
  href?: (row: Row) => string | undefined;
  /** `cost`, `-cost`; empty: as the rows come. Keep it in the address. */
  sort?: string;
  onSort?: (sort: string) => void;
  /** A box before each row to choose it by. */
  choice?: Choice;
  /** Whether j, k and Enter work here; they go through all tables of the page. Default true; false for a table without links. */
  keys?: boolean;
  /** Rows that `n` stops at: the next one worth a look. */
  stops?: (row: Row) => boolean;
  /** Called when the last rows come into view: the place to ask for more. */
  onEnd?: () => void;
}

/** Rows of one kind. Only those in view are drawn, so that 10,000 are as quick as 10. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, choice, href, idOf } = props;
  const { rows: unsorted, sort = "" } = props;
  const rows = useMemo(() => sortRows(unsorted, columns, sort), [unsorted, columns, sort]);
  const body = useRef<HTMLDivElement>(null);
  const ids = useMemo(() => rows.map(idOf), [rows, idOf]);
  const place = useRowAt(label, ids);
  const [, navigate] = useLocation();
  const windowed = useRowWindow(body, rows.length, usePrinting(), props.onEnd);
  useRowKeys({ on: props.keys !== false, count: rows.length, place, body, reveal: windowed.reveal, open: openAction(), choose: chooseAction(), next: nextStop() });

  function nextStop(): ((after: number) => number) | null {
    const { stops } = props;
    return stops ? (after) => rows.findIndex((row, index) => index > after && stops(row)) : null;
  }

  function openAction(): ((index: number) => void) | null {
    if (!href) return null;
    return (index) => {
      const row = rows[index];
      const to = row && href(row);
      if (!to) return;
      rememberRow(label, idOf(row));
      navigate(to);
    };
  }

  function chooseAction(): ((index: number) => void) | null {
    if (!choice) return null;
    return (index) => {
      const row = rows[index];
      if (row) choice.onChoose(idOf(row));
    };
  }

  function rememberOpened(event: MouseEvent): void {
    const index = (event.target as Element).closest("[data-index]")?.getAttribute("data-index");
    const id = index ? ids[Number(index)] : undefined;
    if (href && id !== undefined) rememberRow(label, id);
  }

  return (
    <div role="table" aria-label={label} aria-rowcount={rows.length + 1} className={`${styles.table} panel`} style={gridTracks(columns, choice)}>
      <Head {...props} />
      <div role="rowgroup" ref={body} className={styles.body} style={windowed.style} onClickCapture={rememberOpened}>
        {windowed.items.map(({ index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <TableRow
              key={idOf(row)}
              id={idOf(row)}
              row={row}
              index={index}
              start={start}
              columns={columns}
              current={index === place.at}
              measure={windowed.measure}
              href={href?.(row)}
              {...(choice ? { choice } : {})}
            />
          );
        })}
      </div>
    </div>
  );
}

function Head<Row>({ columns, sort = "", onSort, choice }: TableProps<Row>) {
  return (
    <div role="rowgroup" className={styles.head}>
      <div role="row" className={styles.row}>
        {choice && (
          <div role="columnheader" className={styles.box}>
            <span className="hidden">{choice.label}</span>
          </div>
        )}
        {columns.map((column) => (
          <HeadCell key={column.id} column={column} sort={sort} onSort={onSort} />
        ))}
      </div>
    </div>
  );
}

const WAYS = { ascending: "↑", descending: "↓" };

interface HeadCellProps<Row> {
  column: Column<Row>;
  sort: string;
  onSort: ((sort: string) => void) | undefined;
}

function HeadCell<Row>({ column, sort, onSort }: HeadCellProps<Row>) {
  const { id, head, align, optional, wideOnly, below, sortBy, first, term } = column;
  const sortable = sortBy !== undefined && onSort !== undefined;
  const way = sort === id ? "ascending" : sort === `-${id}` ? "descending" : "none";
  return (
    <div role="columnheader" aria-sort={sortBy ? way : undefined} className={styles.cell} data-align={align} data-optional={optional} data-wide={wideOnly} data-below={below}>
      {sortable ? (
        <button type="button" className={styles.sort} onClick={() => onSort(nextSort(id, sort, first))}>
          {head}
          {way !== "none" && <span aria-hidden>{WAYS[way]}</span>}
        </button>
      ) : term ? (
        <Term name={term}>{head}</Term>
      ) : (
        head
      )}
      {sortable && term && <Term name={term} />}
    </div>
  );
}

/** Three presses: the first way, the other way, as the rows come. */
export function nextSort(id: string, sort: string, first: "asc" | "desc" = "asc"): string {
  const ways = first === "asc" ? [id, `-${id}`, ""] : [`-${id}`, id, ""];
  return ways[ways.indexOf(sort) + 1] ?? (sort === "" ? (ways[0] ?? "") : "");
}

function gridTracks<Row>(columns: readonly Column<Row>[], choice: Choice | undefined): CSSProperties {
  const wide = columns.filter(({ below }) => below !== "always").map(({ width = "minmax(0, 1fr)" }) => width);
  const middle = columns.filter(({ wideOnly, below }) => !wideOnly && !below).map(({ width = "minmax(0, 1fr)" }) => width);
  const narrow = columns.filter(({ optional, below }) => !optional && !below).map(({ width = "minmax(0, 1fr)", narrow: own = width }) => own);
  const box = choice ? ["40px"] : [];
  const templates = { "--tracks": wide, "--middle": middle, "--narrow": narrow };
  return Object.fromEntries(Object.entries(templates).map(([name, widths]) => [name, [...box, ...widths].join(" ")])) as CSSProperties;
}
