import { useState } from "react";
import { pathOf, useChange, useData } from "../../data/queries";
import type { ItemToLabel, ItemsToLabel, LabelPart, LabelToPut, LabelledItem } from "../../data/types";
import { labelAddress } from "./labelText";

const BATCH = 20;

interface Step {
  at: number;
  before: LabelPart | null;
}

interface Batch {
  items: readonly ItemToLabel[] | undefined;
  /** The index of the item that is shown; the number of items after the last one. */
  at: number;
  /** The labels that were given in this batch, by index. */
  given: ReadonlyMap<number, LabelPart>;
  busy: boolean;
  error: { message: string } | null;
  go: (at: number) => void;
  /** Store a label of the shown item; `done` is called once it is stored. */
  label: (passes: boolean, note: string, done: () => void) => void;
  /** Take back the last label of the item at `index`; `done` gets that label. */
  undo: (index: number, done: (label: LabelPart) => void) => void;
  /** Read the next verdicts. */
  more: () => void;
}

/** The next verdicts to label, the labels given so far, and the way back. */
export function useLabelling(run: string, metric: string, labeller: string, second: boolean): Batch {
  const base = `/api/runs/${run}/labelling/${encodeURIComponent(metric)}`;
  const next = pathOf(`${base}/next`, { labeller, second: second ? "true" : null, limit: BATCH });
  const { data, error, isFetching, refetch } = useData<ItemsToLabel>(next, { keep: false, fresh: Infinity, forget: true });
  const [at, setAt] = useState(0);
  const [given, setGiven] = useState<ReadonlyMap<number, LabelPart>>(new Map());
  const [steps, setSteps] = useState<readonly Step[]>([]);
  const change = useChange<LabelPart | null>([`${base}?`, "/api/judges", `/api/runs/${run}/cases/`]);
  const items = isFetching && at === 0 ? undefined : data?.items;
  const busy = change.isPending || isFetching;

  const put = (index: number, body: Pick<LabelToPut, "passes" | "note">, after: () => void) => {
    const item = items?.[index]?.item;
    if (!item || busy) return;
    const label: LabelToPut = { ...thing(item), ...body, labeller, replaces: given.get(index)?.labelled_at ?? null };
    change.mutate(
      { method: "PUT", path: labelAddress(run, metric, item), body: label },
      { onSuccess: ({ body: stored }) => (setGiven(withLabel(given, index, stored)), after()) },
    );
  };
  const remove = (index: number, label: LabelPart, after: () => void) => {
    const item = items?.[index]?.item;
    if (!item || busy) return;
    const path = pathOf(labelAddress(run, metric, item), { ...thing(item), labeller, labelled_at: label.labelled_at });
    change.mutate({ method: "DELETE", path }, { onSuccess: () => (setGiven(withLabel(given, index, null)), after()) });
  };
  const undo = (index: number, done: (label: LabelPart) => void) => {
    const step = steps.filter((one) => one.at === index).at(-1);
    const label = given.get(index);
    if (!step || !label) return;
    const back = () => (setSteps(steps.filter((one) => one !== step)), setAt(index), done(label));
    if (step.before) put(index, step.before, back);
    else remove(index, label, back);
  };
  const restart = () => (setAt(0), setGiven(new Map()), setSteps([]), change.reset());
  return {
    items,
    at,
    given,
    busy,
    error: change.error ?? error,
    go: (to) => (change.reset(), setAt(Math.max(0, Math.min(to, items?.length ?? 0)))),
    label: (passes, note, done) => put(at, { passes, note }, () => (setSteps([...steps, { at, before: given.get(at) ?? null }]), setAt(at + 1), done())),
    undo,
    more: () => (restart(), void refetch()),
  };
}

function thing({ turn, rubric_id }: LabelledItem): Pick<LabelledItem, "turn" | "rubric_id"> {
  return { turn, rubric_id };
}

function withLabel(given: ReadonlyMap<number, LabelPart>, index: number, label: LabelPart | null): ReadonlyMap<number, LabelPart> {
  const next = new Map(given);
  if (label) next.set(index, label);
  else next.delete(index);
  return next;
}
