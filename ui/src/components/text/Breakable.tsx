import { Fragment } from "react";
import styles from "./Breakable.module.css";
import { safeText, showSpaces } from "./safeText";

/**
 * Text whose long names move to the next line as a whole. A name that is longer than the line breaks behind a slash if it has any, and
 * only then behind underscores, dots and dashes; never inside a number.
 */
export function Breakable({ text }: { text: string }) {
  return safeText(text)
    .split(/(\s+)/)
    .map((word, index) => (index % 2 ? <Space key={index} text={word} /> : <Word key={index} word={word} />));
}

/** The id of a case or of an eval set, with its spaces as reports show them. */
export function Id({ text }: { text: string }) {
  return <Breakable text={showSpaces(text)} />;
}

/** Spaces between words: a browser shows several of them as one. */
function Space({ text }: { text: string }) {
  return text.length > 1 ? <span className={styles.spaces}>{text}</span> : text;
}

function Word({ word }: { word: string }) {
  const segments = word.split(/(?<=\/)(?!\/)/);
  if (!/[_.:#/-]./.test(word)) return word;
  if (segments.length === 1) return <Segment text={word} />;
  return (
    <span className={styles.word}>
      {segments.map((segment, index) => (
        <Segment key={index} text={segment} />
      ))}
    </span>
  );
}

function Segment({ text }: { text: string }) {
  return (
    <span className={styles.word}>
      {text.split(/(?<=[_:#-])|(?<=\.)(?!\d)/).map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  );
}
