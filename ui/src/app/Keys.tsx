import styles from "./Keys.module.css";

/** Keys as they are on a keyboard: `g r`. */
export function Keys({ keys }: { keys: string }) {
  return (
    <span className={styles.keys}>
      {keys.split(" ").map((key, index) => (
        <kbd key={index}>{key}</kbd>
      ))}
    </span>
  );
}
