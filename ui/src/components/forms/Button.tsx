import type { ComponentProps } from "react";
import { Link } from "wouter";
import styles from "./Button.module.css";

type Look = "plain" | "first" | "danger" | "quiet";

interface Props extends Omit<ComponentProps<"button">, "className"> {
  /** `first`: what most come for, one a page. `quiet`: a link among words. `danger`: cannot be taken back. */
  look?: Look;
  busy?: boolean;
}

/** Something to press. While `busy` it cannot be pressed again. */
export function Button({ look = "plain", busy = false, disabled, children, ...rest }: Props) {
  return (
    <button type="button" {...rest} className={`${styles.button} ${styles[look]}`} disabled={disabled || busy} aria-busy={busy}>
      {children}
    </button>
  );
}

/** A way to another page that looks like a button. */
export function LinkButton({ to, look = "plain", children }: { to: string; look?: Look; children: React.ReactNode }) {
  return (
    <Link href={to} className={`${styles.button} ${styles[look]}`}>
      {children}
    </Link>
  );
}
