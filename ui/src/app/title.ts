import { useEffect } from "react";

/** The title of the browser's tab: `two_turn_booking · Proctor`. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Proctor` : "Proctor";
  }, [title]);
}
