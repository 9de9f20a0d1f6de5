import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useAddress } from "../../app/address";
import { useKeys } from "../../app/keyboard";
import { useData } from "../../data/queries";
import type { CasePreview, EvalSetPage, FieldNote } from "../../data/types";
import { Button } from "../../parts/Button";
import { ErrorNote } from "../../parts/ErrorNote";
import { Tabs } from "../../parts/Tabs";
import { visible } from "../../parts/visible";
import { caseAddress, setAddress } from "../evalsets/address";
import { Problems } from "../evalsets/Problems";
import { type Edit, EditProvider } from "./EditContext";
import styles from "./EvalCase.module.css";
import { CaseFields } from "./Sections";
import { type ReadCase, Refused, type SavedCase, addCase, previewCase, saveCase } from "./caseApi";
import { AskDialog, ConflictDialog, PreviewDialog } from "./dialogs";
import { isCamelCase } from "./draft";
import { type Json, isObject } from "./exact";
import { JsonArea, mustBeObject } from "./fields";
import { type Draft, useDraft, useGuard } from "./useDraft";

/** The editor of one case, with all that can come between it and its file. */
export function Editor({ page }: { page: ReadCase }) {
  const draft = useDraft(`${page.eval_set}/${page.eval_id}`, page.value, page.version);
  const broken = useBrokenFields();
  const set = useData<EvalSetPage>(`/api/eval-sets/${encodeURIComponent(page.eval_set)}`);
  const problems = (set.data?.problems ?? []).filter(({ position }) => position === page.position);
  const saving = useSaving(page, draft);
  const [leave, setLeave] = useState<(() => void) | null>(null);
  const ask = useCallback((go: () => void) => setLeave(() => go), []);
  useGuard(draft.isChanged, ask);
  const edit = useMemo<Edit>(
    () => ({
      value: draft.value,
      isCamel: isCamelCase(draft.value),
      readOnly: !page.can_edit,
      set: draft.set,
      wrong: saving.wrong,
      doubtful: draft.isChanged ? [] : saving.doubtful,
      tellBroken: broken.tell,
      personas: page.personas,
    }),
    [draft, page, saving.wrong, saving.doubtful, broken.tell],
  );
  const canSave = page.can_edit && draft.isChanged && broken.count === 0;
  return (
    <EditProvider value={edit}>
      <Head page={page} draft={draft} canSave={canSave} broken={broken.count} saving={saving} ask={ask} />
      {page.why_not && <p className={styles.note}>Nothing can be changed here: {page.why_not}.</p>}
      {draft.isRestored && draft.isChanged && <p className={styles.note}>What you wrote before and did not save is still here.</p>}
      <ErrorNote error={saving.error} />
      <Problems problems={problems} />
      <Views draft={draft} />
      {saving.preview && (
        <PreviewDialog preview={saving.preview} path={page.path} busy={saving.busy} close={saving.closePreview} save={() => void saving.save(saving.preview?.lost.length !== 0)} />
      )}
      {saving.conflict && (
        <ConflictDialog
          base={draft.base}
          mine={draft.value}
          theirs={saving.conflict.theirs}
          close={saving.closeConflict}
          take={(value) => {
            draft.rebase(saving.conflict?.theirs ?? draft.base, saving.conflict?.version ?? draft.version, value);
            saving.closeConflict();
          }}
          addAgain={() => void saving.addAgain()}
        />
      )}
      <AskDialog
        open={leave !== null}
        close={() => setLeave(null)}
        title="Not saved yet"
        words="What you have changed is not in the file. This tab keeps it: come back to this case to go on."
        yes="Leave without saving"
        go={() => {
          setLeave(null);
          leave?.();
        }}
      />
    </EditProvider>
  );
}

interface HeadProps {
  page: ReadCase;
  draft: Draft;
  canSave: boolean;
  broken: number;
  saving: Saving;
  ask: (go: () => void) => void;
}

