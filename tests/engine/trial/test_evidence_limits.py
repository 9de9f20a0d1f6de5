"""An agent's output is limited and readable before it is stored; the text and the trial note every change."""

from __future__ import annotations

import asyncio
import enum
import json
import math
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import proctor
from proctor.agents.base import Session
from proctor.engine.execution.run_control import run_sync
from proctor.engine.run_options import RunOptions
from proctor.engine.trial.evidence_limits import MOST_NOTES, EvidenceLimiter, TurnCaps
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import Content, Part
from proctor.schema.results.run_result import CaseResult, Outcome
from tests.engine.scripted import Scripted, case, eval_set, run, turn

SMALL = TurnCaps(max_text=40)

# --- one value ---------------------------------------------------------------------------------------------------------


def limiter(caps: TurnCaps = SMALL) -> EvidenceLimiter:
    taking = EvidenceLimiter(caps, [])
    taking.begin()
    return taking


@pytest.mark.parametrize(
    ("text", "kept", "notes"),
    [
        pytest.param("0123456789" * 4, "0123456789" * 4, [], id="as long as it may be"),
        pytest.param("Grüße", "Grüße", [], id="no ASCII"),
        pytest.param("a\tb\n", "a\tb\n", [], id="lines and tabs"),
        pytest.param(
            "0123456789" * 4 + "a",
            "01234567890… [cut: 41 characters in all]",
            ["turn 1: text of 41 characters cut to 40"],
            id="one too many",
        ),
        pytest.param(
            "a\0b",
            "a\ufffdb",
            ["turn 1: unreadable characters (NUL, half a surrogate pair) replaced by U+FFFD: 1"],
            id="NUL",
        ),
        pytest.param(
            "\ud83d!\udc00",
            "\ufffd!\ufffd",
            ["turn 1: unreadable characters (NUL, half a surrogate pair) replaced by U+FFFD: 2"],
            id="halves of pairs",
        ),
        pytest.param("\U0001f600", "\U0001f600", [], id="a whole pair"),
        pytest.param(
            "\0" * 50,
            "\ufffd" * 11 + "… [cut: 50 characters in all]",
            [
                "turn 1: unreadable characters (NUL, half a surrogate pair) replaced by U+FFFD: 11",
                "turn 1: text of 50 characters cut to 40",
            ],
            id="both",
        ),
    ],
)
def test_a_text(text: str, kept: str, notes: list[str]) -> None:
    taking = limiter()
    assert taking.text(text, "") == kept
    assert taking.notes == notes


