import { expect, test } from "vitest";
import { caseAddress, idOf } from "./links";

test.each([["a"], [".."], ["."], [""], ["~"], ["~a"], ["a/b"], ["../x"], ["%2e%2e"], ["a?b#c"], ["é😀"], ["x\ny"], ["..."], ["a b"], ["~."], ["~2f"], ["~~"], ["a:b,c"], ["\\"], ["100%"], ["~.~."]])(
  "the case %j is found by its address",
  (id) => {
    const url = new URL(caseAddress("set-1", id), "http://host");
    expect(url.pathname.split("/")).toHaveLength(5);
    expect(decodeURI(url.pathname)).toBe(decodeURIComponent(url.pathname)); // the router decodes no more than this
    expect(url.search + url.hash).toBe("");
    expect(idOf(decodeURI(url.pathname.split("/")[4] ?? ""))).toBe(id);
  },
);

test("the address of a case carries the run that it was opened from", () => {
  expect(caseAddress("set-1", "a/b", "run 1")).toBe("/eval-sets/set-1/cases/a~2fb?run=run%201");
});
