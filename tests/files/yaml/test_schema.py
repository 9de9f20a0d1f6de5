"""The JSON Schema for editors: it knows the keys that the reader knows, takes what the reader takes, and flags slips."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given

from proctor.errors import EvalFileError
from proctor.files.eval_sets.convert import yaml_text
from proctor.files.eval_sets.source import open_document
from proctor.files.yaml.cases import read_document
from proctor.files.yaml.object_reader import CALL_KEYS, CASE_KEYS, RUBRIC_KEYS, SET_KEYS, TURN_KEYS
from proctor.schema import EvalSet, persona_ids
from tests.docs.examples.pages import ROOT, blocks, pages
from tests.files.yaml.generated_sets import SETS
from tests.files.yaml.test_cases import CASES, MISTAKES, TURNS

SCHEMA: dict[str, Any] = json.loads(
    (ROOT / "docs/schemas/evalset.yaml.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


class _CoreLoader(yaml.SafeLoader):
    """Reads YAML as editors do: by the core schema of YAML 1.2, near enough."""


_CoreLoader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag.rpartition(":")[2] in {"int", "float", "null"}]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def complaints(text: str) -> list[str]:
    """What an editor would underline."""
    return [error.message for error in VALIDATOR.iter_errors(yaml.load(text, Loader=_CoreLoader))]


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    ("part", "table"),
    [("set", SET_KEYS), ("case", CASE_KEYS), ("turn", TURN_KEYS)],
)
def test_it_knows_the_keys_that_the_reader_knows(part: str, table: dict[str, str]) -> None:
    assert SCHEMA["$defs"][part]["properties"].keys() == table.keys()


def test_it_knows_the_keys_of_calls_rubrics_and_the_personas() -> None:
    call, rubric = SCHEMA["$defs"]["call"]["anyOf"], SCHEMA["$defs"]["rubrics"]["items"]["anyOf"]
    assert call[1]["properties"].keys() == CALL_KEYS.keys() == set(call[2]["propertyNames"]["not"]["enum"])
    assert rubric[1]["properties"].keys() == RUBRIC_KEYS.keys()
    assert SCHEMA["$defs"]["case"]["properties"]["persona"]["anyOf"][0]["enum"] == persona_ids()


# Camel case reads, too, but the schema is for what one writes.
_CAMEL_CASE = ("intermediateData", "creationTimestamp")
READABLE = [str(row.values[0]) for row in [*TURNS, *CASES]]


@pytest.mark.parametrize("text", [text for text in READABLE if not any(word in text for word in _CAMEL_CASE)])
def test_it_takes_what_the_reader_takes(text: str) -> None:
    assert complaints(text) == []


# What only the reader sees: the content of a text, places of keys, names that are taken.
_ONLY_THE_READER = (
    "007", "'f(", "f(a={b", "f(x=1", "# b)", "evalId", "intermediate_data: {}", "session_input: {}", "- {case: [x], ask: a}",
)  # fmt: skip


@pytest.mark.parametrize(
    "text", [text for text, _ in MISTAKES if not any(word in text for word in _ONLY_THE_READER)]
)
def test_it_flags_what_the_reader_refuses(text: str) -> None:
    assert complaints(text) != []


# One key of each kind of case, and all other keys of a case, each with a valid value.
_KINDS: list[dict[str, Any]] = [
    {"ask": "a"}, {"user_content": {"parts": []}, "case": "a"}, {"turns": [{"ask": "a"}]}, {"conversation": [{"ask": "a"}]},
    {"start": "a", "plan": "b"}, {"conversation_scenario": {"starting_prompt": "a", "conversation_plan": "b"}, "case": "a"},
]  # fmt: skip
_RIGHT: dict[str, Any] = {
    "tools": ["f(a=1)"], "expect": "x", "tool_responses": [{"name": "f"}], "intermediate_responses": ["x"],
    "intermediate_data": {"tool_uses": []}, "invocation_id": "i", "duration": 1.5, "model_duration": None, "tool_duration": 1,
    "app_details": {}, "final_response": {"parts": []}, "start": "a", "plan": "b", "persona": "EXPERT", "opening": ["a"],
    "conversation_scenario": {"starting_prompt": "a", "conversation_plan": "b"}, "turns": [{"ask": "a"}], "ask": "a",
    "state": {"k": 1}, "final_state": {}, "tags": ["x"], "rubrics": ["x"], "extra": {"mine": 1}, "app": "a", "user": 1,
    "creation_timestamp": 1, "expectations": {}, "rules": [{}], "response_schema": {},
}  # fmt: skip


@pytest.mark.nightly(check=76)
@pytest.mark.parametrize("kind", _KINDS, ids=lambda kind: next(iter(kind)))
@pytest.mark.parametrize("key", _RIGHT)
def test_it_accepts_and_refuses_the_same_as_the_reader(kind: dict[str, Any], key: str) -> None:
    text = json.dumps({key: _RIGHT[key], **kind})  # JSON is YAML, too
    try:
        open_document(read_document(text.encode(), "f.evalset.yaml"))
        is_read = True
    except EvalFileError:
        is_read = False
    assert (complaints(text) == []) == is_read


@pytest.mark.nightly
@given(SETS)
def test_it_takes_what_is_written(document: dict[str, Any]) -> None:
    text = yaml_text(EvalSet.model_validate(document))
    assert complaints(text) == []


def _examples() -> Iterator[Any]:
    for page in pages():
        name = page.relative_to(ROOT).as_posix()
        for block in blocks(page.read_text(encoding="utf-8"), name):
            if block.language == "yaml" and "evalset" in block.words:
                yield pytest.param(block.text, id=str(block))
    for path in sorted((ROOT / "examples").rglob("*.yaml")):
        if path.name.endswith((".evalset.yaml", ".test.yaml")):
            yield pytest.param(path.read_text(encoding="utf-8"), id=path.relative_to(ROOT).as_posix())


@pytest.mark.parametrize("text", list(_examples()))
def test_every_example_fits_it(text: str) -> None:
    assert complaints(text) == []
    try:
        assert read_document(text.encode(), "page.evalset.yaml").value["eval_cases"]
    except EvalFileError as error:
        pytest.fail(str(error))


def test_the_pages_have_examples() -> None:
    assert len(list(_examples())) >= 5


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples").rglob("*.evalset.json")), ids=lambda path: path.name
)
def test_the_sample_sets_fit_it_once_they_are_yaml(path: Path) -> None:
    assert complaints(yaml_text(EvalSet.model_validate_json(path.read_bytes()))) == []
