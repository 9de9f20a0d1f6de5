import { useSyncExternalStore } from "react";

// Addresses of the one-file report: path and query both live behind the `#`, so that a link into the file works.

function subscribe(listener: () => void): () => void {
  window.addEventListener("hashchange", listener);
  return () => window.removeEventListener("hashchange", listener);
}

function currentLocation(): string {
  const hash = window.location.hash.slice(1);
  return hash.startsWith("/") ? hash : `/${hash}`;
}

function navigate(to: string, options: { replace?: boolean; state?: unknown } = {}): void {
  const before = window.location.href;
  window.history[options.replace ? "replaceState" : "pushState"](options.state ?? null, "", `#${to}`);
  window.dispatchEvent(new HashChangeEvent("hashchange", { oldURL: before, newURL: window.location.href }));
}

function usePath(): [string, typeof navigate] {
  return [useSyncExternalStore(subscribe, () => currentLocation().split("?")[0] ?? "/"), navigate];
}

/** The location hook for wouter's Router, with the way that links are written. */
export const useHashLocation = Object.assign(usePath, { hrefs: (href: string) => `#${href}` });

export function useHashSearch(): string {
  return useSyncExternalStore(subscribe, () => currentLocation().split("?")[1] ?? "");
}
