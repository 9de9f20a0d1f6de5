import { expect, test } from "vitest";
import { otherKeys } from "../evalCase/editing/jsonEdit";
import { readJson } from "../evalCase/editing/exactJson";
import { headFacts, isCamelHead } from "./setHead";

test.each([
  ["nothing", "{}", null, null, []],
  ["what google-adk writes", '{"eval_set_id": "a", "name": "a", "description": null, "creation_timestamp": 1.5}', "a", 1.5, []],
  ["camelCase", '{"evalSetId": "a", "creationTimestamp": 2, "mine": 1}', "a", 2, ["mine"]],
  ["a short id", '{"id": "a"}', "a", null, []],
  ["two ids", '{"eval_set_id": "a", "id": "b"}', "a", null, ["id"]],
  ["digits that are kept", '{"creation_timestamp": 1700000000.250}', null, 1700000000.25, []],
  ["an invalid time", '{"eval_set_id": "a", "creation_timestamp": "soon"}', "a", null, ["creation_timestamp"]],
  ["what no clock shows", '{"creation_timestamp": 1e300}', null, null, ["creation_timestamp"]],
  ["an invalid id", '{"eval_set_id": 5}', null, null, ["eval_set_id"]],
])("of %s every key is shown once", (_, text, id, made, others) => {
  const head = readJson(text);
  const facts = headFacts(head);
  expect([facts.id, facts.made]).toEqual([id, made]);
  expect(Object.keys(otherKeys(head, facts.names))).toEqual(others);
});

test.each([["{}", false], ['{"eval_set_id": "a"}', false], ['{"evalSetId": "a"}', true], ['{"eval_set_id": "a", "creationTimestamp": 1}', true]])(
  "%s in camelCase: %s",
  (text, expected) => {
    expect(isCamelHead(readJson(text))).toBe(expected);
  },
);