function Head({ page, draft, canSave, broken, saving, ask }: HeadProps) {
  const [, navigate] = useLocation();
  const go = (id: string | null): void => {
    if (id === null) return;
    const leave = (): void => navigate(caseAddress(page.eval_set, id));
    if (draft.isChanged) ask(leave);
    else leave();
  };
  useKeys([
    { keys: "[", does: "case before", run: () => go(page.previous) },
    { keys: "]", does: "next case", run: () => go(page.next) },
  ]);
  useSaveKey(() => canSave && void saving.save(false));
  return (
    <header className={styles.head}>
      <p className="dim small">
        <Link href={setAddress(page.eval_set)}>{visible(page.path)}</Link>:{page.line} · case {page.position + 1} of {page.total}
      </p>
      <div className="row">
        <h1 className={styles.title}>{visible(page.eval_id) || "(no id)"}</h1>
        <span role="status" className={draft.isChanged ? styles.unsaved : "dim"}>
          {broken ? `${broken} ${broken === 1 ? "field is" : "fields are"} no JSON` : draft.isChanged ? "not saved" : saving.told}
        </span>
        <span className="grow" />
        <Button look="quiet" disabled={page.previous === null} aria-label="Case before" onClick={() => go(page.previous)}>‹</Button>
        <Button look="quiet" disabled={page.next === null} aria-label="Next case" onClick={() => go(page.next)}>›</Button>
        {page.can_edit && (
          <>
            <Button disabled={!draft.canUndo} onClick={draft.undo}>Undo</Button>
            <Button disabled={!draft.isChanged} onClick={draft.forget}>Discard</Button>
            <Button disabled={!canSave} busy={saving.busy} onClick={() => void saving.show()}>Show changes</Button>
            <Button look="first" disabled={!canSave} busy={saving.busy} title="Ctrl+S" onClick={() => void saving.save(false)}>Save</Button>
          </>
        )}
      </div>
    </header>
  );
}

function Views({ draft }: { draft: Draft }) {
  const [query, setQuery] = useAddress();
  const at = query.get("as") === "json" ? "json" : "fields";
  return (
    <Tabs label="How the case is shown" tabs={[{ id: "fields", name: "Fields" }, { id: "json", name: "JSON" }]} at={at} onChange={(id) => setQuery({ as: id === "json" ? id : null })}>
      {at === "fields" && isObject(draft.value) ? (
        <CaseFields />
      ) : (
        <JsonArea label="The whole case, as JSON" value={draft.value} takes={mustBeObject} onChange={draft.replace} rows={16} />
      )}
    </Tabs>
  );
}

function useSaveKey(save: () => void): void {
  const latest = useRef(save);
  useEffect(() => {
    latest.current = save;
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      latest.current();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}

function useBrokenFields(): { count: number; tell: (field: string, isBroken: boolean) => void } {
  const [fields, setFields] = useState<ReadonlySet<string>>(new Set());
  const tell = useCallback((field: string, isBroken: boolean) => {
    setFields((before) => {
      if (before.has(field) === isBroken) return before;
      const next = new Set(before);
      if (isBroken) next.add(field);
      else next.delete(field);
      return next;
    });
  }, []);
  return { count: fields.size, tell };
}

interface Saving {
  busy: boolean;
  told: string;
  error: Error | null;
  wrong: readonly FieldNote[];
  doubtful: readonly FieldNote[];
  preview: CasePreview | null;
  conflict: { theirs: Json | null; version: string } | null;
  save: (commentsMayGo: boolean) => Promise<void>;
  show: () => Promise<void>;
  addAgain: () => Promise<void>;
  closePreview: () => void;
  closeConflict: () => void;
}

const NOTHING = { error: null, wrong: [], preview: null, conflict: null } as const;

function useSaving(page: ReadCase, draft: Draft): Saving {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);
  const [told, setTold] = useState(() => (history.state as { told?: string } | null)?.told ?? "");
  const [doubtful, setDoubtful] = useState<readonly FieldNote[]>(page.doubtful);
  const [state, setState] = useState<Pick<Saving, "error" | "wrong" | "preview" | "conflict">>(NOTHING);

  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      await refused(error);
    } finally {
      setBusy(false);
    }
  };
  const refused = async (error: unknown): Promise<void> => {
    const found = error instanceof Error ? error : new Error(String(error));
    if (!(found instanceof Refused)) return setState({ ...NOTHING, error: found });
    const { refusal, status } = found;
    if (status === 412) return setState({ ...NOTHING, conflict: { theirs: refusal.theirs ?? null, version: refusal.version ?? "" } });
    if (status === 409 && refusal.lost?.length) return setState({ ...NOTHING, preview: await previewCase(page.eval_set, page.eval_id, draft.value) });
    return setState({ ...NOTHING, error: found, wrong: refusal.fields ?? [] });
  };
  const done = (saved: SavedCase, words: string): void => {
    setTold(words);
    setState(NOTHING);
    setDoubtful(saved.doubtful);
    draft.rebase(saved.value, saved.version, saved.value);
    void client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith("/api/eval-sets") });
    if (saved.eval_id !== page.eval_id) navigate(caseAddress(page.eval_set, saved.eval_id), { replace: true, state: { told: words } });
  };
  return {
    busy,
    told,
    doubtful,
    ...state,
    save: (commentsMayGo) =>
      attempt(async () => done(await saveCase(page.eval_set, page.eval_id, draft.value, draft.version, commentsMayGo), "saved")),
    show: () => attempt(async () => setState({ ...NOTHING, preview: await previewCase(page.eval_set, page.eval_id, draft.value) })),
    addAgain: () => attempt(async () => done(await addCase(page.eval_set, draft.value), "put back")),
    closePreview: () => setState(NOTHING),
    closeConflict: () => setState(NOTHING),
  };
}
