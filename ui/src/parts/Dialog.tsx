import * as Ariakit from "@ariakit/react";
import styles from "./Dialog.module.css";
import { Button } from "./Button";

interface Props {
  open: boolean;
  onClose: () => void;
  title: string;
  children: React.ReactNode;
  /** What can be done: buttons at the foot. */
  foot?: React.ReactNode;
  wide?: boolean;
}

/** A question or a help over the page. Escape and a click outside close it; the focus comes back. */
export function Dialog({ open, onClose, title, children, foot, wide = false }: Props) {
  return (
    <Ariakit.Dialog
      open={open}
      onClose={onClose}
      backdrop={<div className={styles.backdrop} />}
      className={styles.dialog}
      data-wide={wide || undefined}
      unmountOnHide
    >
      <div className={styles.head}>
        <Ariakit.DialogHeading className={styles.title}>{title}</Ariakit.DialogHeading>
        <Button look="quiet" onClick={onClose} aria-label="Close">
          ✕
        </Button>
      </div>
      <div className={styles.body}>{children}</div>
      {foot && <div className={styles.foot}>{foot}</div>}
    </Ariakit.Dialog>
  );
}