@given(st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"])))
def test_readable_and_short_text_is_stored_unchanged(text: str) -> None:
    taking = limiter(TurnCaps())
    assert taking.text(text, "") == text
    assert taking.notes == []


@given(st.text(st.characters(), max_size=50))
def test_stored_text_is_utf_8_without_nul(text: str) -> None:
    assert b"\0" not in limiter().text(text, "").encode()


def test_texts_of_a_turn_share_a_limit_with_a_small_part_for_each() -> None:
    taking = limiter(TurnCaps(max_text=2_000))
    text = "0123456789" * 200
    kept = [taking.text(text, "") for _ in range(10)]
    assert kept[:8] == [text] * 8
    assert [(len(one), one.endswith("… [cut: 2,000 characters in all]")) for one in kept[8:]] == [
        (1_000, True)
    ] * 2
    assert taking.notes == ["turn 1: text of 2,000 characters cut to 1,000"] * 2
    assert taking.text("the answer", "") == "the answer"
    taking.begin()
    assert taking.text(text, "") == text


def test_note_names_its_location() -> None:
    taking = limiter()
    taking.begin()
    taking.text("a\0", "arguments: ")
    taking.begin("final state")
    taking.value(math.nan, "")
    assert taking.notes == [
        "turn 2: arguments: unreadable characters (NUL, half a surrogate pair) replaced by U+FFFD: 1",
        "final state: NaN became text",
    ]


def test_there_are_not_more_notes_than_anyone_reads() -> None:
    taking = limiter()
    for _ in range(MOST_NOTES + 10):
        taking.text("\0", "")
    assert len(taking.notes) == MOST_NOTES + 1
    assert taking.notes[-1] == "and further notes of this kind"


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc ü-"), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text("abc ü-"), json_values, max_size=5))
def test_an_object_is_kept_as_an_equal_copy(given_value: dict[str, Any]) -> None:
    taking = limiter(TurnCaps())
    kept = taking.object(given_value, "")
    assert (json.dumps(kept), taking.notes) == (json.dumps(given_value), [])
    assert kept is not given_value


@pytest.mark.parametrize(
    ("value", "kept", "note"),
    [
        pytest.param({"x": math.nan}, {"x": "NaN"}, "turn 1: response: NaN became text", id="NaN"),
        pytest.param(
            {"x": [-math.inf]}, {"x": ["-Infinity"]}, "turn 1: response: -Infinity became text", id="Infinity"
        ),
        pytest.param({1: (2, 3)}, {"1": [2, 3]}, None, id="a number for a key, a tuple"),
        pytest.param(
            {"\0": "x"},
            {"\ufffd": "x"},
            "turn 1: response: unreadable characters (NUL, half a surrogate pair) replaced by U+FFFD: 1",
            id="a key with NUL",
        ),
        pytest.param(
            {"x": "0123456789" * 5},
            {"x": "01234567890… [cut: 50 characters in all]"},
            "turn 1: response: text of 50 characters cut to 40",
            id="a long text",
        ),
        pytest.param(
            {"x": list(range(100))},
            {"x": [*range(40), "… [cut: 100 elements in all]"]},
            "turn 1: response: 100 elements, of which the turn has no room for all",
            id="a long list",
        ),
        pytest.param(
            {f"{n:024}": 0 for n in range(20)},
            {**{f"{n:024}": 0 for n in range(10)}, "…": "… [cut: 20 keys in all]"},
            "turn 1: response: 20 keys, of which the turn has no room for all",
            id="many keys",
        ),
    ],
)
def test_what_is_changed_in_json(value: dict[Any, Any], kept: dict[str, Any], note: str | None) -> None:
    taking = limiter()
    assert taking.object(value, "response: ") == kept
    assert taking.notes == ([note] if note else [])


class _EqualText(str):
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __str__(self) -> str:
        return "another"


class _EqualNumber(int):
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __int__(self) -> int:
        return 1


class _EqualFloat(float):
    __hash__ = float.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __float__(self) -> float:
        return 1.0


class _Size(enum.StrEnum):
    SMALL = "s"


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        pytest.param(_EqualText("x"), "x", id="text"),
        pytest.param(_EqualNumber(7), 7, id="number"),
        pytest.param(_EqualFloat(-0.0), -0.0, id="float"),
        pytest.param(_Size.SMALL, "s", id="enum"),
        pytest.param(True, True, id="true is not a number"),
    ],
)
def test_object_that_equals_everything_is_recorded_by_its_type(value: Any, plain: Any) -> None:
    kept = EvidenceLimiter(TurnCaps(), []).object(
        {"a": value, "b": [value], value if isinstance(value, str) else "c": 0}, ""
    )
    assert json.dumps(kept) == json.dumps(
        {"a": plain, "b": [plain], plain if isinstance(plain, str) else "c": 0}
    )
    assert type(kept["a"]) is type(plain)
    assert type(kept["b"][0]) is type(plain)
    assert {type(key) for key in kept} == {str}


@pytest.mark.parametrize(
    "value", [{"x": object()}, {"x": 10**5000}, {"x": b"bytes"}], ids=["an object", "5,000 digits", "bytes"]
)
def test_value_outside_json_is_an_error_of_the_agent(value: dict[str, Any]) -> None:
    with pytest.raises(AgentError):
        limiter(TurnCaps()).object(value, "")


