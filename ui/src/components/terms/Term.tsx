import { type KeyboardEvent, type PointerEvent, type ReactNode, type RefObject, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { DEFINITIONS, type TermName } from "./definitions";
import styles from "./Term.module.css";

interface Props {
  name: TermName;
  /** The term as the page shows it. Default: a small question mark, for a place where the term itself is a button. */
  children?: ReactNode;
}

/** A term with its definition, shown on hover, on focus and on tap. Escape hides it. */
export function Term({ name, children }: Props) {
  const [open, setOpen] = useState(false);
  const [box, id] = [useRef<HTMLSpanElement>(null), useId()];
  useCloseOutside(box, open, () => setOpen(false));
  const byMouse = (to: boolean) => (event: PointerEvent) => event.pointerType === "mouse" && setOpen(to);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !open) return;
    event.stopPropagation();
    setOpen(false);
  };
  return (
    <span ref={box} className={styles.box} onPointerEnter={byMouse(true)} onPointerLeave={byMouse(false)}>
      <button
        type="button"
        className={children ? styles.term : styles.sign}
        aria-describedby={open ? id : undefined}
        aria-label={children ? undefined : "What does this mean?"}
        onClick={() => setOpen(true)}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      >
        {children ?? <i>?</i>}
      </button>
      {open && <Definition id={id} text={DEFINITIONS[name]} anchor={box} />}
    </span>
  );
}

const EDGE = 8; // pixels that stay free at the sides of the window

/** The definition in the browser's top layer, where no table cuts it off. */
function Definition({ id, text, anchor }: { id: string; text: string; anchor: RefObject<HTMLElement | null> }) {
  const tip = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const [shown, term] = [tip.current, anchor.current?.firstElementChild];
    if (!shown || !term) return;
    shown.showPopover?.(); // a test's DOM has none
    const [at, size] = [term.getBoundingClientRect(), shown.getBoundingClientRect()];
    const below = at.bottom + size.height + EDGE < window.innerHeight;
    shown.style.left = `${Math.max(EDGE, Math.min(at.left, window.innerWidth - size.width - EDGE))}px`;
    shown.style.top = `${below ? at.bottom : Math.max(EDGE, at.top - size.height)}px`;
  }, [anchor]);
  return (
    <span ref={tip} id={id} role="tooltip" popover="manual" className={styles.tip}>
      {text}
    </span>
  );
}

/** Close on a press elsewhere, for a finger, and when the page scrolls away below it. */
function useCloseOutside(box: RefObject<HTMLElement | null>, open: boolean, close: () => void): void {
  useEffect(() => {
    if (!open) return undefined;
    const onPress = (event: Event) => !box.current?.contains(event.target as Node) && close();
    document.addEventListener("pointerdown", onPress);
    window.addEventListener("scroll", close, { capture: true, passive: true });
    return () => {
      document.removeEventListener("pointerdown", onPress);
      window.removeEventListener("scroll", close, { capture: true });
    };
  });
}
