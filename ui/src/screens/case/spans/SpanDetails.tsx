import { Link } from "wouter";
import { Button } from "../../../components/forms/Button";
import { Clipped } from "../../../components/text/Clipped";
import { CopySmall } from "../../../components/text/Copy";
import { numText, secondsText } from "../../../components/text/numberFormats";
import type { SpanPart } from "../../../data/types";
import styles from "./Waterfall.module.css";
import { indentJson } from "./indentJson";

interface Props {
  span: SpanPart;
  /** The page of the trial. */
  link: string;
  /** Shows only the time of this span; null where it has none. */
  zoomTo: (() => void) | null;
}

/** What was asked and answered in a span. */
export function SpanDetails({ span, link, zoomTo }: Props) {
  const tokens = [span.input_tokens, span.output_tokens].some((count) => count !== null);
  return (
    <div role="cell" className={styles.details}>
      <div className={styles.facts}>
        {span.author && <span>by {span.author}</span>}
        {tokens && (
          <span>
            {numText(span.input_tokens)} tokens in, {numText(span.output_tokens)} out
          </span>
        )}
        <span>{timingText(span)}</span>
        {zoomTo && (
          <Button look="quiet" onClick={zoomTo}>
            Zoom to it
          </Button>
        )}
        <Link href={`${link}&turn=${span.turn + 1}${span.call !== null ? `&step=${span.call + 1}` : ""}`}>in the conversation</Link>
      </div>
      {span.error && <SpanText head="error" clip={span.error} failed />}
      {span.request && <SpanText head={requestHead(span)} clip={span.request} />}
      {span.response && <SpanText head="response" clip={span.response} />}
      <Attributes span={span} />
    </div>
  );
}

function requestHead(span: SpanPart): string {
  if (span.kind === "tool") return "called with";
  return span.attributes.length || span.timing === "span" ? "request" : "new input";
}

const MAX_ONE_LINE = 90;
const MAX_OPEN_SIZE = 600;
const MAX_OPEN_LINES = 15;

/** A text of a span. A long text is collapsed. */
function SpanText({ head, clip, failed }: { head: string; clip: NonNullable<SpanPart["request"]>; failed?: boolean }) {
  const size = clip.text.length + clip.left_out;
  const shown = clip.left_out || size <= MAX_ONE_LINE ? clip.text : indentJson(clip.text);
  const text = <Clipped clip={{ ...clip, text: shown }} mono />;
  if (size <= MAX_OPEN_SIZE && shown.split("\n").length <= MAX_OPEN_LINES)
    return (
      <div className={styles.text}>
        <div className={failed ? styles.failed : styles.kind}>
          {head} <CopySmall text={shown} what={`Copy the ${head}`} />
        </div>
        {text}
      </div>
    );
  return (
    <details className={styles.text}>
      <summary>
        {head} <span className="dim">{numText(size)} characters</span>
      </summary>
      <CopySmall text={shown} what={`Copy the ${head}`} />
      {text}
    </details>
  );
}

function Attributes({ span }: { span: SpanPart }) {
  if (!span.attributes.length) return null;
  return (
    <details className={styles.text}>
      <summary>
        attributes <span className="dim">{numText(span.attributes.length)}</span>
      </summary>
      <dl className={styles.attributes}>
        {span.attributes.map(({ name, value }, index) => (
          <div key={index}>
            <dt>{name}</dt>
            <dd>
              <Clipped clip={value} mono />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function timingText({ timing, start }: SpanPart): string {
  if (timing === "none") return "duration not recorded";
  const from = start === null ? "" : `, starts at ${secondsText(start)}`;
  if (timing === "span") return `traced${from}`;
  return timing === "clock" ? `measured${from}` : `from event timestamps${from}`;
}
