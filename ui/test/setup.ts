import { afterEach, beforeEach } from "vitest";

// What jsdom lacks and the parts use.
function furnish(): void {
  window.scrollTo = () => undefined;
  Element.prototype.scrollIntoView = () => undefined;
  Element.prototype.checkVisibility = () => true;
  // Nothing has a size in jsdom; rows that are measured must have one.
  Object.defineProperty(HTMLElement.prototype, "offsetHeight", { configurable: true, get: () => 38 });
  globalThis.ResizeObserver ??= class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
}

if (typeof window !== "undefined") {
  furnish();
  beforeEach(() => window.history.replaceState(null, "", "/"));
  afterEach(() => document.body.replaceChildren());
}
