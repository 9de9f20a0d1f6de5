"""Eval sets as YAML: short where that loses nothing, and always the same set when read again."""

import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from proctor.errors import EvalFileError
from proctor.files.eval_sets.source import load_eval_set, open_document
from proctor.files.yaml.cases import read_document
from proctor.files.yaml.writer import Flow, emit, emit_alike, write_yaml
from proctor.schema import EvalSet, to_adk_json
from proctor.schema.format.rubric import stable_rubric_id
from tests.files.yaml.generated_sets import SETS, TRICKY

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpus"


def content(text: str, role: str) -> dict[str, Any]:
    return {"parts": [{"text": text}], "role": role}


def read(text: str) -> EvalSet:
    return open_document(read_document(text.encode(), "f.evalset.yaml"), allow_empty=True).eval_set()


def _exactly(eval_set: EvalSet) -> str:
    """The set as JSON, in which 1 is not 1.0; keys of one's own may come in another order."""
    return json.dumps(json.loads(to_adk_json(eval_set)), sort_keys=True)


@given(SETS)
def test_what_is_written_is_the_same_set(document: dict[str, Any]) -> None:
    eval_set = EvalSet.model_validate(document)
    text = write_yaml(eval_set)
    again = read(text)
    assert again == eval_set
    assert _exactly(again) == _exactly(eval_set)
    assert write_yaml(again) == text


_SCALARS = st.sampled_from([None, True, False, 0, 1, 1.0, -0.0, "", "1", "null", "a", "a\nb"])
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        st.lists(_SCALARS, max_size=2).map(Flow),
        st.dictionaries(st.sampled_from("ab"), _SCALARS, max_size=2).map(Flow),
    ),
    max_leaves=3,
)


@given(_VALUES, _VALUES)
def test_values_are_alike_if_their_texts_are(one: object, other: object) -> None:
    for value in (one, other):
        assert emit_alike(one, value) == (emit(one) == emit(value))


@pytest.mark.nightly
@given(SETS)
def test_other_readers_of_yaml_see_the_same_texts(document: dict[str, Any]) -> None:
    text = write_yaml(EvalSet.model_validate(document))
    ours = read_document(text.encode(), "f.yaml").value
    theirs = yaml.safe_load(text)
    assert theirs["eval_set"] == ours["eval_set_id"]
    for case, same in zip(ours["eval_cases"], theirs["cases"], strict=True):
        assert same["case"] == case["eval_id"]
        assert same.get("final_state") == case.get("final_session_state")


@pytest.mark.parametrize("text", TRICKY)
def test_texts_that_look_like_something_else_stay_texts(text: str) -> None:
    state = {"block": text, "list": [text], text: 1}
    turn = {
        "user_content": content(text, "user"),
        "intermediate_data": {"tool_uses": [{"name": "f", "args": {"a": text}}]},
    }
    case = {"eval_id": "a", "conversation": [turn], "final_session_state": state, "tags": [text]}
    eval_set = EvalSet.model_validate({"eval_set_id": "s", "eval_cases": [case]})
    assert read(write_yaml(eval_set)) == eval_set


@pytest.mark.parametrize(
    "data",
    [
        {"intermediate_responses": [["", [{"text": "a", "thought": True}]]]},
        {},
        {"invocation_events": []},
        {"tool_uses": []},
        None,
    ],
    ids=str,
)
def test_the_forms_of_intermediate_data_stay_apart(data: Any) -> None:
    turn = {"user_content": content("a", "user"), "intermediate_data": data}
    eval_set = EvalSet.model_validate(
        {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [turn]}]}
    )
    assert read(write_yaml(eval_set)) == eval_set


def _published() -> Iterator[Path]:
    index = CORPUS / "index.json"
    entries = json.loads(index.read_text(encoding="utf-8")) if index.is_file() else []
    return (
        CORPUS / entry["file"]
        for entry in entries
        if entry["kind"] in {"evalset", "evalset-old", "test-new", "test-old"}
    )


@pytest.mark.slow
def test_published_sets_survive_the_way_there_and_back(shared: Path) -> None:
    converted = 0
    for path in _published():
        try:
            eval_set = load_eval_set(path, allow_duplicate_ids=True)
        except EvalFileError:
            continue
        text = write_yaml(eval_set)
        again = read(text)
        assert again == eval_set, path
        assert to_adk_json(again) == to_adk_json(eval_set), path
        assert write_yaml(again) == text, path
        converted += 1
    assert converted >= 130


def written(case: dict[str, Any]) -> str:
    """How one case is written, after its id."""
    text = write_yaml(EvalSet.model_validate({"eval_set_id": "s", "eval_cases": [{"eval_id": "a", **case}]}))
    head = "eval_set: s\ncases:\n  - case: a\n"
    assert text.startswith(head)
    return dedent(text.removeprefix(head))


ASK = {"user_content": content("Hi.", "user")}


