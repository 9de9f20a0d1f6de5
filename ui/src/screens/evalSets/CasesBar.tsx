import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { useSource } from "../../data/queries";
import type { CaseRemoved, EvalCaseRow } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { Dialog } from "../../components/forms/Dialog";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { SelectField, TextField } from "../../components/forms/Field";
import { countText } from "../../components/text/numberFormats";
import { RefusedError, addCase, readCase } from "../evalCase/editing/evalSetApi";
import { keyOf, setAt, textContent } from "../evalCase/editing/jsonEdit";
import type { Json } from "../evalCase/editing/exactJson";
import styles from "./EvalSets.module.css";
import { caseAddress } from "./links";

interface BarProps {
  set: string;
  chosen: readonly EvalCaseRow[];
  done: () => void;
}

/** What can be done with chosen cases; what was removed comes back byte for byte. */
export function CasesBar({ set, chosen, done }: BarProps) {
  const [isAsking, setAsking] = useState(false);
  const [undo, setUndo] = useState("");
  const [message, setMessage] = useState("");
  const { busy, error, attempt } = useAttempt();
  const source = useSource();

  const remove = async (): Promise<void> => {
    setAsking(false);
    await attempt(async () => {
      const cases = await Promise.all(chosen.map(async ({ eval_id }) => ({ eval_id, version: (await readCase(set, eval_id)).version })));
      const { body } = await source.send<CaseRemoved>("POST", `/api/eval-sets/${encodeURIComponent(set)}/cases/remove`, { body: { cases } });
      setMessage(`${countText(body.eval_ids.length, "case")} removed.`);
      setUndo(body.undo);
      done();
    });
  };
  const bringBack = (): Promise<void> =>
    attempt(async () => {
      await source.send("POST", `/api/eval-sets/${encodeURIComponent(set)}/undo`, { body: { undo } });
      setMessage("The cases are restored.");
      setUndo("");
    });
  const duplicate = (): Promise<void> =>
    attempt(async () => {
      for (const { eval_id } of chosen) await duplicateCase(set, eval_id);
      setMessage(`${countText(chosen.length, "copy", "copies")} at the end of the set.`);
      done();
    });
  return (
    <>
      <ErrorNote error={error} />
      <div className={`row ${styles.bar}`} role="status">
        {chosen.length > 0 && (
          <>
            <span>{countText(chosen.length, "case")} chosen</span>
            <Button action="duplicate" does="duplicate the chosen cases" busy={busy} onClick={() => void duplicate()}>Duplicate</Button>
            <Button look="danger" action="remove" does="remove the chosen cases" busy={busy} onClick={() => setAsking(true)}>Remove</Button>
          </>
        )}
        {!chosen.length && message && <span className="dim">{message}</span>}
        {!chosen.length && undo && <Button action="undo" busy={busy} onClick={() => void bringBack()}>Undo</Button>}
      </div>
      <Dialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Remove ${countText(chosen.length, "case")}?`}
        foot={<Button look="danger" onClick={() => void remove()}>Remove from the file</Button>}
      >
        <p>{chosen.slice(0, 10).map(({ eval_id }) => eval_id).join(", ")}{chosen.length > 10 && " …"}</p>
        <p className="dim">You can undo this until the file changes.</p>
      </Dialog>
    </>
  );
}

/** A copy of a case under a free id, with every key that it has. */
async function duplicateCase(set: string, id: string): Promise<void> {
  const { value } = await readCase(set, id);
  const key = keyOf(value, "eval_id") ?? "eval_id";
  for (let number = 2; number < 1_000; number++) {
    const name = `${id.replace(/[,:]/g, "_")}_copy${number === 2 ? "" : number - 1}`;
    try {
      await addCase(set, setAt(value, [key], name));
      return;
    } catch (error) {
      if (!(error instanceof RefusedError && error.refusal.fields?.some(({ pointer }) => pointer === "/eval_id"))) throw error;
    }
  }
}

function useAttempt(): { busy: boolean; error: Error | null; attempt: (work: () => Promise<void>) => Promise<void> } {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (found) {
      setError(found instanceof Error ? found : new Error(String(found)));
    } finally {
      setBusy(false);
      void client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith("/api/eval-sets") });
    }
  };
  return { busy, error, attempt };
}

export function NewCaseDialog({ open, close, set }: { open: boolean; close: () => void; set: string }) {
  const [, navigate] = useLocation();
  const [form, setForm] = useState({ id: "", kind: "turns", text: "" });
  const { busy, error, attempt } = useAttempt();
  const make = (): Promise<void> =>
    attempt(async () => {
      const saved = await addCase(set, newCase(form));
      navigate(caseAddress(set, saved.eval_id));
    });
  const ready = form.id.trim() !== "" && form.text.trim() !== "";
  return (
    <Dialog open={open} onClose={close} title="A new case" foot={<Button look="first" busy={busy} disabled={!ready} onClick={() => void make()}>Add it</Button>}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) void make();
        }}
      >
        <TextField label="Id" hint="Without commas and colons: FILE:ID,ID names cases." error={error?.message ?? null} value={form.id} onChange={(event) => setForm({ ...form, id: event.target.value })} />
        <SelectField label="Kind" value={form.kind} options={[["turns", "Recorded turns"], ["scenario", "A scenario: a simulated user"]]} onChange={(event) => setForm({ ...form, kind: event.target.value })} />
        <TextField label="First message of the user" value={form.text} onChange={(event) => setForm({ ...form, text: event.target.value })} />
        <button type="submit" className="hidden" tabIndex={-1}>Add it</button>
      </form>
    </Dialog>
  );
}

function newCase({ id, kind, text }: { id: string; kind: string; text: string }): Json {
  if (kind === "scenario") return { eval_id: id, conversation_scenario: { starting_prompt: text, conversation_plan: "" } };
  return { eval_id: id, conversation: [{ user_content: textContent(text, "user") }] };
}
