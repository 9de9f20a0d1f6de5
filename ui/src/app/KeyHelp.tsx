import { Dialog } from "../parts/Dialog";
import { Keys } from "../parts/Keys";
import styles from "./KeyHelp.module.css";
import { allBindings, useLayers } from "./keyboard";

/** Every key that does something on the page that is shown. */
export function KeyHelp({ open, close }: { open: boolean; close: () => void }) {
  useLayers();
  return (
    <Dialog open={open} onClose={close} title="Keyboard">
      <dl className={styles.keys}>
        {open &&
          allBindings().map(({ keys, does }) => (
            <div key={keys}>
              <dt>
                <Keys keys={keys} />
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
      </dl>
    </Dialog>
  );
}
