import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, describe, expect, it } from "vitest";
import { Router } from "wouter";
import { render } from "../../test/render";
import { useAddress } from "./address";
import { useHashLocation, useHashSearch } from "./hashLocation";

function QueryOutput() {
  const [query] = useAddress();
  return <output>{JSON.stringify([query.get("set"), query.get("case")])}</output>;
}

const NAMES = ["plain", "100%", "a%2Fb", "%25", "s#1/%2F </script>", "a&b=c+d", "ü?#"];

describe("a name in the address", () => {
  afterEach(() => window.history.replaceState(null, "", "/"));

  it.each(NAMES)("is read back unchanged: %s", (name) => {
    const search = `set=${encodeURIComponent(name)}&case=${encodeURIComponent(name)}`;
    expect(render(<QueryOutput />, `/history?${search}`).host.textContent).toBe(JSON.stringify([name, name]));
  });

  it.each(NAMES)("is read back unchanged behind the # of a file: %s", (name) => {
    window.history.replaceState(null, "", `/report.html#/history?set=${encodeURIComponent(name)}`);
    const host = document.createElement("div");
    const root = createRoot(host);
    act(() =>
      root.render(
        <Router hook={useHashLocation} searchHook={useHashSearch}>
          <QueryOutput />
        </Router>,
      ),
    );
    expect(host.textContent).toBe(JSON.stringify([name, null]));
    act(() => root.unmount());
  });
});
