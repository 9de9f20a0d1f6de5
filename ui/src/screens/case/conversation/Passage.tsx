import type { ReactNode } from "react";
import styles from "./Conversation.module.css";

export type Role = "user" | "agent" | "tools";

interface Props {
  role: Role;
  /** Who it is, if there are several agents. */
  name?: string;
  note?: string;
  children: ReactNode;
}

/** What one side contributes to a turn. The role has a word, a place and a kind of line: colour is not needed. */
export function Passage({ role, name, note, children }: Props) {
  return (
    <div className={styles.passage} data-role={role}>
      <div className={styles.role}>
        {name || role}
        {note && <span className={styles.note}> {note}</span>}
      </div>
      <div className={styles.content}>{children}</div>
    </div>
  );
}
