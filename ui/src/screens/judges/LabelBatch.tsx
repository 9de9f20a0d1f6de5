import { useRef, useState } from "react";
import { useLocation } from "wouter";
import { ACTIONS, type ActionName } from "../../app/actions";
import { bind, useKeys } from "../../app/keyboard";
import { countText } from "../../components/text/numberFormats";
import { useData } from "../../data/queries";
import type { BallotPart, ItemToLabel, JudgesPage, LabelPart, LabellingPage } from "../../data/types";
import { Outcome } from "../../components/charts/Outcome";
import { Button } from "../../components/forms/Button";
import { AreaField } from "../../components/forms/Field";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { Skeleton } from "../../components/feedback/Skeleton";
import { Breakable } from "../../components/text/Breakable";
import { Prose } from "../../components/text/Prose";
import { ItemCard } from "./ItemCard";
import styles from "./Label.module.css";
import { itemText, verdictWord } from "./labelText";
import { useLabelling } from "./useLabelling";

interface Props {
  page: LabellingPage;
  labeller: string;
  second: boolean;
}

/** The next 20 verdicts, one at a time, with keys. */
export function LabelBatch({ page, labeller, second }: Props) {
  const batch = useLabelling(page.run_id, page.metric, labeller, second);
  const [note, setNote] = useState("");
  const [shown, setShown] = useState(false);
  const area = useRef<HTMLDivElement>(null);
  const [, navigate] = useLocation();
  const item = batch.items?.[batch.at];
  const last = lastLabelled(batch.at, batch.given);
  const give = (passes: boolean) => item && (setShown(false), batch.label(passes, note.trim(), () => setNote("")));
  const undo = () => last !== null && (setShown(false), batch.undo(last, (label) => setNote(label.note)));
  const go = (to: number) => (setShown(false), setNote(batch.given.get(to)?.note ?? ""), batch.go(to));
  useKeys([
    bind("next", () => go(batch.at + 1), "next verdict, without a label"),
    bind("previous", () => go(batch.at - 1), "previous verdict"),
    bind("note", () => area.current?.querySelector("textarea")?.focus(), "write a note; Escape leaves it"),
    bind("up", () => navigate("/judges"), "up to the judges"),
  ]);
  if (!batch.items) return batch.error ? <ErrorNote error={batch.error} retry={batch.more} /> : <Skeleton rows={4} height="72px" />;
  return (
    <>
      {item ? (
        <>
          <div className="row">
            <b>
              {batch.at + 1} of {batch.items.length}
            </b>
            <Breakable text={itemText(item.item)} />
            {batch.given.has(batch.at) && <span className="dim">your label: {verdictWord(batch.given.get(batch.at)?.passes ?? false)}</span>}
          </div>
          <ItemCard one={item} page={page} />
          <div className={styles.actions}>
            <Button busy={batch.busy} onClick={() => give(true)} action="labelPass">
              Pass <Key of="labelPass" />
            </Button>
            <Button busy={batch.busy} onClick={() => give(false)} action="labelFail">
              Fail <Key of="labelFail" />
            </Button>
            <span className="grow" />
            <Button look="quiet" disabled={batch.at === 0} onClick={() => go(batch.at - 1)}>
              Previous
            </Button>
            <Button look="quiet" onClick={() => go(batch.at + 1)}>
              Skip
            </Button>
          </div>
          <div ref={area} onKeyDown={(event) => event.key === "Escape" && (document.activeElement as HTMLElement | null)?.blur()}>
            <AreaField label="Note" rows={1} maxLength={10_000} value={note} placeholder="Why? For people who review disagreements later." onChange={(event) => setNote(event.target.value)} />
          </div>
        </>
      ) : (
        <Done count={batch.given.size} left={second ? page.to_second : page.unlabelled} more={batch.more} second={second} />
      )}
      <ErrorNote error={batch.error} />
      {last !== null && batch.items[last] && (
        <LastLabel run={page.run_id} metric={page.metric} one={batch.items[last]} label={batch.given.get(last) as LabelPart} shown={shown} show={() => setShown(true)} undo={undo} busy={batch.busy} />
      )}
    </>
  );
}

/** The index of the labelled item before the shown one. */
function lastLabelled(at: number, given: ReadonlyMap<number, LabelPart>): number | null {
  const before = [...given.keys()].filter((index) => index < at);
  return before.length ? Math.max(...before) : null;
}

function Key({ of }: { of: ActionName }) {
  return <kbd aria-hidden>{ACTIONS[of][0]}</kbd>;
}

function Done({ count, left, more, second }: { count: number; left: number; more: () => void; second: boolean }) {
  const none = second ? "No other verdict was labelled by other people only." : "Every verdict of this run has a label.";
  return (
    <div className={`panel ${styles.done}`}>
      <p>
        {count > 0 && `${countText(count, "label")} stored. `}
        {left === 0 && none}
      </p>
      {left > 0 && (
        <Button look="first" onClick={more} action="labelNext">
          Label {Math.min(20, left)} next <Key of="labelNext" />
        </Button>
      )}
    </div>
  );
}

interface LastProps {
  run: string;
  metric: string;
  one: ItemToLabel;
  label: LabelPart;
  shown: boolean;
  show: () => void;
  undo: () => void;
  busy: boolean;
}

/** The label given last: take it back, or compare it with the judge. */
function LastLabel({ run, metric, one, label, shown, show, undo, busy }: LastProps) {
  return (
    <div className={styles.last} aria-live="polite">
      <div className="row">
        <span>
          <Breakable text={itemText(one.item)} />: your label is <b>{verdictWord(label.passes)}</b>
        </span>
        <Button look="quiet" busy={busy} onClick={undo} action="undo" does="undo the last label">
          Undo <Key of="undo" />
        </Button>
        {!shown && (
          <Button look="quiet" onClick={show} action="judgeVerdict">
            Show the judge’s verdict <Key of="judgeVerdict" />
          </Button>
        )}
      </div>
      {shown && <Verdict run={run} metric={metric} one={one} />}
    </div>
  );
}

/** The rationale of the first vote for the verdict. */
function rationaleOf(ballot: BallotPart | undefined): string {
  const agreeing = ballot?.votes.find(({ passes, rationale }) => passes === (ballot.outcome === "passed") && rationale.text);
  return agreeing?.rationale.text ?? ballot?.reason ?? "";
}

/** The verdict of the judge; it is read only now. */
function Verdict({ run, metric, one }: { run: string; metric: string; one: ItemToLabel }) {
  const { position, number, turn, rubric_id } = one.item;
  const { data, error } = useData<JudgesPage>(`/api/runs/${run}/cases/${position}/trials/${number}/judges`, { keep: false });
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton rows={1} />;
  const judge = data.judges.find((each) => each.metric === metric);
  const ballot = judge?.ballots.find((each) => each.turn === turn) ?? judge?.ballots[0];
  const finding = rubric_id ? ballot?.findings.find(({ name }) => name.replace(/, [\d.]+ points$/, "") === rubric_id) : undefined;
  const outcome = finding ? (finding.holds === null ? "inconclusive" : finding.holds ? "passed" : "failed") : turn === null ? judge?.outcome : ballot?.outcome;
  return (
    <div className={styles.verdict}>
      <span>Judge: <Outcome outcome={outcome ?? null} /></span>
      <span><Prose text={finding ? finding.why : rationaleOf(ballot)} /></span>
    </div>
  );
}
