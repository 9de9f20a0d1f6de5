import { useEffect } from "react";

/** What the browser's tab says: `two_turn_booking · Proctor`. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Proctor` : "Proctor";
  }, [title]);
}
