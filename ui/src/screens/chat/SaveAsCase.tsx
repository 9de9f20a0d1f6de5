import { useState } from "react";
import { Link } from "wouter";
import { agentSetsFirst } from "../../data/agentEvalSets";
import { useChange, useData } from "../../data/queries";
import type { AgentsPage, ChatSaved, EvalSetList } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { CopyLine } from "../../components/text/Copy";
import { Dialog } from "../../components/forms/Dialog";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { CheckField, SelectField, TextField } from "../../components/forms/Field";
import { caseAddress } from "../evalSets/links";
import styles from "./Chat.module.css";

const NEW = ""; // no set has this id

interface Props {
  open: boolean;
  close: () => void;
  path: string;
  turns: number;
  /** Whose conversation it is: sets of its folder are offered first. */
  agent: string;
}

/** Keep the conversation as a case of a set that is there, or of a new one. */
export function SaveAsCase({ open, close, path, turns, agent }: Props) {
  const agents = useData<AgentsPage>(open ? "/api/agents" : null);
  const sets = useData<EvalSetList>(open ? "/api/eval-sets" : null);
  const change = useChange<ChatSaved>(["/api/eval-sets"]);
  const [form, setForm] = useState({ set: null as string | null, name: "", eval_id: proposedId(), final_state: false });
  const editable = agentSetsFirst((sets.data?.items ?? []).filter(({ can_edit }) => can_edit), agents.data, agent);
  const set = form.set ?? editable[0]?.id ?? NEW;
  const saved = change.data?.body;
  const save = (): void => {
    const where = set === NEW ? { new_set: form.name } : { eval_set: set };
    change.mutate({ method: "POST", path: `${path}/case`, body: { ...where, eval_id: form.eval_id, final_state: form.final_state } });
  };
  const again = (): void => {
    change.reset();
    setForm({ ...form, eval_id: proposedId() });
    close();
  };
  if (saved) {
    return (
      <Dialog open={open} onClose={again} title={`StoredDraft as ${saved.eval_id}`} foot={<Button onClick={again}>Continue the chat</Button>}>
        <p>
          {saved.turns} {saved.turns === 1 ? "turn" : "turns"} in {saved.path}. <Link href={caseAddress(saved.eval_set, saved.eval_id)}>Open the case</Link>
        </p>
        {saved.warnings.map((warning) => (
          <p key={warning} role="alert" className={styles.warning}>
            {warning}
          </p>
        ))}
        <p className="dim">Equivalent command:</p>
        <CopyLine text={saved.command} />
      </Dialog>
    );
  }
  const isReady = form.eval_id.trim() !== "" && (set !== NEW || form.name !== "");
  return (
    <Dialog
      open={open}
      onClose={close}
      title={`Save ${turns} ${turns === 1 ? "turn" : "turns"} as a case`}
      foot={<Button look="first" busy={change.isPending} disabled={!isReady || !sets.data || agents.isPending} onClick={save}>Save</Button>}
    >
      <form
        className={styles.save}
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) save();
        }}
      >
        <SelectField
          label="Eval set"
          value={set}
          options={[...editable.map(({ id, path }) => [id, path] as const), [NEW, "A new set"] as const]}
          onChange={(event) => setForm({ ...form, set: event.target.value })}
        />
        {set === NEW && <TextField label="Name of the new set" hint="Letters, digits, _" value={form.name} onChange={(event) => setForm({ ...form, name: event.target.value })} />}
        <TextField label="Id of the case" value={form.eval_id} onChange={(event) => setForm({ ...form, eval_id: event.target.value })} />
        <CheckField
          label="Also expect the changed state"
          hint="The state keys that are new or have a different value than at the start."
          checked={form.final_state}
          onChange={(event) => setForm({ ...form, final_state: event.target.checked })}
        />
        <ErrorNote error={change.error} />
      </form>
    </Dialog>
  );
}

function proposedId(): string {
  const now = new Date();
  const two = (number: number): string => String(number).padStart(2, "0");
  return `recorded_${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}_${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}
