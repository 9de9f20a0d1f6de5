"""Broken files: any file reads or is refused with its problems; no other result is possible."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from proctor.errors import EvalFileError, SetupProblems
from proctor.files.eval_sets.file_problems import check_file
from proctor.files.eval_sets.load import load_config, load_results, load_scenarios, load_session_input
from proctor.files.eval_sets.save import save_eval_set
from proctor.files.eval_sets.selectors import find_sets, split_selectors
from proctor.files.eval_sets.source import load_eval_set, open_eval_set
from tests.files.sample_sets import case, content, eval_set, turn

EVENTS = {
    "invocation_events": [
        {"author": "a", "content": content("x", "model"), "usage_metadata": {"prompt_token_count": 3}}
    ]
}
OLDER = {
    "tool_uses": [{"id": "1", "name": "t", "args": {"x": [1, 2.5, None]}}],
    "tool_responses": [{"id": "1", "name": "t", "response": {}}],
    "intermediate_responses": [["sub", [{"text": "t"}]]],
}
SCENARIO = {"starting_prompt": "hi", "conversation_plan": "p", "user_persona": "EXPERT"}
SAMPLES: list[Any] = [
    eval_set(
        case("a", conversation=[turn("q", final_response=content("r", "model"), intermediate_data=OLDER, invocation_id="i")], final_session_state={"k": 1}),
        case("b", conversation=[turn("q", intermediate_data=EVENTS, rubrics=[{"rubric_id": "r", "rubric_content": {"text_property": "p"}}])], session_input={"app_name": "a", "user_id": "u", "state": {}}),
        {"eval_id": "c", "conversation_scenario": SCENARIO, "creation_timestamp": 1.5},
        name="n", description=None,
    ),
    [{"query": "q", "expected_tool_use": [{"tool_name": "t", "tool_input": {}}], "expected_intermediate_agent_responses": [{"author": "s", "text": "x"}], "reference": "r"}],
    [{"name": "a", "data": [{"query": "q", "reference": "r"}], "initial_session": {"state": {}, "app_name": "x", "user_id": "u"}}],
    {"criteria": {"tool_trajectory_avg_score": {"threshold": 1.0, "match_type": "IN_ORDER"}, "response_match_score": 0.8}, "custom_metrics": {"m": {"code_config": {"name": "a.b"}}}, "user_simulator_config": {"type": "llm_backed"}},
    {"scenarios": [SCENARIO]},
    {"app_name": "a", "user_id": "u", "state": {"k": "v"}},
    {"eval_set_result_id": "r", "eval_set_id": "s", "eval_case_results": [{"eval_id": "a", "final_eval_status": 1, "overall_eval_metric_results": [{"metric_name": "m", "threshold": 1, "score": 0.5, "eval_status": 2}], "eval_metric_result_per_invocation": [{"actual_invocation": turn(), "eval_metric_results": []}], "session_id": "s"}]},
    {"eval_cases": [{"eval_case_id": "a", "prompt": "q", "reference": {"response": content("r")}}]},
]  # fmt: skip

KEYS = sorted({key for sample in SAMPLES for key in json.dumps(sample).split('"') if key.isidentifier()})
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        1e308,
        10**400,
        "",
        "\ud800",
        "\0",
        "x" * 300,
        [],
        {},
        [[]],
        {"": ""},
        [None],
        "EXACT",
        "2026-01-01",
    ]
) | st.text(max_size=5)


@st.composite
def mutated(draw: Any) -> Any:
    """A sound document with some of its values replaced, removed, doubled, moved or renamed."""
    document = json.loads(json.dumps(draw(st.sampled_from(SAMPLES))))
    for _ in range(draw(st.integers(0, 4))):
        document = _mutate(document, draw)
    return document


def _mutate(value: Any, draw: Callable[..., Any]) -> Any:
    if not value or not isinstance(value, dict | list) or draw(st.integers(0, 7)) == 0:
        return deepcopy(draw(ODD))
    places = list(value) if isinstance(value, dict) else list(range(len(value)))
    place = draw(st.sampled_from(places))
    action = draw(st.sampled_from(["inside", "inside", "inside", "inside", "remove", "add", "rename"]))
    if action == "inside":
        value[place] = _mutate(value[place], draw)
    elif action == "remove":
        value.pop(place)
    elif isinstance(value, list):
        value.append(value[place])
    elif action == "add":
        value[draw(st.sampled_from(KEYS) | st.text(max_size=4))] = deepcopy(draw(ODD))
    else:
        value[draw(st.sampled_from(KEYS))] = value.pop(place)
    return value


@st.composite
def damaged(draw: Any) -> bytes:
    """A document as bytes, some of which were changed, dropped or doubled on the way."""
    text = json.dumps(
        draw(mutated()), indent=draw(st.sampled_from([None, 1])), ensure_ascii=draw(st.booleans())
    )
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        piece = draw(
            st.binary(max_size=2)
            | st.sampled_from(
                [
                    b'"',
                    b"{",
                    b"]",
                    b",",
                    b"#",
                    b"//",
                    b"\\",
                    b"\n",
                    b"NaN",
                    b"1e999",
                    b"\\u0000",
                    b"\xff",
                    b"\xef\xbb\xbf",
                ]
            )
        )
        data[at : at + draw(st.integers(0, 3))] = piece
    return bytes(data)


LOADERS = (load_eval_set, load_config, load_scenarios, load_session_input, load_results)


def reads_or_refuses(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    read = []
    for load in LOADERS:
        try:
            load(path)
            read.append(load)
        except EvalFileError as error:
            assert_problems(error)
    report = check_file(path, allow_unknown_keys=True)
    # who asks for a config gets one of any object, as in ADK; `check` does not take an unknown object for one
    assert report.readable == bool(read) or (report.kind == "unknown document" and read == [load_config])
    assert all(str(problem).isprintable() for problem in report.problems)


def assert_problems(error: EvalFileError) -> None:
    assert any(problem.severity == "error" for problem in error.problems)
    assert all(
        problem.line >= 1 and problem.column >= 1 and str(problem).isprintable() for problem in error.problems
    )


def saving_loses_nothing(path: Path) -> None:
    try:
        original = load_eval_set(path, allow_duplicate_ids=True)
    except EvalFileError:
        return
    copy = path.with_name("copy.json")
    copy.unlink(missing_ok=True)
    save_eval_set(original, copy)
    assert load_eval_set(copy, allow_duplicate_ids=True) == original


def examples(count: int) -> Callable[[Any], Any]:
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@examples(300)
@given(data=damaged())
def test_a_damaged_file_reads_or_is_refused(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.json"
    reads_or_refuses(path, data)
    saving_loses_nothing(path)


@pytest.mark.nightly
@examples(5000)
@given(data=damaged())
def test_many_damaged_files_read_or_are_refused(
    data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz-many.json"
    reads_or_refuses(path, data)
    saving_loses_nothing(path)


@pytest.mark.slow
@examples(100)
@given(document=mutated())
def test_the_same_set_reads_the_same_as_a_stream_and_with_comments(
    document: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A comment sends the file through the other reader."""
    folder = tmp_path_factory.getbasetemp()
    text = json.dumps(document)
    outcomes: list[Any] = []
    for name, written in (("plain", text), ("comment", text + " # c")):
        path = folder / f"{name}.json"
        path.write_text(written, encoding="utf-8")
        try:
            opened = open_eval_set(path, label="set.json", allow_empty=True)
            outcomes.append((opened.eval_set(), list(opened.ids())))
        except EvalFileError as error:
            outcomes.append([(p.line, p.column, p.message) for p in error.problems if p.severity == "error"])
    assert outcomes[0] == outcomes[1]


@pytest.mark.slow
@given(st.lists(st.text("abC:\\/., \0\n\x1b日*", max_size=8), max_size=3))
def test_any_selector_finds_or_is_refused(selectors: list[str]) -> None:
    assert all(":" not in name[2:] for name in split_selectors(selectors))
    if selectors:
        with pytest.raises(SetupProblems):
            find_sets([f"/nowhere/{selector}" for selector in selectors], agent_folder=Path("/nowhere"))
