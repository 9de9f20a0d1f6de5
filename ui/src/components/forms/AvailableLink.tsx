import type { ReactNode } from "react";
import { Link } from "wouter";
import { useAvailable } from "../../data/queries";

interface Props {
  to: string;
  /** What the page there asks for. Default: the same address in the API. */
  api?: string;
  className?: string | undefined;
  /** The tooltip and the text for screen readers, if the content is a sign. */
  words?: string | undefined;
  children: ReactNode;
}

/** A link to a page that a one-file report may lack: there it is plain text. */
export function AvailableLink({ to, api = `/api${to}`, className, words, children }: Props) {
  const has = useAvailable();
  if (has(api)) {
    return (
      <Link href={to} className={className} title={words} aria-label={words}>
        {children}
      </Link>
    );
  }
  if (!className) return children;
  return (
    <span className={className} title={words} {...(words ? { role: "img", "aria-label": words } : {})}>
      {children}
    </span>
  );
}
