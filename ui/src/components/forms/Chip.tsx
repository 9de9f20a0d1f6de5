import type { ReactNode } from "react";
import { type Shortcut, useShortcut } from "../../app/keyboard";
import styles from "./Chip.module.css";

interface Props extends Shortcut {
  /** Whether it is chosen; left out where pressing it does something once. */
  pressed?: boolean;
  onPress: () => void;
  children: ReactNode;
}

/** A small word that narrows down what is shown, or takes that back. */
export function Chip({ pressed, onPress, children, ...keys }: Props) {
  return (
    <button type="button" className={styles.chip} aria-pressed={pressed} {...useShortcut<HTMLButtonElement>(keys)} onClick={onPress}>
      {children}
    </button>
  );
}
