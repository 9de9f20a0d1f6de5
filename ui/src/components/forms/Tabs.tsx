import * as Ariakit from "@ariakit/react";
import { useEffect, useRef } from "react";
import { bind, useKeys } from "../../app/keyboard";
import styles from "./Tabs.module.css";

export interface Tab {
  id: string;
  name: React.ReactNode;
}

interface Props {
  label: string;
  tabs: readonly Tab[];
  /** The tab that is shown: keep it in the address (`useAddress`). */
  at: string;
  onChange: (id: string) => void;
  /** What the chosen tab shows. */
  children: React.ReactNode;
}

/** Several views of one thing, one at a time. Arrow keys move between them, and one key shows the next. */
export function Tabs({ label, tabs, at, onChange, children }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const index = tabs.findIndex(({ id }) => id === at);
  const next = tabs[(index + 1) % tabs.length];
  useKeys(next && tabs.length > 1 ? [bind("view", () => onChange(next.id))] : []);
  const shownAt = useRef("");
  useEffect(() => {
    const here = `${at} ${list.current?.scrollWidth}`; // what a name gets later, a count, moves those behind it
    if (here === shownAt.current) return;
    shownAt.current = here;
    const chosen = list.current?.querySelector('[aria-selected="true"]');
    if (!list.current || !(chosen instanceof HTMLElement)) return;
    const over = chosen.offsetLeft + chosen.offsetWidth - list.current.offsetLeft - list.current.clientWidth;
    if (over > list.current.scrollLeft) list.current.scrollLeft = over; // on a narrow page the last ones are out of sight
  });
  return (
    <Ariakit.TabProvider selectedId={at} setSelectedId={(id) => id && onChange(id)}>
      <Ariakit.TabList ref={list} aria-label={label} className={`${styles.list} no-print`}>
        {tabs.map(({ id, name }) => (
          <Ariakit.Tab key={id} id={id} className={styles.tab}>
            {name}
          </Ariakit.Tab>
        ))}
      </Ariakit.TabList>
      <Ariakit.TabPanel tabId={at} className={styles.panel} focusable={false}>
        {children}
      </Ariakit.TabPanel>
    </Ariakit.TabProvider>
  );
}
