import { act } from "react";
import { describe, expect, it } from "vitest";
import { render } from "../../../test/render";
import { DEFINITIONS } from "./definitions";
import { Term } from "./Term";

const tip = (host: HTMLElement) => host.querySelector("[role=tooltip]");

function focused(): HTMLElement {
  const { host } = render(<Term name="kappa">Cohen’s kappa</Term>);
  act(() => host.querySelector("button")?.focus());
  return host;
}

describe("a term", () => {
  it("shows its definition on focus and names it as its description", () => {
    const host = focused();
    expect(tip(host)?.textContent).toBe(DEFINITIONS.kappa);
    expect(host.querySelector("button")?.getAttribute("aria-describedby")).toBe(tip(host)?.id);
  });

  it("hides it on Escape", () => {
    const host = focused();
    act(() => void host.querySelector("button")?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true })));
    expect(tip(host)).toBeNull();
  });

  it("shows it on a tap and hides it on a tap elsewhere", () => {
    const { host } = render(<Term name="passHatK">pass^2</Term>);
    act(() => host.querySelector("button")?.click());
    expect(tip(host)).not.toBeNull();
    act(() => void document.body.dispatchEvent(new Event("pointerdown", { bubbles: true })));
    expect(tip(host)).toBeNull();
  });

  it("is a question mark where it has no text", () => {
    const { host } = render(<Term name="trials" />);
    expect(host.querySelector("button")?.getAttribute("aria-label")).toBe("What does this mean?");
  });
});

describe("definitions", () => {
  it.each(Object.entries(DEFINITIONS))("are one sentence: %s", (_, text) => {
    expect(text).toMatch(/^[A-Zp].*[^.]\.$/);
    expect(text.replace(/\d\.\d/g, "").split(". ")).toHaveLength(1);
  });
});
