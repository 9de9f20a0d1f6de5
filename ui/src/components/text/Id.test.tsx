import { expect, it } from "vitest";
import { render } from "../../../test/render";
import { Id } from "./Id";

it("shows the spaces of an id that a browser would hide", () => {
  expect(render(<Id text={" a\tb "} />).host.textContent).toBe("\\x20a\\tb\\x20");
});
