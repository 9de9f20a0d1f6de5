import { useState } from "react";

const KEY = "proctor-labeller";

/** The name under which a person labels; this browser keeps it. */
export function useLabeller(): [string, (name: string) => void] {
  const [name, setName] = useState(storedLabeller);
  const change = (next: string) => {
    setName(next);
    try {
      window.localStorage.setItem(KEY, next);
    } catch {
      // not kept; it holds until the page is left
    }
  };
  return [name, change];
}

function storedLabeller(): string {
  try {
    return window.localStorage.getItem(KEY) ?? "";
  } catch {
    return ""; // a file, or a browser that keeps nothing
  }
}
