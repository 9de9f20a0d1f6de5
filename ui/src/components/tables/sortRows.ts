import type { Column } from "./TableRow";

const words = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** The rows in the order of `sort` (`cost`, `-cost`); equal rows keep their order, and rows without a value come last. */
export function sortRows<Row>(rows: readonly Row[], columns: readonly Pick<Column<Row>, "id" | "sortBy">[], sort: string): readonly Row[] {
  const way = sort.startsWith("-") ? -1 : 1;
  const sortBy = columns.find(({ id }) => id === sort.replace(/^-/, ""))?.sortBy;
  if (!sortBy) return rows;
  const keyed = rows.map((row) => [sortBy(row), row] as const);
  return keyed.sort(([one], [other]) => (one === null || other === null ? Number(one === null) - Number(other === null) : way * compare(one, other))).map(([, row]) => row);
}

function compare(one: number | string, other: number | string): number {
  return typeof one === "number" && typeof other === "number" ? one - other : words.compare(String(one), String(other));
}
