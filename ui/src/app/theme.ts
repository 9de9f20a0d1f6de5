import { useLayoutEffect, useState } from "react";

export type Theme = "system" | "light" | "dark";

const KEY = "proctor-theme";
const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

function storedTheme(): Theme {
  try {
    const value = window.localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system"; // a file, or a browser that keeps nothing
  }
}

export function applyTheme(theme: Theme = storedTheme()): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

/** The colours that were chosen, and the way to the next choice: the system's, light, dark. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState(storedTheme);
  useLayoutEffect(() => {
    applyTheme(theme);
    try {
      if (theme === "system") window.localStorage.removeItem(KEY);
      else window.localStorage.setItem(KEY, theme);
    } catch {
      // not kept; it holds until the page is left
    }
  }, [theme]);
  return [theme, () => setTheme(NEXT[theme])];
}
