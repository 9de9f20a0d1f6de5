"""What is written is what ADK writes, byte for byte."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from proctor.schema import EvalCase, EvalSet, EvalSetResult, FunctionCall, to_adk_json
from tests.schema.golden import Vector, as_json, vectors

OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "by_alias": {"by_alias": True},
    "exclude_none": {"exclude_none": True},
    "by_alias_exclude_none": {"by_alias": True, "exclude_none": True},
    "exclude_unset_defaults_none": {"exclude_unset": True, "exclude_defaults": True, "exclude_none": True},
}


def _ordered(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("vector", vectors("serialization_evalset"))
def test_eval_sets_dump_in_the_order_of_adk(vector: Vector, options: str) -> None:
    eval_set = EvalSet.model_validate(vector["input"])
    assert eval_set.model_dump_json(**OPTIONS[options]) == _ordered(vector["dumps"][options])


@pytest.mark.parametrize("vector", vectors("serialization_evalset"))
def test_the_file_text_is_that_of_adk(vector: Vector) -> None:
    assert to_adk_json(EvalSet.model_validate(vector["input"])) == vector["file_text"]
    assert to_adk_json(EvalSet.model_validate_json(json.dumps(vector["input"]))) == vector["file_text"]


@pytest.mark.parametrize("vector", vectors("serialization_evalset"))
def test_tool_calls_and_their_responses_are_found_as_adk_finds_them(vector: Vector) -> None:
    turns = [case.conversation or [] for case in EvalSet.model_validate(vector["input"]).eval_cases]
    calls = [[[_short(call) for call in turn.tool_calls] for turn in case] for case in turns]
    pairs = [
        [[[_short(c), _short(r)] for c, r in turn.calls_with_responses] for turn in case] for case in turns
    ]
    assert calls == vector["tool_calls"]
    assert pairs == vector["tool_calls_with_responses"]


def _short(model: Any) -> Any:
    return None if model is None else as_json(model, exclude_none=True)


def test_sets_grow_as_the_manager_of_adk_writes_them() -> None:
    operations = [parameter.values[0] for parameter in vectors("manager_eval_sets")]
    if operations == [{}]:
        pytest.skip("the folder ../shared is missing")
    sets: dict[str, EvalSet] = {}
    for operation in operations:
        name = operation["eval_set_id"]
        if operation["op"] == "create":
            sets[name] = EvalSet(eval_set_id=name, name=name, eval_cases=[], creation_timestamp=7.5)
        else:
            sets[name].eval_cases += [EvalCase.model_validate(case) for case in operation["cases"]]
        text = re.sub(
            r'(?m)^  "creation_timestamp": 7\.5$', '  "creation_timestamp": <time>', to_adk_json(sets[name])
        )
        assert text == operation["file"]


def _stored(shared: Path, suffix: str) -> list[Path]:
    files = sorted((shared / "golden" / "files").glob(f"*{suffix}"))
    assert files
    return files


def test_stored_files_are_written_back_byte_for_byte(shared: Path) -> None:
    for path in _stored(shared, ".evalset.json"):
        text = path.read_text(encoding="utf-8")
        assert to_adk_json(EvalSet.model_validate_json(text)) == text, path.name
    for path in _stored(shared, ".evalset_result.json"):
        text = path.read_text(encoding="utf-8")
        assert to_adk_json(EvalSetResult.model_validate_json(text), full=True) == text, path.name


def test_published_results_keep_every_key(shared: Path) -> None:
    index = json.loads((shared / "corpus" / "index.json").read_text(encoding="utf-8"))
    results = [entry["file"] for entry in index if entry["kind"] == "result"]
    assert len(results) == 16
    for file in results:
        document = json.loads((shared / "corpus" / file).read_text(encoding="utf-8"))
        while isinstance(document, str):
            document = json.loads(document)
        assert as_json(EvalSetResult.model_validate(document), exclude_unset=True) == document, file


def test_what_was_appended_to_a_default_is_written() -> None:
    case = EvalCase.model_validate(
        {"eval_id": "a", "conversation": [{"user_content": {}, "intermediate_data": {}}]}
    )
    assert case.conversation is not None
    data: Any = case.conversation[0].intermediate_data
    data.tool_uses.append(FunctionCall(name="f"))
    assert '"name": "f"' in to_adk_json(case)


def test_unknown_keys_are_written_even_when_null() -> None:
    document = {
        "eval_id": "a",
        "conversation": [{"user_content": {"parts": [{"text": "x", "later": None}]}}],
        "note": None,
        "more": {"x": None},
    }
    assert json.loads(to_adk_json(EvalCase.model_validate(document))) == document


def test_half_of_a_surrogate_pair_is_written_as_an_escape() -> None:
    document = {"eval_id": "a", "conversation": [], "note": "\ud83d 天"}
    text = to_adk_json(EvalCase.model_validate(document))
    assert '"\\ud83d 天"' in text
    assert text.encode()
    assert json.loads(text) == document
