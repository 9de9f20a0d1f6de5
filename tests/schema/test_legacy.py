"""The two old list formats: converted as ADK converts them; with `query` alone required, and every mistake placed."""

import re
from typing import Any

import pytest

from proctor.schema import EvalSet, PathError, convert_cases, convert_turns, text_of, unknown_keys
from tests.schema.golden import Vector, as_json, is_error, vectors

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ANY_UUID = "00000000-0000-0000-0000-000000000000"


def _normalised(value: Any, seen: dict[str, str], key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _normalised(item, seen, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_normalised(item, seen) for item in value]
    if key == "creation_timestamp":
        return "<time>"
    if isinstance(value, str) and _UUID.fullmatch(value):
        return seen.setdefault(value, f"<uuid-{len(seen) + 1}>")
    return value


def _converted(vector: Vector, *, compat_adk: bool = True) -> EvalSet:
    if vector["format"] == "test.json":
        return convert_turns(
            vector["input"],
            eval_set_id=_ANY_UUID,
            eval_id=vector["file"],
            initial_session=vector["initial_session"],
            compat_adk=compat_adk,
        )
    return convert_cases(vector["input"], eval_set_id=vector["eval_set_id"], compat_adk=compat_adk)


def _refused_for_its_config(vector: Vector) -> bool:
    """ADK refuses some old files for what a config demands of their first turn; that is the plan's business, not ours."""
    turns = vector["input"]
    well_formed = bool(turns) and all(isinstance(turn, dict) and "query" in turn for turn in turns)
    return vector["format"] == "test.json" and well_formed


@pytest.mark.parametrize("vector", vectors("migration"))
def test_old_files_convert_as_adk_converts_them(vector: Vector) -> None:
    if not is_error(vector["result"]):
        assert _normalised(as_json(_converted(vector)), {}) == vector["result"]["ok"]
    elif _refused_for_its_config(vector):
        assert len(_converted(vector).eval_cases) == 1
    else:
        with pytest.raises(PathError):
            _converted(vector)


def _turn(**keys: Any) -> Any:
    eval_set = convert_turns([{"query": "q", **keys}], eval_set_id="s", eval_id="c")
    assert eval_set.eval_cases[0].conversation is not None
    return eval_set.eval_cases[0].conversation[0]


def test_absent_value_of_a_turn_states_nothing() -> None:
    turn = _turn()
    assert text_of(turn.user_content) == "q"
    assert turn.final_response is None
    assert turn.intermediate_data is None


def test_what_is_stated_as_empty_stays_stated() -> None:
    turn = _turn(reference="", expected_tool_use=[])
    assert turn.final_response.parts[0].text == ""
    assert turn.tool_calls == []
    assert turn.intermediate_data is not None


def test_a_tool_call_without_input_has_no_arguments() -> None:
    (call,) = _turn(expected_tool_use=[{"tool_name": "roll"}]).tool_calls
    assert (call.name, call.args) == ("roll", None)


def test_unknown_keys_stay_under_their_names() -> None:
    eval_set = convert_cases(
        [
            {
                "name": "a",
                "owner": "team",
                "data": [
                    {
                        "query": "q",
                        "tags": [1],
                        "expected_tool_use": [{"tool_name": "f", "mock_tool_output": "x"}],
                    }
                ],
            }
        ],
        eval_set_id="s",
    )
    assert [path for path, _ in unknown_keys(eval_set)] == [
        ("eval_cases", 0, "owner"),
        ("eval_cases", 0, "conversation", 0, "tags"),
        ("eval_cases", 0, "conversation", 0, "intermediate_data", "tool_uses", 0, "mock_tool_output"),
    ]


def test_converting_twice_gives_the_same_set() -> None:
    turns = [{"query": "q"}, {"query": "q"}]
    once = convert_turns(turns, eval_set_id="s", eval_id="c")
    assert once == convert_turns(turns, eval_set_id="s", eval_id="c")
    ids = [turn.invocation_id for turn in once.eval_cases[0].conversation or []]
    assert len(set(ids)) == 2


MISTAKES = {
    "not a list": ({"query": "q"}, (), "expected a list of turns, got an object"),
    "no turn at all": ([], (), "expected at least one turn"),
    "a number as a turn": ([1], (0,), "expected a turn (an object), got a number"),
    "no query": ([{"query": "a"}, {"reference": "r"}], (1,), "`query`"),
    "query is null": ([{"query": None}], (0, "query"), "expected a text, got null"),
    "reference is a list": (
        [{"query": "q", "reference": []}],
        (0, "reference"),
        "expected a text, got a list",
    ),
    "tool calls are a text": (
        [{"query": "q", "expected_tool_use": "f"}],
        (0, "expected_tool_use"),
        "expected a list of tool calls, got a text",
    ),
    "a tool call without a name": (
        [{"query": "q", "expected_tool_use": [{"tool_name": "f"}, {"tool_input": {}}]}],
        (0, "expected_tool_use", 1),
        "`tool_name`",
    ),
    "tool input is a number": (
        [{"query": "q", "expected_tool_use": [{"tool_name": "f", "tool_input": 5}]}],
        (0, "expected_tool_use", 0, "tool_input"),
        "expected an object of arguments",
    ),
    "an author that is not a text": (
        [{"query": "q", "expected_intermediate_agent_responses": [{"author": 1, "text": "t"}]}],
        (0, "expected_intermediate_agent_responses", 0, "author"),
        "expected a text, got a number",
    ),
}


@pytest.mark.parametrize(("document", "path", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_name_their_place(document: Any, path: tuple[str | int, ...], message: str) -> None:
    with pytest.raises(PathError) as caught:
        convert_turns(document, eval_set_id="s", eval_id="c")
    assert caught.value.path == path
    assert message in caught.value.message


def test_all_mistakes_of_a_document_are_reported_at_once() -> None:
    document = [{"name": "a", "data": [{"reference": "r"}, {"query": "q"}, 3]}, {"name": "b"}]
    with pytest.raises(PathError) as caught:
        convert_cases(document, eval_set_id="s")
    assert [problem.path for problem in (caught.value, *caught.value.also)] == [
        (0, "data", 0),
        (0, "data", 2),
        (1,),
    ]


SNAKE: list[dict[str, Any]] = [
    {
        "name": "a",
        "data": [
            {
                "query": "q",
                "expected_tool_use": [{"tool_name": "f", "tool_input": {"some_key": 1}}],
                "expected_intermediate_agent_responses": [{"author": "x", "text": "t"}],
            }
        ],
        "initial_session": {"app_name": "app", "user_id": "u", "state": {"some_key": 2}},
    }
]
CAMEL = [
    {
        "name": "a",
        "data": [
            {
                "query": "q",
                "expectedToolUse": [{"toolName": "f", "toolInput": {"some_key": 1}}],
                "expectedIntermediateAgentResponses": [{"author": "x", "text": "t"}],
            }
        ],
        "initialSession": {"appName": "app", "userId": "u", "state": {"some_key": 2}},
    }
]


@pytest.mark.parametrize("compat_adk", [False, True])
def test_old_files_read_in_both_spellings(compat_adk: bool) -> None:
    given = convert_cases(CAMEL, eval_set_id="s", compat_adk=compat_adk)
    assert given == convert_cases(SNAKE, eval_set_id="s", compat_adk=compat_adk)


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"data": [{**SNAKE[0]["data"][0], "expectedToolUse": []}]}, (0, "data", 0, "expectedToolUse")),
        ({"initialSession": {}}, (0, "initialSession")),
        ({"initial_session": {"app_name": "a", "appName": "b"}}, (0, "initial_session", "appName")),
        ({"initial_session": {"app_name": 3}}, (0, "initial_session", "app_name")),
    ],
)  # fmt: skip
def test_duplicate_or_invalid_value_of_an_old_case_is_refused_at_its_key(
    more: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    with pytest.raises(PathError) as caught:
        convert_cases([{**SNAKE[0], **more}], eval_set_id="s")
    assert caught.value.path == path
    assert "expected " in caught.value.message
