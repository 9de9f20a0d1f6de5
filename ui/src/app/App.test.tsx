import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, describe, expect, it, vi } from "vitest";
import { click, eventually, fixedSource, press } from "../../test/render";
import { App } from "./App";
import { NAV, SCREENS } from "./routes";

const EMPTY = { "/api/runs?limit=100": { items: [], next: null, total: 0 }, "/api/runs": { items: [], next: null, total: 0 } };

let leave = () => undefined as void;
afterEach(() => leave());

async function open(path: string, live: boolean, places: Record<string, string> = {}, answers: Record<string, unknown> = EMPTY): Promise<HTMLElement> {
  window.history.replaceState(null, "", live ? path : `/report.html#${path}`);
  const host = document.body.appendChild(document.createElement("div"));
  const root = createRoot(host);
  leave = () => act(() => root.unmount());
  act(() => root.render(<App source={fixedSource(answers, live)} start="/nowhere" places={places} />));
  await eventually(() => expect(host.querySelector("h1")).not.toBeNull());
  return host;
}

const entries = (host: HTMLElement) => [...host.querySelectorAll('nav[aria-label="Pages"] a')].map((one) => one.textContent);

describe("the page", () => {
  it("begins at the configured page, behind the # in a file", async () => {
    await open("/", false);
    await eventually(() => expect(window.location.hash).toBe("#/nowhere"));
    leave();
    await open("/", true);
    await eventually(() => expect(window.location.pathname).toBe("/nowhere"));
  });

  it("begins there, too, at the login page of a server that needs no token", async () => {
    await open("/login", true);
    await eventually(() => expect(window.location.pathname).toBe("/nowhere"));
  });

  it("shows what needs a server only where there is one", async () => {
    const screens = NAV.filter(({ to }) => SCREENS.some(({ path }) => path === to));
    const live = await open("/runs", true);
    expect(entries(live)).toEqual(screens.map(({ name }) => name));
    leave();
    expect(entries(await open("/runs", false))).toEqual(["Runs"]);
    leave();
    expect(entries(await open("/runs", false, { "/compare": "/compare?base=a&candidate=b", "/judges": "/judges" }))).toEqual(["Runs", "Compare", "Judges"]);
    expect(document.querySelector('nav[aria-label="Pages"] a:nth-child(2)')?.getAttribute("href")).toBe("#/compare?base=a&candidate=b");
  });

  it("shows an unknown address as not found", async () => {
    const host = await open("/nowhere", true);
    expect(host.querySelector("h1")?.textContent).toBe("Page not found");
  });

  it("states why a screen cannot be shown, until another one is", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const host = await open("/eval-sets", true, {}, { ...EMPTY, "/api/eval-sets": { items: 3 } });
    await eventually(() => expect(host.querySelector("main")?.textContent).toContain("This screen cannot be shownThis is a defect of Proctor: TypeError"));
    click(host.querySelector('a[href="/runs"]'));
    await eventually(() => expect(host.querySelector("h1")?.textContent).toBe("No runs yet"));
  });

  it("goes from page to page in a file, and back, with the query behind the #", async () => {
    const host = await open("/nowhere?a=1", false);
    click(host.querySelector('a[href="#/runs"]'));
    await eventually(() => expect(host.querySelector("h1")?.textContent).toBe("No runs yet"));
    expect(window.location.hash).toBe("#/runs");
    window.history.back();
    await eventually(() => expect(host.querySelector("h1")?.textContent).toBe("Page not found"));
    expect(window.location.hash).toBe("#/nowhere?a=1");
  });

  it("moves by key through the parts that open, and around their ends", async () => {
    const host = await open("/nowhere", true);
    host.querySelector("#main")?.insertAdjacentHTML("beforeend", '<details><summary>one</summary></details><button aria-expanded="false">two</button>');
    const visited = [".", ".", ".", ",", ","].map((key) => (press(key), document.activeElement?.textContent));
    expect(visited).toEqual(["one", "two", "one", "two", "one"]);
  });

  it("has a help that lists its keys", async () => {
    await open("/runs", true);
    press("?");
    await eventually(() => expect(document.querySelector("[role=dialog]")?.textContent).toContain("this help"));
    press("Escape", document.querySelector("[role=dialog]") ?? document.body);
    await eventually(() => expect(document.querySelector("[role=dialog]")).toBeNull());
  });
});
