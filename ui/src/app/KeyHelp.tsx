import { Dialog } from "../components/forms/Dialog";
import styles from "./KeyHelp.module.css";
import { type Binding, allBindings, useLayers } from "./keyboard";

/** Every key of the page that is shown; of one that does nothing now, the reason. */
export function KeyHelp({ open, close }: { open: boolean; close: () => void }) {
  useLayers();
  return (
    <Dialog open={open} onClose={close} title="Keyboard">
      <dl className={styles.keys} tabIndex={0}>
        {open &&
          sortBindings(allBindings()).map(({ keys, does, unavailable }) => (
            <div key={keys}>
              <dt>
                <Keys keys={keys} />
              </dt>
              <dd>
                {does}
                {unavailable && <span className="dim"> – not now: {unavailable}</span>}
              </dd>
            </div>
          ))}
      </dl>
    </Dialog>
  );
}

/** What the page in view does comes first, then the ways to other pages, then this help. */
export function sortBindings(bindings: readonly Binding[]): readonly Binding[] {
  const last = ({ keys }: Binding) => (keys === "?" ? 2 : keys.startsWith("g ") ? 1 : 0);
  return [...bindings].sort((one, other) => last(one) - last(other));
}

/** Keys as labelled on a keyboard: `g r`. */
function Keys({ keys }: { keys: string }) {
  return (
    <span className={styles.sequence}>
      {keys.split(" ").map((key, index) => (
        <kbd key={index}>{key}</kbd>
      ))}
    </span>
  );
}
