import type { ReactNode } from "react";
import styles from "./Chip.module.css";

interface Props {
  /** Whether it is chosen; left out where pressing it does something once. */
  pressed?: boolean;
  onPress: () => void;
  title?: string | undefined;
  children: ReactNode;
}

/** A small word that narrows down what is shown, or takes that back. */
export function Chip({ pressed, onPress, title, children }: Props) {
  return (
    <button type="button" className={styles.chip} aria-pressed={pressed} title={title} onClick={onPress}>
      {children}
    </button>
  );
}
