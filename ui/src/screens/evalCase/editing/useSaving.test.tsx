import { act } from "react";
import { describe, expect, it } from "vitest";
import { render, settle } from "../../../../test/render";
import { type Draft, useDraft } from "./useDraft";
import { type Saving, useSaving } from "./useSaving";

interface Answer {
  value: string;
  version: string;
  warnings: [];
}

/** An editor whose saves are answered by the test. */
function editor(name: string) {
  const sent: { value: unknown; version: string; answer: () => void }[] = [];
  const now = {} as { draft: Draft; saving: Saving<Answer> };
  function Shown() {
    now.draft = useDraft(name, "old", "v0");
    now.saving = useSaving<Answer>(
      now.draft,
      {
        save: (value, version) => new Promise((done) => sent.push({ value, version, answer: () => done({ value: `${value as string}, saved`, version: `v${sent.length}`, warnings: [] }) })),
        preview: () => Promise.reject(new Error("no preview")),
        saved: () => undefined,
      },
      { message: "", warnings: [] },
    );
    return null;
  }
  render(<Shown />);
  return { sent, now, change: (value: string) => act(() => now.draft.replace(value)) };
}

function save({ saving }: { saving: Saving<Answer> }): Promise<boolean> {
  let done = Promise.resolve(false);
  act(() => {
    done = saving.save(false);
  });
  return done;
}

async function answer(one: { answer: () => void } | undefined): Promise<void> {
  one?.answer();
  await settle();
}

describe("a save while another is under way", () => {
  it("waits for it, and does not send the same value again", async () => {
    const { sent, now, change } = editor("twice");
    change("new");
    const both = [save(now), save(now)];
    await settle();
    expect(sent).toHaveLength(1);
    await answer(sent[0]);
    expect(await Promise.all(both)).toEqual([true, true]);
    expect(sent).toHaveLength(1);
    expect([now.draft.value, now.draft.isChanged]).toEqual(["new, saved", false]);
  });

  it("sends what was changed since then, with the version of the first", async () => {
    const { sent, now, change } = editor("changed");
    change("new");
    const first = save(now);
    change("newer");
    const second = save(now);
    await answer(sent[0]);
    expect([await first, now.draft.value]).toEqual([true, "newer"]);
    await answer(sent[1]);
    expect(await second).toBe(true);
    expect(sent.map(({ value, version }) => [value, version])).toEqual([["new", "v0"], ["newer", "v1"]]);
    expect(now.draft.value).toBe("newer, saved");
  });
});