# --- a whole trial -----------------------------------------------------------------------------------------------------


def emitting(*events: Event) -> Callable[[Session], AsyncIterator[Event]]:
    async def act(_: Session) -> AsyncIterator[Event]:
        for event in events:
            yield event

    return act


def evidence(result: CaseResult) -> Trial:
    trial = result.trials[0].trial
    assert trial is not None
    return trial


def trial_of(*events: Event, **options: Any) -> Trial:
    result = run_sync(lambda: run(Scripted({"c": emitting(*events)}), eval_set(case("c")), **options))
    return evidence(result.cases[0])


BAD = "x\ud800"
OF_BAD = "unreadable characters (NUL, half a surrogate pair) replaced by U+FFFD: 1"


@pytest.mark.parametrize(
    ("event", "note"),
    [
        pytest.param(Event.said(BAD), OF_BAD, id="text"),
        pytest.param(Event.called("tool", {"a": BAD}), f"arguments: {OF_BAD}", id="arguments"),
        pytest.param(
            Event.called("tool", {"a": {"b": [BAD]}}), f"arguments: {OF_BAD}", id="nested arguments"
        ),
        pytest.param(Event.called(BAD, {}), f"name: {OF_BAD}", id="the name of a tool"),
        pytest.param(Event.called("tool", {}, id=BAD), f"id: {OF_BAD}", id="the id of a call"),
        pytest.param(Event.returned("tool", {"a": BAD}), f"response: {OF_BAD}", id="response"),
        pytest.param(Event.said("ok", author=BAD), f"author: {OF_BAD}", id="author"),
        pytest.param(Event.said("ok", model_version=BAD), f"model version: {OF_BAD}", id="model"),
        pytest.param(Event.said("ok", error_message=BAD), f"error message: {OF_BAD}", id="error"),
        pytest.param(Event.said("ok", custom=BAD), f"unknown fields: {OF_BAD}", id="an unknown field"),
        pytest.param(
            Event(content=Content(parts=[Part.model_validate({"text": "ok", "custom": BAD})])),
            f"unknown fields: {OF_BAD}",
            id="an unknown field of a part",
        ),
        pytest.param(
            Event(content=Content(parts=[Part.model_validate({"executable_code": {"code": BAD}})])),
            f"code: {OF_BAD}",
            id="code",
        ),
        pytest.param(
            Event(content=Content(parts=[Part.model_validate({"code_execution_result": {"output": BAD}})])),
            f"output: {OF_BAD}",
            id="what code printed",
        ),
    ],
)
def test_text_that_no_store_accepts_is_replaced_everywhere(event: Event, note: str) -> None:
    trial = trial_of(event, Event.said("ok"))
    assert trial.notes == [f"turn 1: {note}"]
    assert "x\ufffd" in trial.model_dump_json()


def test_the_message_of_an_exception_is_text_like_any_other() -> None:
    async def raises(_: Session) -> AsyncIterator[Event]:
        yield Event.said("so far so good")
        raise RuntimeError(BAD)

    trial = evidence(run_sync(lambda: run(Scripted({"c": raises}), eval_set(case("c")))).cases[0])
    assert trial.failure is not None
    assert (trial.failure.message, trial.notes) == ("x\ufffd", [f"turn 1: error message: {OF_BAD}"])


def test_so_is_the_message_of_what_comes_after_the_last_turn() -> None:
    def teardown() -> None:
        raise RuntimeError(BAD)

    trial = trial_of(Event.said("ok"), teardown=teardown)
    assert trial.failure is not None
    assert (trial.failure.message, trial.notes) == ("x\ufffd", [f"when it was over: error message: {OF_BAD}"])


