import { useEffect } from "react";
import { safeText } from "./safeText";

/** The title of the browser's tab: `two_turn_booking · Proctor`. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${safeText(title)} · Proctor` : "Proctor";
  }, [title]);
}
