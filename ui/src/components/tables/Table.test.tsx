import { act, useState } from "react";
import { describe, expect, it, vi } from "vitest";
import { click, press, render, settle } from "../../../test/render";
import { type Column, Table, type TableProps, nextSort } from "./Table";

interface Row {
  id: string;
  cost: number | null;
}

const ROWS: Row[] = [
  { id: "b", cost: 2 },
  { id: "a", cost: null },
  { id: "d", cost: 10 },
  { id: "c", cost: 0 },
];
const COLUMNS: Column<Row>[] = [
  { id: "id", head: "Name", cell: ({ id }) => id, sortBy: ({ id }) => id },
  { id: "cost", head: "Cost", cell: ({ cost }) => cost ?? "–", sortBy: ({ cost }) => cost, first: "desc" },
];

function table(more: Partial<TableProps<Row>> = {}) {
  return <Table label="Things" rows={ROWS} columns={COLUMNS} idOf={({ id }) => id} href={({ id }) => `/things/${id}`} {...more} />;
}

/** A table with boxes, and n for the rows whose cost is known; the chosen ids are below. */
function Choosing() {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const onChoose = (id: string, on?: boolean) =>
    setChosen((was) => ((on ?? !was.has(id)) ? new Set([...was, id]) : new Set([...was].filter((one) => one !== id))));
  return (
    <>
      {table({ choice: { chosen, onChoose, label: "Choose" }, stops: ({ cost }) => cost !== null })}
      <output>{[...chosen].join("")}</output>
    </>
  );
}

/** Press a key where the focus is; as in a browser, a focused link handles Enter unless a handler did. */
function strike(key: string): void {
  const target = document.activeElement ?? document.body;
  const event = new KeyboardEvent("keydown", { key: key === "\n" ? "Enter" : key, bubbles: true, cancelable: true });
  const isLeft = target.dispatchEvent(event);
  if (isLeft && key === "\n" && target instanceof HTMLAnchorElement) target.click();
}

const names = (host: HTMLElement) => [...host.querySelectorAll("[data-index] a")].map((one) => one.textContent);
const current = (host: HTMLElement) => host.querySelector("[aria-current]")?.textContent ?? null;