def test_state_is_bounded_and_readable() -> None:
    trial = trial_of(Event.changed({"a": "x" * 50, "b": BAD}), Event.said("ok"), max_text=40)
    assert trial.final_state == {"a": "x" * 11 + "… [cut: 50 characters in all]", "b": "x\ufffd"}
    assert trial.notes == ["turn 1: state: text of 50 characters cut to 40", f"turn 1: state: {OF_BAD}"]


def test_media_that_a_turn_has_no_room_for_are_left_out() -> None:
    blob = {"inline_data": {"data": b"x" * 100, "mime_type": "image/png"}}
    content = Content(parts=[Part.model_validate(blob), Part.model_validate(blob)])
    trial = trial_of(Event(content=content), max_text=16)
    parts = trial.turns[0].events[0].content.parts  # type: ignore[union-attr]  # made with them
    assert [len(part.inline_data.data or b"") for part in parts or [] if part.inline_data] == [100, 0]
    assert trial.notes == ["turn 1: media of 100 bytes left out"]


def test_a_trial_of_ordinary_texts_has_no_notes() -> None:
    trial = trial_of(Event.called("tool", {"city": "Köln", "days": 2}), Event.said("18 °C, 40 % \U0001f327"))
    assert trial.notes == []


@pytest.mark.parametrize(
    ("answer", "outcome", "why"),
    [
        pytest.param("ok", Outcome.PASSED, "", id="whole"),
        pytest.param("ok" + " " * 50, Outcome.ERROR, "cut to 40", id="cut, though what is left would pass"),
        pytest.param("ok \x00", Outcome.PASSED, "", id="NUL replaced: all there is can be read"),
    ],
)
def test_an_answer_that_is_not_there_whole_is_never_green(answer: str, outcome: Outcome, why: str) -> None:
    async def streamed_answer(_: Session) -> AsyncIterator[Event]:
        yield Event.said(answer)

    config = EvalConfig.model_validate({"criteria": {"contains": {"threshold": 1, "expected": "ok"}}})
    (found,) = run_sync(
        lambda: run(Scripted({"a": streamed_answer}), eval_set(case("a")), config, max_text=40)
    ).cases
    assert found.outcome is outcome
    assert why in found.reason


def test_the_options_bound_a_run() -> None:
    async def endless(_: Session) -> AsyncIterator[Event]:
        while True:
            yield Event.said("more than forty characters of text " * 2)

    agent, cases = Scripted({"c": endless}), eval_set(case("c"), case("d"))
    ended, fine = run_sync(lambda: run(agent, cases, max_events=3, max_text=40)).cases
    assert (ended.outcome, fine.outcome) == (Outcome.ERROR, Outcome.PASSED)
    assert "more than 3 events" in ended.reason
    trial = evidence(ended)
    assert [len(one.events) for one in trial.turns] == [3]
    assert trial.notes == ["turn 1: text of 70 characters cut to 40"] * 3


