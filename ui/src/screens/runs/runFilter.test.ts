import { describe, expect, it } from "vitest";
import { readFilter, runsPath } from "./runFilter";

const NOW = 1_700_000_000;

describe("the filter of the runs", () => {
  it.each([
    ["", "/api/runs?limit=100"],
    ["travel", "/api/runs?limit=100&agent=*travel*"],
    ["my travel", "/api/runs?limit=100&agent=*my*travel*"],
    ["agent:travel* set:bookings", "/api/runs?limit=100&agent=travel*&set=bookings"],
    ["outcome:failed,error", "/api/runs?limit=100&outcome=failed&outcome=error"],
    ["state:running agent:a&b", "/api/runs?limit=100&agent=a%26b&state=running"],
    ["agent: outcome:", "/api/runs?limit=100"],
  ])("asks for %j by %s", (line, path) => {
    const filter = readFilter(line, NOW);
    expect(runsPath(filter, null)).toBe(path);
    expect(filter.problems).toEqual([]);
  });

  it.each([
    ["since:12h", NOW - 12 * 3600],
    ["since:7d", NOW - 7 * 86_400],
    ["since:2w", NOW - 14 * 86_400],
    ["since:2023-11-01", new Date(2023, 10, 1).getTime() / 1000],
  ])("begins %s at %d", (line, since) => {
    expect(readFilter(line, NOW).since).toBe(since);
  });

  it.each([
    ["outcome:green", "not a valid outcome: green (expected passed, failed, error, inconclusive, skipped, not_run)"],
    ["since:yesterday", "not a valid time: since:yesterday (expected e.g. 12h, 7d, 2w or 2026-11-01)"],
    ["since:2023-99-99", "not a valid time: since:2023-99-99 (expected e.g. 12h, 7d, 2w or 2026-11-01)"],
    ["colour:red", "unknown field colour: (expected agent, set, outcome, state or since)"],
  ])("names the error in %s", (line, problem) => {
    expect(readFilter(line, NOW).problems).toEqual([problem]);
  });

  it("continues after a run", () => {
    expect(runsPath(readFilter("", NOW), "wv2jncpf22")).toBe("/api/runs?limit=100&before=wv2jncpf22");
  });
});

it("a star is asked of the server", () => {
  expect(runsPath(readFilter("starred agent:x"), null)).toBe("/api/runs?limit=100&agent=x&starred=true");
});