describe("a table", () => {
  it.each([
    ["", "badc"],
    ["id", "abcd"],
    ["-id", "dcba"],
    ["cost", "cbda"], // what is not known comes last
    ["-cost", "dbca"], // either way
    ["nothing", "badc"],
  ])("sorted by %j is %s", (sort, order) => {
    const { host } = render(table({ sort }));
    expect(names(host).join("")).toBe(order);
  });

  it.each([
    ["cost", "desc", ["-cost", "cost", ""]],
    ["id", "asc", ["id", "-id", ""]],
  ] as const)("by %s, %s first, goes round in three presses", (id, first, ways) => {
    let sort = "";
    for (const way of ways) {
      sort = nextSort(id, sort, first);
      expect(sort).toBe(way);
    }
    expect(nextSort(id, "-other", first)).toBe(ways[0]);
  });

  it("shows its sort order, and requests another one", () => {
    const onSort = vi.fn();
    const { host } = render(table({ sort: "-cost", onSort }));
    const heads = [...host.querySelectorAll("[role=columnheader]")];
    expect(heads.map((head) => head.getAttribute("aria-sort"))).toEqual(["none", "descending"]);
    click(heads[1]?.querySelector("button") ?? null);
    expect(onSort).toHaveBeenCalledWith("cost");
  });

  it("is moved through by keys, with the focus, and stops at its ends", () => {
    const { host } = render(table());
    press("j");
    press("j");
    expect(current(host)).toBe("a–");
    expect(document.activeElement?.textContent).toBe("a");
    press("k");
    press("k");
    press("k");
    expect(current(host)).toBe("b2");
    for (const _ of ROWS) press("j");
    press("j");
    expect(current(host)).toBe("c0");
  });

  describe.each([
    ["each drawn before the next", (keys: string) => [...keys].forEach((key) => act(() => strike(key)))],
    ["all of them before the first is drawn", (keys: string) => act(() => [...keys].forEach(strike))],
  ])("does what keys mean, %s", (_, type) => {
    it.each([
      ["jjj", { row: "d" }],
      ["jnkj", { row: "d" }],
      ["nn", { row: "d" }],
      ["jnkj\n", { row: "d", opened: "d" }],
      ["jjjk\n", { row: "a", opened: "a" }],
      ["nnnnn\n", { row: "c", opened: "c" }],
      ["jxjxkx", { row: "b", chosen: "a" }],
      ["jxx", { row: "b", chosen: "" }],
    ])("%j", (keys, { row, opened = "", chosen = "" }: { row: string; opened?: string; chosen?: string }) => {
      const { host, at } = render(<Choosing />);
      type(keys);
      expect(current(host)).toMatch(new RegExp(`${row}[^a-z]*$`));
      expect(document.activeElement?.textContent).toBe(row);
      expect(at()).toBe(opened ? `/things/${opened}` : "/");
      expect(host.querySelector("output")?.textContent).toBe(chosen);
    });
  });

  it.each([
    ["x", null, "b", "/"],
    ["\n", null, "", "/things/b"],
    ["x", "c", "c", "/"],
    ["jx", null, "b", "/"],
    ["xj", null, "b", "/"],
  ])("%j with the focus in %j chooses %j, opens %j", (keys, focused, chosen, opened) => {
    const { host, at } = render(<Choosing />);
    [...host.querySelectorAll("[data-index] a")].find((link) => link.textContent === focused)?.closest("[data-index]")?.querySelector("input")?.focus();
    act(() => [...keys].forEach(strike));
    expect([host.querySelector("output")?.textContent, at()]).toEqual([chosen, opened]);
  });

  it("opens a row that it went to and has not drawn yet", () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => ({ id: `row ${index}`, cost: index }));
    const { host, at } = render(table({ rows, stops: ({ cost }) => cost === 5_000 }));
    act(() => [..."jnj\n"].forEach(strike));
    expect(host.textContent).not.toContain("row 5001");
    expect(at()).toBe("/things/row 5001");
  });

  it.each([
    ["are sorted", table({ sort: "id" }), "j", "b"],
    ["are sorted the other way", table({ sort: "-id" }), "k", "b"],
    ["come in another order", table({ rows: [...ROWS].reverse() }), "", "a"],
    ["go before it", table({ rows: ROWS.slice(1) }), "j", "d"],
    ["go, and it with them", table({ rows: ROWS.slice(2) }), "j", "d"],
    ["come before it", table({ rows: [{ id: "new", cost: 1 }, ...ROWS] }), "k", "b"],
  ])("continues from its row when rows %s", (_, changed, key, row) => {
    const { host, at, again } = render(table());
    act(() => [..."jj"].forEach(strike)); // at a
    again(changed);
    act(() => [...key, "\n"].forEach(strike));
    expect(current(host)).toMatch(new RegExp(`^${row}`));
    expect(at()).toBe(`/things/${row}`);
  });

  it.each([
    ["jjj", "Things", "d"],
    ["jjjjj", "More", "b"],
    ["jjjjjjj", "More", "d"],
    ["jjjjjjkk", "Things", "c"],
    ["jjjjjjjjjjjj", "More", "c"],
    ["kkk", "Things", "b"],
    ["jjjjjkkkkkkkkk", "Things", "b"],
    ["nnnn", "More", "b"],
  ])("is one of several that the keys %s go through in their order", (keys, label, row) => {
    const stops = ({ cost }: Row) => cost !== null;
    const { host, at } = render(<>{table({ stops })}{table({ label: "None", rows: [] })}{table({ label: "More", stops, href: ({ id }) => `/more/${id}` })}</>);
    for (const key of keys) press(key);
    const marked = [...host.querySelectorAll("[aria-current]")];
    expect(marked.map((one) => [one.closest("[role=table]")?.getAttribute("aria-label"), one.querySelector("a")?.textContent])).toEqual([[label, row]]);
    press("Enter");
    expect(at()).toBe(`/${label.toLowerCase()}/${row}`);
  });

  it("opens the row that it is at", () => {
    const { at } = render(table());
    press("j");
    press("Enter");
    expect(at()).toBe("/things/b");
  });

  it("stays at its row when rows arrive before it", () => {
    const { host, again } = render(table());
    press("j");
    press("j");
    again(table({ rows: [{ id: "new", cost: 1 }, ...ROWS] }));
    expect(current(host)).toMatch(/^a/);
    press("j");
    expect(current(host)).toMatch(/^d/);
  });

  it("is moved through where ids are not unique, as in a faulty file", () => {
    const { host } = render(table({ rows: [ROWS[0], ROWS[0], ROWS[2]] as Row[] }));
    for (const key of ["j", "j", "j"]) press(key);
    expect(current(host)).toMatch(/^d/);
  });

  it("is, when one comes back to it, at the row that was opened", () => {
    const { host } = render(table());
    for (const key of ["j", "j", "Enter"]) press(key);
    host.remove();
    const back = render(table());
    expect(current(back.host)).toMatch(/^a/);
    expect(document.activeElement?.textContent).toBe("a");
    press("j");
    expect(current(back.host)).toMatch(/^d/);
    expect(current(render(table({ label: "Others" })).host)).toBeNull();
  });

  it("opens a row that is pressed, and not when it is chosen", () => {
    const onChoose = vi.fn();
    const { host, at } = render(table({ choice: { chosen: new Set(["a"]), onChoose, label: "Compare" } }), "/things");
    click(host.querySelector("[data-index='2'] input"));
    expect(onChoose).toHaveBeenCalledWith("d", true);
    expect(at()).toBe("/things");
    click(host.querySelector("[data-index='2'] [role=cell]:last-child"));
    expect(at()).toBe("/things/d");
  });

  it("draws a few of very many rows, and reports their number", async () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => ({ id: `row ${index}`, cost: index }));
    const { host } = render(table({ rows }));
    await settle();
    expect(host.querySelectorAll("[data-index]").length).toBeLessThan(100);
    expect(host.querySelector("[role=table]")?.getAttribute("aria-rowcount")).toBe("10001");
  });

  it("draws every row on paper", async () => {
    const rows = Array.from({ length: 200 }, (_, index) => ({ id: `row ${index}`, cost: index }));
    const { host } = render(table({ rows }));
    window.dispatchEvent(new Event("beforeprint"));
    await settle();
    expect(host.querySelectorAll("[data-index]").length).toBe(200);
  });
});
