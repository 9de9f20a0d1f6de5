import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { ErrorNote } from "../components/feedback/ErrorNote";
import { useConnection, useSource } from "../data/queries";
import { KeyHelp } from "./KeyHelp";
import styles from "./Shell.module.css";
import { type Binding, bind, stepFocus, useKeys, useShortcut } from "./keyboard";
import { NAV, type NavEntry, SCREENS } from "./routes";
import { type Theme, useTheme } from "./theme";

const PARTS = "summary, [aria-expanded]"; // what opens
const CONTROLS = "button:enabled:not([aria-keyshortcuts]), a[href]:not([aria-keyshortcuts], [role=row] *), select"; // the rows of a table have keys

const THEMES: Record<Theme, [sign: string, words: string]> = {
  system: ["◐", "Colours: system"],
  light: ["○", "Colours: light"],
  dark: ["●", "Colours: dark"],
};

/** What every page has: the way to the others, the colours, the help. */
export function Shell({ places, children }: { places: Readonly<Record<string, string>>; children: ReactNode }) {
  const [help, setHelp] = useState(false);
  const [path, navigate] = useLocation();
  const entries = useEntries(places);
  const goTo: Binding[] = entries.map(({ key, name, to }) => ({ keys: `g ${key}`, does: name, run: () => navigate(to) }));
  useKeys([...goTo, bind("part", () => stepFocus(PARTS, 1)), bind("partBack", () => stepFocus(PARTS, -1)), bind("control", () => stepFocus(CONTROLS, 1)), bind("controlBack", () => stepFocus(CONTROLS, -1)), bind("help", () => setHelp(true))]);
  const nav = useRef<HTMLElement>(null);
  useTopOfPage(path, nav);
  useEffect(() => {
    // where the names do not all fit, the one of this page is among those that are seen
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [path]);
  return (
    <>
      <a className={styles.skip} href="#main" onClick={focusMain}>
        Skip to the content
      </a>
      <header className={`${styles.top} no-print`}>
        <Link href="/runs" className={styles.brand}>
          Proctor
        </Link>
        <nav ref={nav} className={styles.nav} aria-label="Pages">
          {entries.map(({ name, to, also }) => (
            <Link key={to} href={to} aria-current={isUnder(path, to.split("?")[0] ?? to) || (also && isUnder(path, also)) ? "page" : undefined}>
              {name}
            </Link>
          ))}
        </nav>
        <span className={styles.tools}>
          <ThemeSwitch />
          <button type="button" aria-label="Keyboard help" title="Keyboard help (?)" onClick={() => setHelp(true)}>
            ?
          </button>
        </span>
      </header>
      <main id="main" tabIndex={-1} className={styles.main}>
        {children}
      </main>
      <Connection />
      <KeyHelp open={help} close={() => setHelp(false)} />
    </>
  );
}

/** A server that does not respond, on every page and until it does. */
function Connection() {
  const { lost, retry } = useConnection();
  return (
    <div className={`${styles.connection} no-print`}>
      <ErrorNote error={lost ? { message: "The server does not answer. Is `proctor web` still running? This page continues when it does." } : null} retry={retry} />
    </div>
  );
}

let cameBack = false; // by the browser's own buttons: then it scrolls to where the page was
window.addEventListener("popstate", () => {
  cameBack = true;
});

/**
 * A new page begins at its top, for the keyboard, too: the focus goes from the link that led here into the content, unless
 * the page has put it where it belongs, a field or the row one came back to.
 */
function useTopOfPage(path: string, nav: RefObject<HTMLElement | null>): void {
  const shown = useRef(path);
  useEffect(() => {
    if (!cameBack) window.scrollTo(0, 0); // returns a promise in newer browsers, which must not be taken for a clean-up
    cameBack = false;
    if (shown.current === path) return;
    shown.current = path;
    const at = document.activeElement;
    if (!at || at === document.body || nav.current?.contains(at)) document.getElementById("main")?.focus({ preventScroll: true });
  }, [path, nav]);
}

/** The pages of the navigation. A file lists which ones it has besides its runs, and where each starts. */
function useEntries(places: Readonly<Record<string, string>>): readonly NavEntry[] {
  const { live } = useSource();
  if (live) return NAV.filter(({ to }) => SCREENS.some(({ path }) => path === to));
  return NAV.filter(({ to }) => to === "/runs" || to in places).map((entry) => ({ ...entry, to: places[entry.to] ?? entry.to }));
}

function ThemeSwitch() {
  const [theme, next] = useTheme();
  const [sign, words] = THEMES[theme];
  return (
    <button type="button" aria-label={words} {...useShortcut<HTMLButtonElement>({ action: "colours", title: words })} onClick={next}>
      <span aria-hidden>{sign}</span>
    </button>
  );
}

function isUnder(path: string, to: string): boolean {
  return path === to || path.startsWith(`${to}/`);
}

/** In the one-file report the part behind `#` is the address, so the link moves the focus itself. */
function focusMain(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
