"""What all models share: two spellings, unknown keys, times, bytes, numbers, and look-alikes of other libraries."""

from enum import Enum
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from proctor import schema
from proctor.schema import (
    Blob,
    Content,
    EvalCase,
    EvalConfig,
    EvalSet,
    Invocation,
    InvocationEvents,
    Part,
    SessionInput,
    UserPersona,
    plain_data,
    unknown_keys,
)
from proctor.schema.format import wire_model
from proctor.schema.format.wire_model import WireModel
from tests.schema.golden import as_json


def _message(caught: pytest.ExceptionInfo[ValidationError]) -> str:
    (error,) = caught.value.errors()
    return str(error["msg"])


# --- spellings -------------------------------------------------------------------------------------------------------

SNAKE = {
    "eval_set_id": "s",
    "creation_timestamp": 1.5,
    "eval_cases": [{"eval_id": "c", "conversation": [{"user_content": {}, "final_response": None}]}],
}
CAMEL = {
    "evalSetId": "s",
    "creationTimestamp": 1.5,
    "evalCases": [{"evalId": "c", "conversation": [{"userContent": {}, "finalResponse": None}]}],
}
MIXED = {"evalSetId": "s", "creation_timestamp": 1.5, "eval_cases": CAMEL["evalCases"]}
OTHER_IDS = {
    "id": "s",
    "creation_timestamp": 1.5,
    "eval_cases": [{"id": "c", "conversation": [{"user_content": {}, "final_response": None}]}],
}


@pytest.mark.parametrize("document", [CAMEL, MIXED, OTHER_IDS], ids=["camel", "mixed", "id"])
def test_every_spelling_reads_alike_and_is_written_in_snake_case(document: dict[str, Any]) -> None:
    assert EvalSet.model_validate(document) == EvalSet.model_validate(SNAKE)
    assert as_json(EvalSet.model_validate(document), exclude_unset=True) == SNAKE


def test_every_field_has_the_camel_case_name_that_pydantic_would_give_it() -> None:
    for module in walk_packages(schema.__path__, "proctor.schema."):
        import_module(module.name)
    waiting, names = [WireModel], set[str]()
    while waiting:
        model = waiting.pop()
        waiting += model.__subclasses__()
        names |= model.model_fields.keys()
    assert len(names) > 100
    assert {name: wire_model.to_camel(name) for name in names} == {name: to_camel(name) for name in names}


