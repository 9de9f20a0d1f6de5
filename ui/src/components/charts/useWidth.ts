import { useEffect, useRef, useState } from "react";

/** How wide the figure is, as the page has it. */
export function useWidth(): [React.RefObject<HTMLElement | null>, number] {
  const box = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(560);
  useEffect(() => {
    const element = box.current;
    if (!element || typeof ResizeObserver === "undefined") return undefined;
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.max(160, Math.floor(entry.contentRect.width))));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return [box, width];
}
