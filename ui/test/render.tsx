import { type ReactNode, act } from "react";
import { type Root, createRoot } from "react-dom/client";
import { Router } from "wouter";
import { memoryLocation } from "wouter/memory-location";
import { QueryClientProvider } from "@tanstack/react-query";
import { afterEach } from "vitest";
import { SourceProvider, makeClient } from "../src/data/queries";
import { type Answer, type Source, SourceError } from "../src/data/source";

/** A source with fixed answers; `asked` lists the requested paths. */
export function fixedSource(answers: Record<string, unknown>, live = true): Source & { asked: string[] } {
  const asked: string[] = [];
  const answer = <T,>(path: string): Promise<Answer<T>> => {
    asked.push(path);
    if (path in answers) return Promise.resolve({ body: answers[path] as T, etag: null });
    return Promise.reject(new SourceError(404, `nothing at ${path}`));
  };
  const paths = () => Promise.resolve(live ? null : new Set(Object.keys(answers)));
  return { live, asked, get: answer, paths, send: (_, path) => answer(path) };
}

export interface Rendered {
  host: HTMLElement;
  /** Where the page is, with its query. */
  at: () => string;
  again: (node: ReactNode) => void;
}

const drawn: Root[] = [];
afterEach(() => {
  act(() => drawn.splice(0).forEach((root) => root.unmount()));
  window.history.replaceState(null, "");
});

/** Draw `node` at `path`, with data from `source`. */
export function render(node: ReactNode, path = "/", source: Source = fixedSource({})): Rendered {
  const host = document.body.appendChild(document.createElement("div"));
  const root = createRoot(host);
  drawn.push(root);
  const { hook, searchHook, history } = memoryLocation({ path, record: true });
  const client = makeClient();
  const draw = (shown: ReactNode) =>
    act(() =>
      root.render(
        <QueryClientProvider client={client}>
          <SourceProvider value={source}>
            <Router hook={hook} searchHook={searchHook}>
              {shown}
            </Router>
          </SourceProvider>
        </QueryClientProvider>,
      ),
    );
  draw(node);
  return { host, at: () => history.at(-1) ?? "", again: draw };
}

const PATIENCE = 20_000; // milliseconds

/** Let promises and effects run. */
export async function settle(milliseconds = 0): Promise<void> {
  await act(() => new Promise((done) => setTimeout(done, milliseconds)));
}

/** Wait until `check` finds nothing wrong: for what comes by itself, in its own time. */
export async function eventually(check: () => void): Promise<void> {
  const end = Date.now() + PATIENCE;
  for (;;) {
    await settle(5);
    try {
      return check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/** Press a key, as on the page or on `target`. */
export function press(key: string, target: EventTarget = document.body): void {
  act(() => {
    target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  });
}

export function click(target: Element | null): void {
  act(() => {
    (target as HTMLElement).click();
  });
}