def test_personas_read_both_spellings_and_are_written_in_snake_case() -> None:
    behavior = {"name": "n", "description": "d", "behaviorInstructions": ["b"], "violationRubrics": []}
    persona = UserPersona.model_validate({"id": "p", "description": "d", "behaviors": [behavior]})
    assert list(as_json(persona, by_alias=True)["behaviors"][0]) == [
        "name", "description", "behavior_instructions", "violation_rubrics"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("model", "document", "field"),
    [
        (EvalSet, {"eval_set_id": "a", "evalSetId": "b", "eval_cases": []}, "eval_set_id"),
        (EvalCase, {"eval_id": "a", "evalId": "a", "conversation": []}, "eval_id"),
        (Part, {"functionCall": {"name": "f"}, "function_call": {"name": "g"}}, "function_call"),
        (SessionInput, {"app_name": "a", "appName": "a", "user_id": "u"}, "app_name"),
    ],
)
def test_a_field_in_both_spellings_is_refused(model: Any, document: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(document)
    assert _message(caught).startswith(f"expected {field} once")


def test_unknown_keys_are_kept_in_order_and_listed_with_their_place() -> None:
    document = {
        "eval_set_id": "s",
        "eval_cases": [
            {
                "eval_id": "c",
                "conversation": [
                    {"user_content": {"parts": [{"text": "x", "zeta": 1, "alpha": 2}]}, "userContents": 1}
                ],
                "tags": ["t"],
            }
        ],
        "owner": "o",
    }
    eval_set = EvalSet.model_validate(document)
    assert [path for path, _ in unknown_keys(eval_set)] == [
        ("owner",),
        ("eval_cases", 0, "tags"),
        ("eval_cases", 0, "conversation", 0, "userContents"),
        ("eval_cases", 0, "conversation", 0, "user_content", "parts", 0, "zeta"),
        ("eval_cases", 0, "conversation", 0, "user_content", "parts", 0, "alpha"),
    ]
    assert as_json(eval_set, exclude_unset=True) == document


# --- values ----------------------------------------------------------------------------------------------------------

TIMES = {
    "seconds": (1700000000.5, 1700000000.5),
    "whole seconds": (1700000000, 1700000000.0),
    "seconds as text": ("1700000000.5", 1700000000.5),
    "milliseconds": (1700000000500, 1700000000.5),
    "milliseconds as text": ("1700000000500", 1700000000.5),
    "RFC 3339": ("2023-11-14T22:13:20.500Z", 1700000000.5),
    "RFC 3339 with an offset": ("2023-11-15T00:13:20+02:00", 1700000000.0),
    "no zone is UTC": ("2023-11-14T22:13:20", 1700000000.0),
    "null": (None, 0.0),
    "just below milliseconds": (99999999999, 99999999999.0),
    "neither seconds nor milliseconds": (1e308, 1e308),
}


@pytest.mark.parametrize(("given", "seconds"), TIMES.values(), ids=TIMES)
def test_times_are_read_in_every_form_and_kept_in_seconds(given: Any, seconds: float) -> None:
    case = EvalCase.model_validate({"eval_id": "a", "conversation": [], "creation_timestamp": given})
    assert case.creation_timestamp == seconds


@pytest.mark.parametrize("given", ["yesterday", "", "nan", float("inf"), float("nan"), [1], {}], ids=repr)
def test_invalid_time_is_refused(given: Any) -> None:
    with pytest.raises(ValidationError):
        EvalCase.model_validate({"eval_id": "a", "conversation": [], "creation_timestamp": given})


@pytest.mark.parametrize("given", ["a", "YWJj*", "YW Jj", "ä", "====a", 5, ["YQ=="]], ids=repr)
def test_invalid_base64_is_refused(given: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        Blob.model_validate({"data": given})
    assert _message(caught).startswith("expected bytes as base64 text")


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_numbers_must_be_finite(token: str) -> None:
    with pytest.raises(ValidationError):
        Invocation.model_validate_json(f'{{"user_content": {{}}, "duration": {token}}}')
    with pytest.raises(ValidationError):
        EvalConfig.model_validate({"criteria": {"m": float(token)}})


def test_the_shown_form_leaves_out_what_is_null() -> None:
    assert (
        repr(Content(role="user", parts=[Part(text="hi")])) == "Content(parts=[Part(text='hi')], role='user')"
    )


# --- look-alikes: models of other pydantic libraries with the same fields ---------------------------------------------


class Language(str, Enum):  # noqa: UP042 - as the other library declares it
    PYTHON = "PYTHON"


class OtherCode(BaseModel):
    code: str | None = None
    language: Language | None = None


class OtherBlob(BaseModel):
    data: bytes | None = None


class OtherPart(BaseModel):
    text: str | None = None
    executable_code: OtherCode | None = None
    inline_data: OtherBlob | None = None


class OtherContent(BaseModel):
    parts: list[OtherPart] | None = None
    role: str | None = None


class OtherEvents(BaseModel):
    invocation_events: list[Any] = []


class OtherCase(BaseModel):
    model_config = ConfigDict(extra="allow")
    eval_id: str
    conversation: list[Any]


OTHER_PARTS = [
    OtherPart(text="hi"),
    OtherPart(executable_code=OtherCode(code="1", language=Language.PYTHON)),
    OtherPart(inline_data=OtherBlob(data=b"\xff\x3e")),
]
OTHER = OtherContent(role="user", parts=OTHER_PARTS)
OURS = {
    "parts": [
        {"text": "hi"},
        {"executable_code": {"code": "1", "language": "PYTHON"}},
        {"inline_data": {"data": "_z4="}},
    ],
    "role": "user",
}


def test_look_alikes_are_read_whole() -> None:
    assert as_json(Content.model_validate(OTHER), exclude_none=True) == OURS


def test_look_alikes_are_accepted_where_ours_are() -> None:
    turn = Invocation(user_content=OTHER, final_response=Content(parts=[OTHER_PARTS[0], Part(text="ours")]))
    assert as_json(turn.user_content, exclude_none=True) == OURS
    assert turn.final_response is not None
    assert turn.final_response.joined_text() == "hi\nours"


def test_look_alikes_keep_their_unknown_keys_and_their_kind() -> None:
    turn = {"user_content": OTHER, "intermediate_data": OtherEvents()}
    case = EvalCase.model_validate(
        OtherCase.model_validate({"eval_id": "a", "conversation": [turn], "note": 1})
    )
    assert case.model_extra == {"note": 1}
    assert case.conversation is not None
    assert isinstance(case.conversation[0].intermediate_data, InvocationEvents)


def test_changing_our_copy_leaves_the_look_alike_alone() -> None:
    ours = Content.model_validate(OTHER)
    assert ours.parts is not None
    ours.parts[0].text = "changed"
    assert OTHER_PARTS[0].text == "hi"


def test_a_look_alike_with_a_wrong_value_is_refused() -> None:
    class Wrong(BaseModel):
        parts: int = 3

    with pytest.raises(ValidationError):
        Content.model_validate(Wrong())


def test_plain_data_returns_the_same_object_where_nothing_is_foreign() -> None:
    data = {"parts": [Part(text="x"), {"a": (1, 2)}]}
    assert plain_data(data) is data


@pytest.mark.needs_adk
def test_objects_of_google_libraries_are_accepted() -> None:
    from google.adk.evaluation import eval_case, eval_metrics
    from google.genai import types

    content = types.Content(
        role="user",
        parts=[
            types.Part(text="hi"),
            types.Part(executable_code=types.ExecutableCode(code="1", language=types.Language.PYTHON)),
            types.Part(inline_data=types.Blob(data=b"\xff\x3e")),
        ],
    )
    case = eval_case.EvalCase(eval_id="a", conversation=[eval_case.Invocation(user_content=content)], note=1)
    eval_set = EvalSet(eval_set_id="s", eval_cases=[case])
    assert eval_set.eval_cases[0].model_extra == {"note": 1}
    assert as_json(eval_set, exclude_none=True)["eval_cases"][0]["conversation"][0]["user_content"] == OURS
    criterion = eval_metrics.ToolTrajectoryCriterion(threshold=1, match_type="IN_ORDER")
    config = EvalConfig(criteria={eval_metrics.PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE: criterion})
    found = config.criterion_for("tool_trajectory_avg_score")
    assert found is not None
    assert (found.model_extra or {})["match_type"] == 1