@pytest.mark.parametrize(
    ("case", "text"),
    [
        pytest.param({"conversation": [ASK]}, "ask: Hi.\n", id="one turn"),
        pytest.param(
            {"conversation": [{**ASK, "final_response": content("Yes: no.", "model")}, ASK]},
            "turns:\n  - ask: Hi.\n    expect: 'Yes: no.'\n  - ask: Hi.\n",
            id="several turns",
        ),
        pytest.param(
            {"conversation": [{**ASK, "intermediate_data": {"tool_uses": []}}]}, "ask: Hi.\ntools: []\n", id="no calls expected"
        ),
        pytest.param(
            {"conversation": [{**ASK, "intermediate_data": {}}]}, "ask: Hi.\nintermediate_data: {}\n", id="nothing about calls"
        ),
        pytest.param(
            {"conversation": [{**ASK, "intermediate_data": {"tool_uses": [{"name": "f", "args": {"city": "Paris"}}]}}]},
            "ask: Hi.\ntools: [f(city=Paris)]\n",
            id="a call",
        ),
        pytest.param(
            {"conversation": [{**ASK, "intermediate_data": {"tool_uses": [{"name": "f", "args": {"a": 1, "b": "2"}}, {"name": "g"}]}}]},
            'ask: Hi.\ntools:\n  - f(a=1, b="2")\n  - name: g\n',
            id="calls with several arguments, and with none stated",
        ),
        pytest.param(
            {"conversation": [{**ASK, "intermediate_data": {"tool_uses": [{"id": "1", "name": "f", "args": {}}]}}]},
            "ask: Hi.\ntools:\n  - id: '1'\n    args: {}\n    name: f\n",
            id="a call with an id",
        ),
        pytest.param(
            {"conversation": [{**ASK, "intermediate_data": {"intermediate_responses": [["", [{"text": "a"}]], ["b", [{"text": "c"}]]]}}]},
            "ask: Hi.\nintermediate_responses:\n  - a\n  - author: b\n    text: c\n",
            id="texts on the way",
        ),
        pytest.param(
            {"conversation": [{"user_content": {"parts": [{"text": "a"}]}}]},
            "ask:\n  parts:\n    - text: a\n",
            id="a message without its role",
        ),
        pytest.param(
            {"conversation": [{**ASK, "rubrics": [{"criterion": "Be kind."}]}]},
            # the rubric keeps what it was written with
            "turns:\n  - ask: Hi.\n    rubrics:\n      - rubric_id: " + stable_rubric_id("Be kind.") + "\n        rubric_content:\n"
            "          text_property: Be kind.\n        criterion: Be kind.\n",
            id="a rubric with additional keys",
        ),
        pytest.param(
            {"conversation": [ASK], "rubrics": [{"rubric_id": "kind", "rubric_content": {"text_property": "Be kind."}, "type": "X"}]},
            "ask: Hi.\nrubrics:\n  - id: kind\n    text: Be kind.\n    type: X\n",
            id="a rubric",
        ),
        pytest.param(
            {"conversation": [ASK], "rubrics": [
                {"rubric_id": stable_rubric_id("Be kind."), "rubric_content": {"text_property": "Be kind."}, "type": "FINAL_RESPONSE_QUALITY"},
                {"rubric_id": "k", "rubric_content": {"text_property": "Be kind."}, "type": "FINAL_RESPONSE_QUALITY"},
                {"rubric_id": "n", "rubric_content": {"text_property": "Be kind."}},
            ]},
            "ask: Hi.\nrubrics:\n  - Be kind.\n  - id: k\n    text: Be kind.\n"
            "  - rubric_id: n\n    rubric_content:\n      text_property: Be kind.\n",
            id="rubrics about the answer, and one that is about nothing",
        ),
        pytest.param(
            {"conversation": [ASK], "session_input": {"app_name": "", "user_id": "", "state": {"a": "no"}}, "final_session_state": {"a": {"b": 1}}},
            "state: {a: 'no'}\nask: Hi.\nfinal_state:\n  a:\n    b: 1\n",
            id="state",
        ),
        pytest.param(
            {"conversation": [ASK], "session_input": {"app_name": "x", "user_id": "u", "session_id": "s"}},
            "app: x\nuser: u\nsession: s\nask: Hi.\n",
            id="session",
        ),
        pytest.param(
            {"conversation": [ASK], "session_input": {"app_name": "", "user_id": "u", "mine": 1}},
            "ask: Hi.\nsession_input:\n  app_name: ''\n  user_id: u\n  mine: 1\n",
            id="a session with additional keys",
        ),
        pytest.param(
            {"conversation_scenario": {"starting_prompt": "Hi.", "conversation_plan": "Ask.", "user_persona": "NOVICE"}},
            "start: Hi.\nplan: Ask.\npersona: NOVICE\n",
            id="a scenario",
        ),
        pytest.param({"conversation": [ASK], "tags": ["a", "b"]}, "tags: [a, b]\nask: Hi.\n", id="tags"),
        pytest.param({"conversation": [ASK], "ask": 1, "tags": 2}, "ask: Hi.\nextra:\n  ask: 1\n  tags: 2\n", id="keys of one's own"),
        pytest.param(
            {"conversation": [{**ASK, "final_response": content("One.\nTwo.\n", "model")}]},
            "ask: Hi.\nexpect: |\n  One.\n  Two.\n",
            id="several lines",
        ),
    ],
)  # fmt: skip
def test_the_short_forms(case: dict[str, Any], text: str) -> None:
    assert written(case) == text