@pytest.mark.parametrize("option", ["max_text", "max_events"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_a_bound_that_cannot_be(option: str, value: Any) -> None:
    (problem,) = RunOptions(**{option: value}).problems()
    assert str(problem).startswith(f"{option} must be")


def test_events_without_end_are_ended_by_time_and_what_came_is_kept() -> None:
    async def endless(_: Session) -> AsyncIterator[Event]:
        while True:
            yield Event.said("more")
            await asyncio.sleep(0.01)

    result = run_sync(lambda: run(Scripted({"c": endless}), eval_set(case("c"), case("d")), timeout=0.3))
    ended, fine = result.cases
    assert (ended.outcome, fine.outcome) == (Outcome.ERROR, Outcome.PASSED)
    assert "timed out" in ended.reason
    assert 1 < len(evidence(ended).turns[0].events) < 100


def test_stored_evidence_equals_the_evidence_in_memory(tmp_path: Path) -> None:
    def agent(text: str) -> str:
        return f"{text}\ud800\0"

    store = tmp_path / "store.sqlite3"
    cases = eval_set(case("c", turn("c"), turn("d")))
    criteria = {"criteria": {"response_match_score": 0.1}}
    result = proctor.evaluate_sync(agent, cases, config=criteria, store=str(store))
    trial = evidence(result.cases[0])
    texts = [one.events[0].content.joined_text() for one in trial.turns]  # type: ignore[union-attr]  # made with them
    assert texts == ["c\ufffd\ufffd", "d\ufffd\ufffd"]
    replaced = "unreadable characters (NUL, half a surrogate pair) replaced by U+FFFD: 2"
    assert trial.notes == [f"turn 1: {replaced}", f"turn 2: {replaced}"]


# --- 100 MB, a million events, no end (each in a separate process, whose memory is measured) -------------------------

HEAVY = """
import json, sys
import proctor
from proctor import Event

def huge(text):
    return "All is well. " * (100_000_000 // 13)

def huge_and_wide(text):
    return "\\u4f60\\u597d\\ud800" * (100_000_000 // 9)

def many(text):
    for number in range(1_000_000):
        yield Event.said(f"step {number}")

def wide(text):
    yield Event.called("tool", {"rows": list(range(2_000_000)), "note": "x" * 50_000_000})
    yield "ok"

def fails(text):
    raise ValueError("x" * 100_000_000)

cases = [{"eval_id": name, "conversation": [{"user_content": {"parts": [{"text": "go"}]},
    "final_response": {"parts": [{"text": "All is well."}]}}]} for name in ("a", "b")]
result = proctor.evaluate_sync(globals()[sys.argv[1]], {"eval_set_id": "s", "eval_cases": cases},
    config={"criteria": {"response_match_score": 0.01}}, store=sys.argv[2], concurrency=1)
trial = result.cases[0].trials[0].trial
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024
print(json.dumps({"peak": peak, "outcome": result.cases[0].outcome, "notes": trial.notes,
    "events": len(trial.turns[0].events), "kept": len(trial.model_dump_json())}))
"""


def heavy(agent: str, folder: Path) -> dict[str, Any]:
    words = [sys.executable, "-c", HEAVY, agent, str(folder / "store.sqlite3")]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300, cwd=folder)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


TOO_MUCH = [
    pytest.param("huge", "turn 1: text of 99,999,991 characters cut to 1,048,576", id="100 MB"),
    pytest.param("many", None, id="a million events"),
    pytest.param("huge_and_wide", "characters cut to 1,048,576", id="100 MB of another script"),
    pytest.param("wide", "elements, of which the turn has no room for all", id="huge arguments"),
    pytest.param("fails", None, id="an exception of 100 MB"),
]
MEASURED = pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")


ONCE = [
    TOO_MUCH[0],
    *(pytest.param(*one.values, id=one.id, marks=pytest.mark.slow) for one in TOO_MUCH[1:]),
]


@pytest.mark.slow
@pytest.mark.nightly(check=1)
@MEASURED
@pytest.mark.parametrize(("agent", "note"), ONCE)
def test_what_is_far_too_much_is_bounded(agent: str, note: str | None, tmp_path: Path) -> None:
    check_bounds(heavy(agent, tmp_path), note)


@MEASURED
@pytest.mark.nightly
@pytest.mark.parametrize("time", range(10))
@pytest.mark.parametrize(("agent", "note"), TOO_MUCH)
def test_what_is_far_too_much_is_bounded_every_time(
    agent: str, note: str | None, time: int, tmp_path: Path
) -> None:
    check_bounds(heavy(agent, tmp_path), note)


def check_bounds(found: dict[str, Any], note: str | None) -> None:
    assert found["peak"] < 500, found
    assert found["events"] <= 10_000, found
    assert found["kept"] < 12 * 2**20, found
    assert [one for one in found["notes"] if note in one] if note else found["notes"] == [], found
    assert found["outcome"] == "error", found
