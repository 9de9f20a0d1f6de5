import { useCallback, useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { useAddress } from "../../app/address";
import { pathOf, useData } from "../../data/queries";
import type { EvalSetPage } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { Tabs } from "../../components/forms/Tabs";
import { Id } from "../../components/text/Breakable";
import { numText } from "../../components/text/numberFormats";
import { caseAddress, setAddress } from "../evalSets/links";
import { Problems } from "../evalSets/Problems";
import { RunButton } from "../start/RunDialog";
import { type Edit, EditProvider } from "./fields/EditContext";
import styles from "./EvalCase.module.css";
import { CaseFields } from "./CaseFields";
import { CaseProblems } from "./CaseProblems";
import { type ReadCase, type SavedCase, addCase, previewCase, saveCase } from "./editing/evalSetApi";
import { AskDialog, ConflictDialog, PreviewDialog } from "./editing/dialogs";
import { isCamelCase } from "./editing/jsonEdit";
import { isObject } from "./editing/exactJson";
import { JsonTextArea, requireObject } from "./fields/jsonFields";
import { type Draft, useDraft, useGuard } from "./editing/useDraft";
import { eachOnce, useCaseCheck } from "./useCaseCheck";
import { useSaveKey } from "./editing/useSaveKey";
import { type Saving, type SaveTarget, useInvalidFields, useSaving } from "./editing/useSaving";

/** The editor of one case, with all that can come between it and its file. */
export function Editor({ page }: { page: ReadCase }) {
  const draft = useDraft(`${page.eval_set}/${page.eval_id}`, page.value, page.version);
  const invalid = useInvalidFields();
  const set = useData<EvalSetPage>(`/api/eval-sets/${encodeURIComponent(page.eval_set)}`);
  const problems = (set.data?.problems ?? []).filter(({ position }) => position === page.position);
  const saving = useCaseSaving(page, draft);
  const checked = useCaseCheck(page.eval_set, page.eval_id, draft.value);
  const [leave, setLeave] = useState<(() => void) | null>(null);
  const ask = useCallback((go: () => void) => setLeave(() => go), []);
  useGuard(draft.isChanged, ask);
  const edit = useMemo<Edit>(
    () => ({
      value: draft.value,
      isCamel: isCamelCase(draft.value),
      readOnly: !page.can_edit,
      set: draft.set,
      errors: eachOnce(saving.errors, checked.errors, checked.refused),
      warnings: draft.isChanged ? checked.warnings : saving.warnings,
      reportInvalid: invalid.report,
      personas: page.personas,
    }),
    [draft, page, saving.errors, saving.warnings, checked, invalid.report],
  );
  const unsavable = invalid.count ? "correct the fields that are not valid" : !draft.isChanged && UNCHANGED;
  return (
    <EditProvider value={edit}>
      <Head page={page} draft={draft} unsavable={unsavable} invalid={invalid.count} saving={saving} ask={ask} />
      {page.why_not && <p className={styles.note}>Read-only: {page.why_not}.</p>}
      {draft.isRestored && draft.isChanged && <p className={styles.note}>Your earlier unsaved changes are restored.</p>}
      <ErrorNote error={saving.error} />
      {draft.isChanged ? <CaseProblems checked={checked} /> : <Problems problems={problems} />}
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
          take={saving.take}
          gone={{
            title: "This case was removed from the file",
            words: "It was removed or renamed since you opened it. Nothing was written; your changes are still here.",
            yes: "Restore my version",
            go: () => void saving.write(() => addCase(page.eval_set, draft.value), "put back"),
          }}
          what="this case"
        />
      )}
      <AskDialog
        open={leave !== null}
        close={() => setLeave(null)}
        title="Not saved yet"
        words="Your changes are not in the file. This tab keeps them: return to this case to continue."
        yes="Leave without saving"
        go={() => {
          setLeave(null);
          leave?.();
        }}
      />
    </EditProvider>
  );
}

const UNCHANGED = "nothing is changed";

interface HeadProps {
  page: ReadCase;
  draft: Draft;
  /** Why there is nothing to save now. */
  unsavable: string | false;
  invalid: number;
  saving: Saving<SavedCase>;
  ask: (go: () => void) => void;
}

function Head({ page, draft, unsavable, invalid, saving, ask }: HeadProps) {
  const [, navigate] = useLocation();
  const run = useAddress()[0].get("run");
  const go = (id: string | null): void => {
    if (id === null) return;
    const leave = (): void => navigate(caseAddress(page.eval_set, id, run));
    if (draft.isChanged) ask(leave);
    else leave();
  };
  useSaveKey(() => page.can_edit && !unsavable && void saving.save(false));
  return (
    <header className={styles.head}>
      <p className="dim small">
        <Link href={setAddress(page.eval_set)}>{page.path}</Link>:{page.line} · case {numText(page.position + 1)} of {numText(page.total)}
      </p>
      <div className="row">
        <h1 className={styles.title}><Id text={page.eval_id || "(no id)"} /></h1>
        <span role="status" className={draft.isChanged ? styles.unsaved : "dim"}>
          {invalid ? `${invalid} ${invalid === 1 ? "field is" : "fields are"} not valid JSON` : draft.isChanged ? "not saved" : saving.message}
        </span>
        <span className="grow" />
        <Button look="quiet" action="previousPart" does="previous case" disabled={page.previous === null && "this is the first case"} aria-label="Previous case" onClick={() => go(page.previous)}>‹</Button>
        <Button look="quiet" action="nextPart" does="next case" disabled={page.next === null && "this is the last case"} aria-label="Next case" onClick={() => go(page.next)}>›</Button>
        <RunButton
          label={draft.isChanged ? "Save and run" : "Run"}
          title={`Run ${page.eval_id}`}
          source={pathOf("/api/start/of-set", { set: page.eval_set, case: page.eval_id, run })}
          disabled={draft.isChanged && unsavable}
          before={() => (draft.isChanged ? saving.save(false) : Promise.resolve(true))}
          stay
        />
        {page.can_edit && (
          <>
            <Button action="undo" disabled={!draft.canUndo && UNCHANGED} onClick={draft.undo}>Undo</Button>
            <Button action="discard" disabled={!draft.isChanged && UNCHANGED} onClick={draft.discard}>Discard</Button>
            <Button action="changes" disabled={unsavable} busy={saving.busy} onClick={() => void saving.show()}>Show changes</Button>
            <Button look="first" action="save" disabled={unsavable} busy={saving.busy} title="Ctrl+S" onClick={() => void saving.save(false)}>Save</Button>
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
        <JsonTextArea label="The whole case, as JSON" value={draft.value} takes={requireObject} onChange={draft.replace} rows={16} />
      )}
    </Tabs>
  );
}

function useCaseSaving(page: ReadCase, draft: Draft): Saving<SavedCase> {
  const [, navigate] = useLocation();
  const run = useAddress()[0].get("run");
  const way: SaveTarget<SavedCase> = {
    save: (value, version, commentsMayGo) => saveCase(page.eval_set, page.eval_id, value, version, commentsMayGo),
    preview: (value) => previewCase(page.eval_set, page.eval_id, value),
    saved: ({ eval_id }, message) => {
      if (eval_id !== page.eval_id) navigate(caseAddress(page.eval_set, eval_id, run), { replace: true, state: { message } });
    },
  };
  return useSaving(draft, way, { message: (history.state as { message?: string } | null)?.message ?? "", warnings: page.warnings });
}
