import { describe, expect, it, vi } from "vitest";
import { press, render } from "../../test/render";
import { Skeleton } from "../components/feedback/Skeleton";
import { Button } from "../components/forms/Button";
import { sortBindings } from "./KeyHelp";
import { type Binding, allBindings, matchBinding, useKeys } from "./keyboard";

const binding = (keys: string, run: () => void = () => undefined): Binding => ({ keys, does: keys, run });

function Bound({ bindings }: { bindings: Binding[] }) {
  useKeys(bindings);
  return <input aria-label="text" />;
}

function Reading() {
  useKeys([binding("?")]);
  return <Skeleton />;
}

describe("keys", () => {
  it.each([
    ["g", "r", "g r"],
    ["", "r", "r"],
    ["x", "r", "r"],
    ["g", "q", undefined],
  ])("after %j, %j means %j", (before, key, keys) => {
    expect(matchBinding([binding("r"), binding("g r")], before, key)?.keys).toBe(keys);
  });

  it("do what is bound, once, and nothing after what bound them is gone", () => {
    const run = vi.fn();
    const { again } = render(<Bound bindings={[binding("j", run)]} />);
    press("j");
    expect(run).toHaveBeenCalledTimes(1);
    again(null);
    press("j");
    expect(run).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["[", { altKey: true }, 1], // a Mac's Option
    ["[", { altKey: true, ctrlKey: true }, 1], // AltGr
    ["[", { metaKey: true }, 0], // back, in a browser
    ["[", { ctrlKey: true }, 0],
    ["j", { altKey: true }, 0],
    ["j", { ctrlKey: true }, 0],
  ])("%j with %o is done %d times", (key, held, times) => {
    const run = vi.fn();
    render(<Bound bindings={[binding(key, run)]} />);
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...held }));
    expect(run).toHaveBeenCalledTimes(times);
  });

  it("press a control once, however long they are held", () => {
    const run = vi.fn();
    render(<Button action="labelPass" onClick={run}>Pass</Button>);
    for (const repeat of [false, true, true]) {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "p", bubbles: true, cancelable: true, repeat }));
    }
    expect(run).toHaveBeenCalledTimes(1);
  });

  it("press a control that is not ready as soon as it is, once", async () => {
    const run = vi.fn();
    const star = (reading: boolean) => <Button action="star" reading={reading} onClick={run}>Star</Button>;
    const { again } = render(star(true));
    press("s");
    expect(run).not.toHaveBeenCalled();
    again(star(false));
    again(star(false));
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1));
  });

  it("that do nothing while something is read take effect after it, in their order", async () => {
    const struck: string[] = [];
    const keys = ["j", "x"].map((key) => binding(key, () => struck.push(key)));
    const { again } = render(<Reading />);
    for (const key of ["j", "q", "x", "j"]) press(key);
    again(<Bound bindings={keys} />);
    await vi.waitFor(() => expect(struck).toEqual(["j", "x", "j"]));
  });

  it("that are struck while kept ones take effect come after them", async () => {
    const struck: string[] = [];
    const keys = ["j", "Enter"].map((key) => binding(key, () => struck.push(key)));
    const { again } = render(<Reading />);
    press("j");
    press("j");
    again(<Bound bindings={keys} />);
    press("Enter");
    await vi.waitFor(() => expect(struck).toEqual(["j", "j", "Enter"]));
  });

  it("are for the page again after Escape has left a field", () => {
    const { host } = render(<Bound bindings={[binding("j")]} />);
    const field = host.querySelector("input") as HTMLInputElement;
    field.focus();
    press("Escape", field);
    expect(document.activeElement).toBe(document.body);
  });

  it("that are struck while a page is read are not for another page", async () => {
    const run = vi.fn();
    const { again } = render(<Reading />);
    press("j");
    window.history.pushState(null, "", "/another");
    again(<Bound bindings={[binding("j", run)]} />);
    await new Promise((done) => setTimeout(done, 20));
    expect(run).not.toHaveBeenCalled();
  });

  it("that can do nothing now do not hide others, and have their reason", () => {
    const run = vi.fn();
    render(
      <>
        <Bound bindings={[binding("s", run)]} />
        <Button action="star" disabled="choose a run">Star</Button>
        <Button action="compare" disabled="choose two runs">Compare</Button>
      </>,
    );
    press("s");
    press("c");
    expect(run).toHaveBeenCalledTimes(1);
    expect(allBindings().map(({ keys, unavailable }) => [keys, unavailable])).toEqual([["s", undefined], ["c", "choose two runs"]]);
  });

  it("are text where one types", () => {
    const run = vi.fn();
    const { host } = render(<Bound bindings={[binding("j", run)]} />);
    press("j", host.querySelector("input") as HTMLInputElement);
    expect(run).not.toHaveBeenCalled();
  });

  it("go by the newest where two want the same", () => {
    const [older, newer] = [vi.fn(), vi.fn()];
    render(
      <>
        <Bound bindings={[binding("j", older)]} />
        <Bound bindings={[binding("j", newer)]} />
      </>,
    );
    press("j");
    expect([older.mock.calls.length, newer.mock.calls.length]).toEqual([0, 1]);
    expect(allBindings().filter(({ keys }) => keys === "j")).toHaveLength(1);
  });

  it("follow one another", () => {
    const run = vi.fn();
    render(<Bound bindings={[binding("g r", run)]} />);
    press("g");
    press("r");
    expect(run).toHaveBeenCalledTimes(1);
  });
});

it("are listed in the order of the search: this page's, the links to others, the help", () => {
  const sorted = sortBindings(["g r", "?", "j", "g c", "/"].map((keys) => binding(keys)));
  expect(sorted.map(({ keys }) => keys)).toEqual(["j", "/", "g r", "g c", "?"]);
});
