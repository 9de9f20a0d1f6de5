import { Fragment, useEffect, useRef, useState } from "react";
import { useLabeller } from "../../../data/labeller";
import { pathOf, useChange, useSource } from "../../../data/queries";
import type { LabelPart } from "../../../data/types";
import { Button } from "../../../components/forms/Button";
import { Dialog } from "../../../components/forms/Dialog";
import { ErrorNote } from "../../../components/feedback/ErrorNote";
import { AreaField } from "../../../components/forms/Field";
import { Prose } from "../../../components/text/Prose";
import styles from "./Judges.module.css";

interface Props {
  /** The trial's path in the API. */
  path: string;
  metric: string;
  turn: number | null;
  /** Empty: the turn (or the trial) as a whole. */
  rubric: string;
  /** The verdict of the judge. */
  verdict: boolean | null;
  labels: readonly LabelPart[];
}

/** A person's label for the same verdict; "I disagree" stores a label that `proctor judge calibrate` uses. */
export function HumanLabel({ path, metric, turn, rubric, verdict, labels }: Props) {
  const { live } = useSource();
  const [open, setOpen] = useState(false);
  const change = useChange<LabelPart>([path]);
  const [labeller] = useLabeller();
  const shown = oneOfEach(labels.filter((label) => label.turn === turn && label.rubric_id === rubric), metric);
  const hasMine = shown.some((label) => label.labeller === labeller);
  const focus = useFocusAfter(hasMine, open || change.isPending);
  const address = `${path}/labels/${encodeURIComponent(metric)}`;
  const save = (passes: boolean, note: string) =>
    change.mutate(
      { method: "PUT", path: address, body: { passes, turn, rubric_id: rubric, note, labeller, replaces: null } },
      { onSuccess: () => setOpen(false), onSettled: focus.acted },
    );
  const remove = ({ labelled_at }: LabelPart) =>
    change.mutate({ method: "DELETE", path: pathOf(address, { turn, rubric_id: rubric, labeller, labelled_at }) }, { onSettled: focus.acted });
  if (!live && !shown.length) return null;
  return (
    <div ref={focus.box} tabIndex={-1} className={`${styles.label} ${shown.length ? "" : "no-print"}`}>
      {shown.map((label) => (
        <Fragment key={label.labeller}>
          <span>
            {label.labeller ? label.labeller : "A person"} {label.passes === verdict ? "agrees" : "disagrees"}: {label.passes ? "it passes" : "it fails"}
            {label.note && <span className="dim"> “{label.note}”</span>}
          </span>
          {live && label.metric === metric && label.labeller === labeller && (
            <Button look="quiet" busy={change.isPending} onClick={() => remove(label)}>
              Remove the label
            </Button>
          )}
        </Fragment>
      ))}
      {live && !hasMine && (
        <>
          <Button look="quiet" onClick={() => setOpen(true)}>
            I disagree
          </Button>
          {verdict !== null && (
            <Button look="quiet" busy={change.isPending} onClick={() => save(verdict, "")}>
              I agree
            </Button>
          )}
        </>
      )}
      {!open && <ErrorNote error={change.error} />}
      <DisagreeDialog open={open} close={() => setOpen(false)} verdict={verdict} save={save} busy={change.isPending} error={change.error} />
    </div>
  );
}

/** One label of each person: the one for this metric, else the one for any. */
function oneOfEach(labels: readonly LabelPart[], metric: string): LabelPart[] {
  const found = new Map<string, LabelPart>();
  for (const label of labels) if (label.metric === metric || !found.has(label.labeller)) found.set(label.labeller, label);
  return [...found.values()];
}

/** A pressed button disappears when its action is done: move the focus to what replaces it, unless the user has moved the focus since. */
function useFocusAfter(hasLabel: boolean, isBusy: boolean): { box: React.RefObject<HTMLDivElement | null>; acted: () => void } {
  const box = useRef<HTMLDivElement>(null);
  const [isDue, setDue] = useState(false);
  useEffect(() => {
    if (!isDue || isBusy) return undefined;
    const frame = requestAnimationFrame(() => {
      setDue(false);
      const at = document.activeElement;
      if (at === null || at === document.body) (box.current?.querySelector<HTMLElement>("button:enabled") ?? box.current)?.focus();
    });
    return () => cancelAnimationFrame(frame);
  }, [isDue, isBusy, hasLabel]);
  return { box, acted: () => setDue(true) };
}

interface DisagreeProps {
  open: boolean;
  close: () => void;
  verdict: boolean | null;
  save: (passes: boolean, note: string) => void;
  busy: boolean;
  error: { message: string } | null;
}

function DisagreeDialog({ open, close, verdict, save, busy, error }: DisagreeProps) {
  const [note, setNote] = useState("");
  const verdicts: boolean[] = verdict === null ? [true, false] : [!verdict];
  return (
    <Dialog
      open={open}
      onClose={close}
      title="I disagree"
      foot={
        <>
          <Button onClick={close}>Cancel</Button>
          {verdicts.map((passes) => (
            <Button key={String(passes)} look="first" busy={busy} onClick={() => save(passes, note)}>
              {passes ? "It passes" : "It fails"}
            </Button>
          ))}
        </>
      }
    >
      <p>
        {verdict === null ? "The judge gave no verdict." : `The judge's verdict: it ${verdict ? "passes" : "fails"}.`}{" "}
        <Prose text="Your label is stored with the run, and `proctor judge calibrate` compares the judge with it." />
      </p>
      <AreaField label="Why" hint="For people who review disagreements later." value={note} maxLength={10_000} onChange={(event) => setNote(event.target.value)} />
      <ErrorNote error={error} />
    </Dialog>
  );
}
