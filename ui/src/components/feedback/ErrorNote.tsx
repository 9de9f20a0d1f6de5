import { useIsReported } from "../../data/queries";
import { Button } from "../forms/Button";
import styles from "./ErrorNote.module.css";
import { Prose } from "../text/Prose";

interface Props {
  /** The error; its message states the cause and the way out. */
  error: { message: string; status?: number } | null | undefined;
  /** Try again. */
  retry?: () => unknown;
}

/** An error with its cause and a way out. Empty without an error, and while the shell reports it. */
export function ErrorNote({ error, retry }: Props) {
  const isReported = useIsReported(error);
  if (!error || isReported) return null;
  return (
    <div role="alert" className={styles.note}>
      <span aria-hidden className={styles.sign}>
        !
      </span>
      <span className={styles.words}>
        <Prose text={error.message} />
      </span>
      {retry && <Button action="retry" onClick={() => void retry()}>Try again</Button>}
    </div>
  );
}
