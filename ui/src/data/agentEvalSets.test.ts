import { describe, expect, it } from "vitest";
import { agentSetsFirst } from "./agentEvalSets";
import type { AgentsPage } from "./types";

const AGENTS = { items: [{ name: "b", reference: "agents/b" }, { name: "bb", reference: "agents/bb" }] } as unknown as AgentsPage;
const SETS = ["agents/a/x.json", "agents/bb/y.json", "agents/b/z.json"].map((path) => ({ path }));

describe("eval sets of an agent", () => {
  it.each([
    ["come first", "b", ["agents/b/z.json", "agents/a/x.json", "agents/bb/y.json"]],
    ["are those of its folder, not of one whose name begins so", "bb", ["agents/bb/y.json", "agents/a/x.json", "agents/b/z.json"]],
    ["may be none", "unknown", SETS.map(({ path }) => path)],
  ])("%s", (_, agent, paths) => expect(agentSetsFirst(SETS, AGENTS, agent).map(({ path }) => path)).toEqual(paths));

  it("stay as they are while the agents are not known", () => expect(agentSetsFirst(SETS, undefined, "b")).toEqual(SETS));
});
