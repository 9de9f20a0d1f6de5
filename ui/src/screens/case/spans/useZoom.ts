import { useMemo } from "react";
import { useAddress } from "../../../app/address";
import { bind, useKeys } from "../../../app/keyboard";
import { type TimeWindow, panBy, readWindow, writeWindow, zoomBy } from "./timeScale";

interface ZoomAction {
  name: string;
  title: string;
  /** Null where it would change nothing. */
  run: (() => void) | null;
}

interface Zoom {
  zoom: TimeWindow | null;
  change: (zoom: TimeWindow | null) => void;
  keys: ZoomAction[];
}

/** The part of the time that a waterfall shows: in the address, changed by buttons and keys. `spanTime`: the time of the span that has the focus or is open. */
export function useZoom(whole: number, spanTime: () => TimeWindow | null): Zoom {
  const [query, setQuery] = useAddress();
  const text = query.get("zoom");
  const zoom = useMemo(() => readWindow(text), [text]);
  const change = (next: TimeWindow | null) => setQuery({ zoom: writeWindow(next) });
  const actions = {
    in: () => change(zoomBy(zoom, whole, 0.5)),
    out: zoom && (() => change(zoomBy(zoom, whole, 2))),
    fit: zoom && (() => change(null)),
    earlier: zoom && zoom.from > 0 ? () => change(panBy(zoom, whole, -0.5)) : null,
    later: zoom && zoom.to < whole ? () => change(panBy(zoom, whole, 0.5)) : null,
  };
  useKeys([
    bind("zoomIn", () => {
      leaveTab();
      actions.in();
    }),
    bind("zoomOut", () => actions.out?.()),
    bind("zoomWhole", () => actions.fit?.()),
    bind("zoomSpan", () => {
      const time = spanTime();
      if (time && time.to > time.from) change(time);
    }),
    bind("earlier", () => actions.earlier?.()),
    bind("later", () => actions.later?.()),
  ]);
  const keys = [
    { name: "Zoom in", title: "+", run: actions.in },
    { name: "Zoom out", title: "-", run: actions.out },
    { name: "Whole trial", title: "0", run: actions.fit },
    { name: "←", title: "earlier", run: actions.earlier },
    { name: "→", title: "later", run: actions.later },
  ];
  return { zoom, change, keys };
}

/** Take the focus from a tab, in which the arrow keys choose another tab; Tab then continues behind it. */
function leaveTab(): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement && activeElement.getAttribute("role") === "tab") activeElement.blur();
}
