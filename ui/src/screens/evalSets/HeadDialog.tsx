import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { SourceError } from "../../data/source";
import type { EvalSetPage } from "../../data/types";
import { Button } from "../../components/forms/Button";
import { Dialog } from "../../components/forms/Dialog";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { clockText } from "../../components/text/numberFormats";
import { Skeleton } from "../../components/feedback/Skeleton";
import { type Edit, EditProvider, useEdit, useNotes } from "../evalCase/fields/EditContext";
import { type ReadHead, previewHead, readHead, saveHead } from "../evalCase/editing/evalSetApi";
import { ConflictDialog, PreviewDialog } from "../evalCase/editing/dialogs";
import { keyFor } from "../evalCase/editing/jsonEdit";
import { OtherKeysInput, TextInput } from "../evalCase/fields/jsonFields";
import { useDraft } from "../evalCase/editing/useDraft";
import { type SaveTarget, useInvalidFields, useSaving } from "../evalCase/editing/useSaving";
import styles from "./EvalSets.module.css";
import { headFacts, isCamelHead } from "./setHead";

interface Props {
  page: EvalSetPage;
  close: () => void;
}

const TITLE = "Properties of the eval set";

/** Every key of a set but its cases. What was written and not saved is kept while the tab is open. */
export function HeadDialog({ page, close }: Props) {
  const { data, error, refetch } = useQuery<ReadHead, SourceError>({
    queryKey: ["exact head", page.id],
    queryFn: ({ signal }) => readHead(page.id, signal),
    staleTime: Infinity, // what is edited does not change under one's hands
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  });
  if (data) return <HeadEditor page={page} read={data} close={close} />;
  return (
    <Dialog open onClose={close} title={TITLE}>
      {error ? <ErrorNote error={error} retry={refetch} /> : <Skeleton rows={4} />}
    </Dialog>
  );
}

function HeadEditor({ page, read, close }: Props & { read: ReadHead }) {
  const draft = useDraft(`head of ${page.id}`, read.value, read.version);
  const invalid = useInvalidFields();
  const way: SaveTarget<ReadHead> = {
    save: (value, version, commentsMayGo) => saveHead(page.id, value, version, commentsMayGo),
    preview: (value) => previewHead(page.id, value),
    saved: close,
  };
  const saving = useSaving(draft, way, { message: "", warnings: read.warnings });
  const edit = useMemo<Edit>(
    () => ({
      value: draft.value,
      isCamel: isCamelHead(draft.value),
      readOnly: false,
      set: draft.set,
      errors: saving.errors,
      warnings: draft.isChanged ? [] : saving.warnings,
      reportInvalid: invalid.report,
      personas: [],
    }),
    [draft, saving.errors, saving.warnings, invalid.report],
  );
  if (saving.preview) {
    return <PreviewDialog preview={saving.preview} path={page.path} busy={saving.busy} close={saving.closePreview} save={() => void saving.save(saving.preview?.lost.length !== 0)} />;
  }
  if (saving.conflict) {
    return <ConflictDialog base={draft.base} mine={draft.value} theirs={saving.conflict.theirs} close={saving.closeConflict} take={saving.take} what="this set" />;
  }
  const canSave = draft.isChanged && invalid.count === 0;
  const foot = (
    <>
      <Button disabled={!draft.isChanged} onClick={draft.discard}>Discard</Button>
      <Button disabled={!canSave} busy={saving.busy} onClick={() => void saving.show()}>Show changes</Button>
      <Button look="first" disabled={!canSave} busy={saving.busy} onClick={() => void saving.save(false)}>Save</Button>
    </>
  );
  return (
    <Dialog open onClose={close} title={TITLE} wide foot={foot}>
      <EditProvider value={edit}>
        {draft.isRestored && draft.isChanged && <p className="dim">Your earlier unsaved changes are restored.</p>}
        <ErrorNote error={saving.error} />
        <HeadFields eval_set_id={read.eval_set_id} />
      </EditProvider>
    </Dialog>
  );
}

function HeadFields({ eval_set_id }: { eval_set_id: string }) {
  const { value, isCamel } = useEdit();
  const notes = useNotes([]);
  const { id, made, names } = headFacts(value);
  return (
    <>
      {notes.hint && <p className="dim small">{notes.hint}</p>}
      <dl className={styles.facts}>
        <dt>Id</dt>
        <dd>
          <code>{id ?? eval_set_id}</code> <span className="dim">{id === null ? "from the file’s name" : "fixed: runs and baselines refer to it"}</span>
        </dd>
        {made !== null && (
          <>
            <dt>Created</dt>
            <dd>{clockText(made)}</dd>
          </>
        )}
      </dl>
      <TextInput label="Name" path={[keyFor(value, "name", isCamel)]} optional />
      <TextInput label="Description" path={[keyFor(value, "description", isCamel)]} lines optional />
      <OtherKeysInput path={[]} names={names} label="Everything else, as JSON" hint="Keys of the set that have no field above. The cases are in the table." />
    </>
  );
}
