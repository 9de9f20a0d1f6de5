import { CopyLine } from "../text/Copy";
import { LinkButton } from "../forms/Button";
import { Prose } from "../text/Prose";
import styles from "./Empty.module.css";

interface Props {
  /** What there is not: "No runs yet". */
  title: string;
  /** What this is and what to do next, in a sentence; names are in backticks. */
  does?: React.ReactNode;
  /** One command to copy. */
  command?: string;
  /** Or one page to go to. */
  to?: string;
  /** What that page is: "All runs". */
  toName?: string;
  /** Whether the page around it has its own heading. */
  inside?: boolean;
  children?: React.ReactNode;
}

/** Nothing is here: why, and what to do next. */
export function Empty({ title, does, command, to, toName = "Go there", inside = false, children }: Props) {
  const Title = inside ? "h2" : "h1";
  return (
    <div className={styles.empty}>
      <Title className={styles.title}>{title}</Title>
      {does && <p className="dim">{typeof does === "string" ? <Prose text={does} /> : does}</p>}
      {command && <CopyLine text={command} action="command" />}
      {to && (
        <LinkButton to={to} look="first" action="open" does={`open: ${toName}`}>
          {toName}
        </LinkButton>
      )}
      {children}
    </div>
  );
}
