import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from "react";
import { Link } from "wouter";
import { inkClass, outcomeWord, shownOutcome, signOf } from "../../components/charts/Outcome";
import { showSpaces } from "../../components/text/safeText";
import styles from "./CaseList.module.css";
import type { CaseOrder } from "./useCaseOrder";

const ROW = 32; // pixels of a row
const WIDE = "(min-width: 1400px)"; // as in the styles
const MOST_IN_FULL = 60; // rows up to which all are drawn

/** A case, on a wide page with the list of the cases of its table at the side. */
export function CaseList({ order, children }: { order: CaseOrder; children: ReactNode }) {
  const wide = useWide();
  if (!wide || order.at < 0 || order.shown.length < 2) return children;
  return (
    <div className={styles.both}>
      <List order={order} />
      <div className={styles.case}>{children}</div>
    </div>
  );
}

function List({ order: { shown, at, place, hrefOf } }: { order: CaseOrder }) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: shown.length, getScrollElement: () => box.current, estimateSize: () => ROW, overscan: MOST_IN_FULL / 2, initialOffset: Math.max(0, (at - 8) * ROW) });
  useEffect(() => virtual.scrollToIndex(at, { align: "auto" }), [virtual, at]);
  return (
    <nav aria-label="Cases of the table" className={`${styles.list} no-print`}>
      <p className="dim small">{place}</p>
      <div ref={box} className={`${styles.rows} panel`} tabIndex={0} role="list">
        <div style={{ height: virtual.getTotalSize() }} role="presentation" className={styles.all}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = shown[index];
            return row ? (
              <div key={row.position} role="listitem" className={styles.row} style={{ transform: `translateY(${start}px)` }} aria-posinset={index + 1} aria-setsize={shown.length}>
                <Link href={hrefOf(row.position)} aria-current={index === at ? "page" : undefined} title={[row.eval_id, row.why].filter(Boolean).join(": ")}>
                  <span className={inkClass(shownOutcome(row.outcome, row.strip.length))} aria-hidden>
                    {signOf(shownOutcome(row.outcome, row.strip.length))}
                  </span>
                  <span className={styles.name}>{showSpaces(row.eval_id)}</span>
                  <span className="hidden">{outcomeWord(shownOutcome(row.outcome, row.strip.length))}</span>
                </Link>
              </div>
            ) : null;
          })}
        </div>
      </div>
    </nav>
  );
}

/** Whether the page has the room. */
function useWide(): boolean {
  return useSyncExternalStore(watchWidth, () => window.matchMedia?.(WIDE).matches ?? false);
}

function watchWidth(listener: () => void): () => void {
  const query = window.matchMedia?.(WIDE);
  query?.addEventListener("change", listener);
  return () => query?.removeEventListener("change", listener);
}
