import { Link } from "wouter";
import { useAvailable } from "../../data/queries";
import styles from "./RunsScreen.module.css";

const KINDS = [
  ["runs", "Runs", "/runs"],
  ["audits", "Audits", "/audits"],
] as const;

/** The heading of a list of runs or of audits, with the way to the other list. */
export function RunKinds({ at }: { at: "runs" | "audits" }) {
  const has = useAvailable();
  const others = KINDS.filter(([kind, , to]) => kind !== at && has(`/api${to}`));
  const heading = KINDS.find(([kind]) => kind === at)?.[1];
  return (
    <nav className={styles.kinds} aria-label="Kinds of runs">
      <h1>{heading}</h1>
      {others.map(([kind, name, to]) => (
        <Link key={kind} href={to}>
          {name}
        </Link>
      ))}
    </nav>
  );
}
