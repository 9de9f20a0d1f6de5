import { useState } from "react";
import type { CasePreview, DiffLine } from "../../../data/types";
import { Button } from "../../../components/forms/Button";
import { Dialog } from "../../../components/forms/Dialog";
import styles from "../EvalCase.module.css";
import { pointer } from "./jsonEdit";
import { type Json, writeJson } from "./exactJson";
import { type Conflict, type Side, chooseSide, findConflicts, mergeConflicts } from "./merge";

const WORDS: Record<string, string> = { "-": "removed", "+": "added", " ": "unchanged", "…": "left out" };

/** What saving would do to the file, line by line. */
export function PreviewDialog({ preview, path, close, save, busy }: { preview: CasePreview | null; path: string; close: () => void; save: () => void; busy: boolean }) {
  const foot = (
    <>
      <Button onClick={close}>Continue editing</Button>
      <Button look="first" busy={busy} onClick={save}>
        {preview?.lost.length ? "Save and discard the comments" : "Save"}
      </Button>
    </>
  );
  return (
    <Dialog open={preview !== null} onClose={close} title={`What changes in ${path}`} wide foot={foot}>
      {preview?.lines.length === 0 && <p>No changes: the file already has this content.</p>}
      {preview && preview.lost.length > 0 && <Lost lost={preview.lost} />}
      {preview && preview.lines.length > 0 && <Difference lines={preview.lines} />}
    </Dialog>
  );
}

function Lost({ lost }: { lost: readonly string[] }) {
  return (
    <div role="alert" className={styles.lost}>
      <p>
        {lost.length === 1 ? "A comment is" : `${lost.length} comments are`} in the replaced text and would be lost:
      </p>
      <pre>{lost.join("\n")}</pre>
    </div>
  );
}

function Difference({ lines }: { lines: readonly DiffLine[] }) {
  return (
    <table className={styles.diff}>
      <caption className="hidden">Lines of the file that are removed and added</caption>
      <tbody>
        {lines.map((line, index) => (
          <tr key={index} data-sign={line.sign}>
            <td className="num dim">{line.number}</td>
            <td>
              <span aria-hidden>{line.sign}</span>
              <span className="hidden">{WORDS[line.sign]}</span>
            </td>
            <td>{line.text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ConflictProps {
  base: Json;
  mine: Json;
  theirs: Json | null;
  close: () => void;
  /** Continue with this value, and overwrite the file. */
  take: (value: Json) => void;
  /** What was changed, in words. */
  what: string;
  /** The message and the actions if their version was deleted. */
  gone?: { title: string; words: string; yes: string; go: () => void };
}

/** Another user has saved the same case: both versions, place by place. */
export function ConflictDialog({ base, mine, theirs, close, take, what, gone }: ConflictProps) {
  const [found, setFound] = useState<Conflict[]>(() => (theirs === null ? [] : findConflicts(base, mine, theirs)));
  if (theirs === null) {
    const foot = <Button look="first" onClick={gone?.go}>{gone?.yes}</Button>;
    return (
      <Dialog open onClose={close} title={gone?.title ?? ""} foot={foot}>
        <p>{gone?.words}</p>
      </Dialog>
    );
  }
  const both = found.filter((conflict) => conflict.both).length;
  const foot = (
    <>
      <Button onClick={() => take(theirs)}>Take theirs</Button>
      <Button onClick={() => take(mine)}>Keep mine</Button>
      <Button look="first" onClick={() => take(mergeConflicts(theirs, found))}>Use what is chosen</Button>
    </>
  );
  return (
    <Dialog open onClose={close} title={`Someone else changed ${what}`} wide foot={foot}>
      <p>
        Nothing was written. {both ? `${both} ${both === 1 ? "place was" : "places were"} changed on both sides: choose.` : "The changes are in different places: both can stay."}
      </p>
      {found.map((conflict) => (
        <ConflictFields key={pointer(conflict.path)} conflict={conflict} choose={(side) => setFound(chooseSide(found, conflict.path, side))} />
      ))}
    </Dialog>
  );
}

function ConflictFields({ conflict, choose }: { conflict: Conflict; choose: (side: Side) => void }) {
  const name = pointer(conflict.path);
  return (
    <fieldset className={styles.clash}>
      <legend>
        <code>{name}</code> {conflict.both && <b className={styles.both}>changed by both</b>}
      </legend>
      {(["theirs", "mine"] as const).map((side) => (
        <label key={side} data-chosen={conflict.side === side || undefined}>
          <span className="row">
            <input type="radio" name={name} checked={conflict.side === side} onChange={() => choose(side)} />
            {side === "mine" ? "mine" : "theirs, in the file"}
          </span>
          <pre>{conflict[side] === undefined ? "(not there)" : writeJson(conflict[side], 2)}</pre>
        </label>
      ))}
    </fieldset>
  );
}

/** A question with one way on. */
export function AskDialog({ open, close, title, words, yes, go }: { open: boolean; close: () => void; title: string; words: string; yes: string; go: () => void }) {
  const foot = (
    <>
      <Button onClick={close}>Stay</Button>
      <Button look="danger" onClick={go}>
        {yes}
      </Button>
    </>
  );
  return (
    <Dialog open={open} onClose={close} title={title} foot={foot}>
      <p>{words}</p>
    </Dialog>
  );
}
