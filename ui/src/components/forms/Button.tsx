import type { ComponentProps } from "react";
import { Link } from "wouter";
import { type Shortcut, useShortcut } from "../../app/keyboard";
import styles from "./Button.module.css";

type Look = "plain" | "first" | "danger" | "quiet";

interface Props extends Omit<ComponentProps<"button">, "className" | "ref" | "title" | "disabled">, Shortcut {
  /** `first`: what most come for, one a page. `quiet`: a link among words. `danger`: cannot be taken back. */
  look?: Look;
  busy?: boolean;
}

/** Something to press. While `busy` it cannot be pressed again. */
export function Button({ look = "plain", busy = false, reading = false, disabled = false, children, action, does, title, ...rest }: Props) {
  const shortcut = useShortcut<HTMLButtonElement>({ action, does, title, reading, disabled });
  return (
    <button type="button" {...rest} {...shortcut} className={`${styles.button} ${styles[look] ?? ""}`} disabled={Boolean(disabled) || reading || busy} aria-busy={busy}>
      {children}
    </button>
  );
}

/** A way to another page that looks like a button. */
export function LinkButton({ to, look = "plain", children, ...keys }: { to: string; look?: Look; children: React.ReactNode } & Shortcut) {
  return (
    <Link href={to} {...useShortcut<HTMLAnchorElement>(keys)} className={`${styles.button} ${styles[look] ?? ""}`}>
      {children}
    </Link>
  );
}
