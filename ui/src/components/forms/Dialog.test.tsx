import { describe, expect, it, vi } from "vitest";
import { eventually, press, render } from "../../../test/render";
import { Dialog } from "./Dialog";

describe("Escape in a dialog", () => {
  it.each([["a text field", <input key="i" />], ["a text area", <textarea key="t" />]])("leaves %s first, then closes the dialog", async (_, field) => {
    const close = vi.fn();
    render(<Dialog open onClose={close} title="Name">{field}</Dialog>);
    const shown = () => document.querySelector("[role=dialog] input, [role=dialog] textarea");
    await eventually(() => expect(document.activeElement).toBe(shown()));
    press("Escape", shown() ?? document.body);
    expect(close).not.toHaveBeenCalled();
    expect(document.activeElement).toBe(shown()?.parentElement);
    press("Escape", document.activeElement ?? document.body);
    expect(close).toHaveBeenCalled();
  });

  it("closes it from a list of options", async () => {
    const close = vi.fn();
    render(<Dialog open onClose={close} title="Agent"><select /></Dialog>);
    await eventually(() => expect(document.activeElement?.tagName).toBe("SELECT"));
    press("Escape", document.activeElement ?? document.body);
    expect(close).toHaveBeenCalled();
  });
});
