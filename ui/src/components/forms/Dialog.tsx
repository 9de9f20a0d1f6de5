import * as Ariakit from "@ariakit/react";
import { useMemo, useRef } from "react";
import { isTextField } from "../../app/keyboard";
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
  /** It begins at the control with this `data-begin`. Default: at its first field, else at its text, where Enter does nothing. */
  begin?: string;
}

const FIELDS = "input:enabled, textarea:enabled, select:enabled";

function firstControl(body: HTMLElement | null, begin: string): HTMLElement | null {
  return (begin ? body?.querySelector<HTMLElement>(`[data-begin="${begin}"]`) : null) ?? body?.querySelector<HTMLElement>(FIELDS) ?? body;
}

/** A question or a help over the page. Escape leaves a text field; elsewhere Escape, and a click outside, close it; the focus comes back. */
export function Dialog({ open, onClose, title, children, foot, wide = false, begin = "" }: Props) {
  const body = useRef<HTMLDivElement>(null);
  const closesOnEscape = ({ target }: { target: EventTarget | null }): boolean => {
    if (!isTextField(target)) return true;
    body.current?.focus();
    return false;
  };
  const first = useMemo(() => ({ get current() { return firstControl(body.current, begin); } }), [begin]);
  return (
    <Ariakit.Dialog
      open={open}
      initialFocus={first}
      onClose={onClose}
      hideOnEscape={closesOnEscape}
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
      <div ref={body} tabIndex={-1} className={styles.body}>{children}</div>
      {foot && <div className={styles.foot}>{foot}</div>}
    </Ariakit.Dialog>
  );
}
