import { expect, it } from "vitest";
import { render } from "../../../test/render";
import { Breakable, Id } from "./Breakable";
import styles from "./Breakable.module.css";

it("shows several spaces in a row, which a browser would show as one", () => {
  const { host } = render(<Breakable text="a  b c" />);
  expect(host.textContent).toBe("a  b c");
  expect([...host.querySelectorAll(`.${styles.spaces}`)].map(({ textContent }) => textContent)).toEqual(["  "]);
});

it("shows the spaces of an id that a browser would hide", () => {
  expect(render(<Id text={" a\tb "} />).host.textContent).toBe("\\x20a\\tb\\x20");
});
