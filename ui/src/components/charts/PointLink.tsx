import type { ReactNode } from "react";
import { useLocation, useRouter } from "wouter";
import { useAvailable } from "../../data/queries";

/** A point of a picture that leads to a page, where there is one to go to. */
export function PointLink({ to, words, className, children }: { to: string; words: string; className?: string | undefined; children: ReactNode }) {
  const has = useAvailable();
  const { hrefs } = useRouter();
  const [, navigate] = useLocation();
  if (!has(`/api${to}`)) {
    return (
      <g role="img" aria-label={words} className={className}>
        {children}
      </g>
    );
  }
  return (
    <a
      href={hrefs(to)}
      aria-label={words}
      className={className}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}
