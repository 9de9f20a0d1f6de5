import { Fragment, useEffect, useState } from "react";
import { Breakable } from "./Breakable";
import type { ActionName } from "../../app/actions";
import { Button } from "../forms/Button";
import styles from "./Copy.module.css";

/** A button that copies a text and reports whether it could. `text` may be a function, called on the press. */
export function Copy({ text, label, action, reading, disabled, children = "Copy" }: { text: string | (() => string); label?: string; action?: ActionName | undefined; reading?: boolean | undefined; disabled?: boolean | string | undefined; children?: React.ReactNode }) {
  const [status, setStatus] = useState("");
  useEffect(() => {
    const timer = status ? window.setTimeout(() => setStatus(""), 1_600) : 0;
    return () => window.clearTimeout(timer);
  }, [status]);
  const copy = async () => setStatus((await copyText(typeof text === "string" ? text : text())) ? "Copied" : "Could not copy");
  return (
    <Button look="quiet" aria-label={status ? undefined : label} title={label} action={action} does={label} reading={reading} disabled={disabled} onClick={() => void copy()}>
      <span className={styles.both}>
        <span role="status" className={status ? "" : "hidden"}>
          {status}
        </span>
        <span className={status ? styles.gone : ""}>{children}</span>
      </span>
    </Button>
  );
}

/** A small button next to an id or a block of text; `what` names it for those who hear the page: "Copy the run id". */
export function CopySmall({ text, what, action, children = "Copy" }: { text: string; what: string; action?: ActionName; children?: React.ReactNode }) {
  return (
    <span className={`${styles.small} no-print`}>
      <Copy text={text} label={what} action={action}>
        {children}
      </Copy>
    </span>
  );
}

/** "Copy as Markdown": what is on the page, for an issue or a pull request; not before everything is read. */
export function CopyMarkdown({ text, reading, disabled }: { text: string | (() => string); reading?: boolean; disabled?: boolean | string }) {
  return <Copy text={text} action="markdown" reading={reading} disabled={disabled}>Copy as Markdown</Copy>;
}

/** One line to copy: a command. */
export function CopyLine({ text, action }: { text: string; action?: ActionName }) {
  return (
    <span className={styles.line}>
      <code>
        {text.split(" ").map((word, index) => (
          <Fragment key={index}>
            {index > 0 && " "}
            <Breakable text={word} />
          </Fragment>
        ))}
      </code>
      <Copy text={text} action={action} />
    </span>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text); // a file, or a page that is not served safely
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
