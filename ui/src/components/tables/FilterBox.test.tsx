import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { act, useState } from "react";
import { useAddress } from "../../app/address";
import { click, press, render } from "../../../test/render";
import { FilterBox, hasWord, withWord } from "./FilterBox";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

function type(box: HTMLInputElement | null, text: string): void {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(box, text);
  box?.dispatchEvent(new Event("input", { bubbles: true }));
}

const pass = (milliseconds: number) => act(() => vi.advanceTimersByTime(milliseconds));

function Sorted() {
  const [query, setQuery] = useAddress();
  return (
    <>
      <FilterBox label="Filter" value={query.get("q") ?? ""} onChange={(q) => setQuery({ q })} pause={20} offers={["flaky"]} />
      <button type="button" className="sort" onClick={() => setQuery({ sort: "cost" })} />
    </>
  );
}

/** What it is filtered by comes back later than more is typed. */
function Slow({ hold }: { hold: { answer?: () => void } }) {
  const [value, setValue] = useState("");
  return <FilterBox label="Filter" value={value} onChange={(q) => (hold.answer = () => setValue(q))} pause={20} />;
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

  it("is taken after a pause, once", () => {
    const onChange = vi.fn();
    const { host } = render(<FilterBox label="Filter" value="" onChange={onChange} />);
    const box = host.querySelector("input");
    act(() => type(box, "a"));
    pass(149);
    act(() => type(box, "ab"));
    pass(149);
    expect(onChange).not.toHaveBeenCalled();
    pass(1);
    expect(onChange.mock.calls).toEqual([["ab"]]);
  });

  it("keeps what is typed while what was typed before comes back", () => {
    const hold: { answer?: () => void } = {};
    const { host } = render(<Slow hold={hold} />);
    const box = host.querySelector("input");
    act(() => type(box, "a"));
    pass(20);
    act(() => type(box, "ab"));
    act(() => hold.answer?.());
    expect(box?.value).toBe("ab");
    pass(20);
    act(() => hold.answer?.());
    expect(box?.value).toBe("ab");
  });

  it("keeps a value that the address received during its pause", () => {
    const { host, at } = render(<Sorted />, "/things");
    act(() => type(host.querySelector("input"), "a"));
    click(host.querySelector(".sort"));
    pass(20);
    expect(at()).toBe("/things?sort=cost&q=a");
  });

  it("takes a word that is pressed in its pause with what was typed", () => {
    const { host, at } = render(<Sorted />, "/things");
    act(() => type(host.querySelector("input"), "a"));
    click(host.querySelector("button"));
    pass(20);
    expect(at()).toBe("/things?q=a+flaky");
    expect(host.querySelector("input")?.value).toBe("a flaky");
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
