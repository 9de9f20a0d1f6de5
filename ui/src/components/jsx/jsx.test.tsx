import { describe, expect, it } from "vitest";
import { Link } from "wouter";
import { render } from "../../../test/render";

const RAW = "a\u202eb\u200b";
const SAFE = "a\\u202eb\\u200b";

describe("the text that an element shows", () => {
  it.each([
    ["alone", <p key="1">{RAW}</p>],
    ["among others", <p key="2">{RAW}{""}<b /></p>],
    ["in a list", <p key="3">{[RAW]}</p>],
    ["in an option", <select key="4"><option>{RAW}</option></select>],
    ["in a fragment", <>{RAW}</>],
    ["in a component of a library", <Link key="5" href="/x">{RAW}</Link>],
  ])("has no unsafe characters: %s", (_, node) => {
    expect(render(node).host.textContent).toBe(SAFE);
  });

  it("has none in its attributes, and a value stays as it is", () => {
    const input = render(<input title={RAW} aria-label={RAW} placeholder={RAW} defaultValue={RAW} />).host.querySelector("input");
    expect([input?.title, input?.ariaLabel ?? input?.getAttribute("aria-label"), input?.placeholder, input?.value]).toEqual([SAFE, SAFE, SAFE, RAW]);
  });
});
