import { describe, expect, it, vi } from "vitest";
import { click, press, render, settle } from "../../test/render";
import { FilterBox, hasWord, withWord } from "./FilterBox";

function type(box: HTMLInputElement, text: string): void {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(box, text);
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

describe("a filter", () => {
  it.each([
    ["", "outcome:failed", "outcome:failed"],
    ["flaky", "outcome:failed", "flaky outcome:failed"],
    ["flaky  outcome:failed", "outcome:failed", "flaky"],
    ["outcome:failed,error", "outcome:failed", "outcome:failed,error outcome:failed"],
  ])("%j and the offer %s make %j", (text, word, next) => {
    expect(withWord(text, word)).toBe(next);
    expect(hasWord(next, word)).toBe(!hasWord(text, word));
  });

  it("is taken after a pause, once", async () => {
    const onChange = vi.fn();
    const { host } = render(<FilterBox label="Filter" value="" onChange={onChange} />);
    const box = host.querySelector("input") as HTMLInputElement;
    type(box, "a");
    type(box, "ab");
    expect(onChange).not.toHaveBeenCalled();
    await settle(250);
    expect(onChange.mock.calls).toEqual([["ab"]]);
  });

  it("follows the address", () => {
    const { host, again } = render(<FilterBox label="Filter" value="a" onChange={() => undefined} />);
    again(<FilterBox label="Filter" value="b" onChange={() => undefined} />);
    expect(host.querySelector("input")?.value).toBe("b");
  });

  it("is where / leads, and offers words", () => {
    const onChange = vi.fn();
    const { host } = render(<FilterBox label="Filter" value="x" onChange={onChange} offers={["flaky"]} found="6 of 40" />);
    press("/");
    expect(document.activeElement).toBe(host.querySelector("input"));
    click(host.querySelector("button"));
    expect(onChange).toHaveBeenCalledWith("x flaky");
    expect(host.querySelector("[role=status]")?.textContent).toBe("6 of 40");
  });
});
