import { useWait } from "../../app/keyboard";
import styles from "./Skeleton.module.css";

/** The shape of rows that are being read; appears after 100 ms, so that what is quick does not flicker. Keys struck meanwhile wait for the rows. */
export function Skeleton({ rows = 6, height = "var(--row)" }: { rows?: number; height?: string }) {
  useWait();
  return (
    <div role="status" className={styles.skeleton}>
      <span className="hidden">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className={styles.row} style={{ height }}>
          <i style={{ width: `${18 + ((index * 37) % 23)}%` }} />
          <i style={{ width: "9%" }} />
          <i style={{ width: `${24 + ((index * 53) % 31)}%` }} />
        </div>
      ))}
    </div>
  );
}
