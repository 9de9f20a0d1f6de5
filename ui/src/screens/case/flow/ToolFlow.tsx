import { Link } from "wouter";
import type { TrialPage, TurnPart } from "../../../data/types";
import { useWidth } from "../../../components/charts/useWidth";
import { Copy } from "../../../components/text/Copy";
import { Empty } from "../../../components/feedback/Empty";
import { numText } from "../../../components/text/numberFormats";
import styles from "./ToolFlow.module.css";
import { type LaneCall, type LaneLink, flowMarkdown, flowText, isLone, lanesOf, relationText } from "./lanes";

const LANE = 0.4; // the share of the whole width that a lane has

/** The tool calls of a trial as two lanes, expected and actual; what belongs together is connected. */
export function ToolFlow({ trial, link }: { trial: TrialPage; link: string }) {
  const [box, width] = useWidth();
  const turns = trial.turns.filter(({ steps }) => steps.length);
  if (!turns.length) return <Empty inside title="No tool calls" does="No call was made or expected in this trial." />;
  return (
    <section ref={box} aria-label="Tool calls">
      <div className={styles.top}>
        <span className="dim">
          {turns.length < trial.turns.length && `${numText(turns.length)} of ${numText(trial.turns.length)} turns have tool calls`}
        </span>
        <span className="grow" />
        <Copy text={() => flowMarkdown(turns)} action="numbers">Copy the calls</Copy>
      </div>
      {turns.map((turn) => (
        <TurnFlow key={turn.index} turn={turn} link={link} width={width * LANE} />
      ))}
    </section>
  );
}

function TurnFlow({ turn, link, width }: { turn: TurnPart; link: string; width: number }) {
  const { expected, actual, links, height } = lanesOf(turn, width);
  const lone = isLone(turn);
  const step = (index: number) => `${link}&turn=${turn.index + 1}&step=${index + 1}`;
  return (
    <section className={`panel ${styles.turn}`} aria-label={`Tool calls of turn ${turn.index + 1}`}>
      <h2>
        Turn {turn.index + 1} <span className={styles.sum}>{flowText(turn)}</span>
      </h2>
      <div className={styles.lanes} data-lone={lone || undefined}>
        {!lone && <Lane name="expected" calls={expected} height={height} href={step} />}
        {!lone && <Links links={links} height={height} />}
        <Lane name="actual" calls={actual} height={height} href={step} />
      </div>
    </section>
  );
}

const SIGNS: Record<NonNullable<LaneCall["kind"]>, string> = { same: "=", differs: "≠", missing: "−", extra: "+", moved: "⇄", allowed: "·" };

function Lane({ name, calls, height, href }: { name: "expected" | "actual"; calls: readonly LaneCall[]; height: number; href: (step: number) => string }) {
  return (
    <div className={styles.lane}>
      <div className={styles.laneHead}>{name}</div>
      <ol aria-label={`${name} calls`} style={{ height }}>
        {calls.map(({ step, tool, args, kind, broken, top, height: own }) => (
          <li key={step} style={{ top, height: own }}>
            <Link href={href(step)} className={styles.call} data-kind={kind} data-broken={broken.length > 0 || undefined} title={tool + args}>
              <span className={styles.tool}>
                {kind && <span aria-hidden>{SIGNS[kind]} </span>}
                {tool}
                <span className="hidden"> {relationText(kind)} </span>
              </span>
              <span className={styles.args}>{args}</span>
              {broken.map((rule) => (
                <span key={rule} className={styles.rule} title={rule}>
                  <span aria-hidden>✕ </span>rule: {rule}
                </span>
              ))}
            </Link>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The lines between the lanes; the words are in the lists next to them. */
function Links({ links, height }: { links: readonly LaneLink[]; height: number }) {
  return (
    <svg className={styles.links} viewBox={`0 0 100 ${Math.max(1, height)}`} preserveAspectRatio="none" height={height} aria-hidden>
      {links.map(({ step, kind, from, to }) => (
        <path key={step} data-kind={kind} d={`M0,${from} C50,${from} 50,${to} 100,${to}`} />
      ))}
    </svg>
  );
}
