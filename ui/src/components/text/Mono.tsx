import styles from "./Clipped.module.css";

/** Text of a machine, unchanged: a call, an id, a key. `block` keeps its lines. Never markup. */
export function Mono({ children, block = false }: { children: React.ReactNode; block?: boolean }) {
  return block ? <pre className={styles.block}>{children}</pre> : <code className={styles.code}>{children}</code>;
}
