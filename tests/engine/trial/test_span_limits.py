"""Spans that an adapter leaves are kept with the turn: bounded, without secrets, and never part of what is scored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import proctor
from proctor.agents.base import Session
from proctor.common.limits import MAX_SPAN_TEXT, MAX_SPANS, MAX_TEXT
from proctor.engine.trial.event_recorder import new_turn, record_turn
from proctor.engine.trial.evidence_limits import EvidenceLimiter, TurnCaps, trace_of
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.evidence.turn import Span, SpanKind, Turn
from proctor.schema.format.content import Content, user_text
from proctor.schema.serialize import kept_json


def recorded(spans: object) -> tuple[Turn, list[str]]:
    """A turn of an agent that leaves `spans` in its session's memory, and the notes on the trial."""

    async def answer() -> AsyncIterator[Event]:
        yield Event.said("hi")

    turn, notes = new_turn(user_text("?")), list[str]()
    session = Session("s", "a", "u", memory={"spans": spans})
    asyncio.run(record_turn(answer(), turn, session, EvidenceLimiter(TurnCaps(), notes)))
    assert "spans" not in session.memory, "the next turn has none yet"
    return turn, notes


def test_spans_are_kept_with_their_turn() -> None:
    span = Span(id="a", name="call_llm", kind=SpanKind.MODEL, started_at=1.5, duration=0.25, request="{}")
    turn, _ = recorded([span])
    assert turn.trace is not None
    assert turn.trace.spans == [span]
    trial = Trial(eval_set_id="s", eval_id="c", turns=[turn])
    assert Trial.model_validate_json(kept_json(trial)) == trial


def test_without_spans_nothing_is_kept_of_them() -> None:
    turn, _ = recorded([])
    assert turn.trace is None
    assert b"trace" not in kept_json(Trial(eval_set_id="s", eval_id="c", turns=[turn]))


def test_what_was_kept_before_there_were_spans_is_read() -> None:
    old = b'{"eval_set_id": "s", "eval_id": "c", "turns": [{"user_content": {"parts": [{"text": "?"}]}}]}'
    assert Trial.model_validate_json(old).turns[0].trace is None


def test_cut_text_has_a_note_and_the_trial_can_be_scored() -> None:
    turn, notes = recorded([Span(id="a", name="n", request="x" * (3 * MAX_TEXT))])
    assert turn.trace is not None
    request = turn.trace.spans[0].request or ""
    assert len(request) == MAX_SPAN_TEXT
    assert request.endswith(f"… [cut: {3 * MAX_TEXT:,} characters in all]")
    assert "cut to" in turn.trace.notes[0]
    assert notes == [], "a note of the trial that something is cut would forbid to judge it"


@pytest.mark.slow
def test_all_texts_of_a_turn_have_a_bound() -> None:
    trace = trace_of(Span(id=str(n), request="x" * MAX_SPAN_TEXT) for n in range(100))
    assert sum(len(span.request or "") for span in trace.spans) <= MAX_TEXT + 101 * 1_000
    assert all(len(span.request or "") >= 1_000 for span in trace.spans)


def test_of_endless_spans_the_first_are_kept_and_the_others_counted() -> None:
    trace = trace_of({"id": str(n)} for n in range(MAX_SPANS + 7))
    assert (len(trace.spans), trace.left_out) == (MAX_SPANS, 7)


@pytest.mark.parametrize(
    ("field", "content", "kept"),
    [
        ("request", '{"api_key": "abcdefgh12345678"}', '{"api_key": "***"}'),
        ("response", "see https://me:word@host/x", "see https://***@host/x"),
        ("error", "401: Authorization: Bearer abc.def", "401: Authorization: ***"),
        ("name", "GET /?token=abcdef", "GET /?token=***"),
        ("id", "AKIAABCDEFGHIJKL1234", "***"),
    ],
)
def test_secrets_are_hidden(field: str, content: str, kept: str) -> None:
    assert getattr(trace_of([{"id": "a", field: content}]).spans[0], field) == kept


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("http.request.header.authorization", "Basic abc", "***"),
        ("http.request.header.cookie", ["a=1; b=2"], ["***"]),
        ("x-api-key", "short", "***"),
        ("headers", {"Set-Cookie": "a=1", "Accept": "text/html"}, {"Set-Cookie": "***", "Accept": "text/html"}),
        ("url.full", "https://h/x?key=1234", "https://h/x?key=***"),
        ("gen_ai.usage.input_tokens", 12, 12),
        ("nested", [{"a": [{"password": "p"}]}], [{"a": [{"password": "***"}]}]),
        ("authorization", {"scheme": "Basic", "pin": 1234, "is_set": True}, {"scheme": "***", "pin": "***", "is_set": True}),
        ("accessToken", "short", "***"),
        ("headers", '{"h": "{\\"Authorization\\": \\"Bearer abc\\"}"}', '{"h": "{\\"Authorization\\": \\"***\\"}"}'),
    ],
)  # fmt: skip
def test_secrets_in_attributes_are_hidden(name: str, value: Any, kept: Any) -> None:
    assert trace_of([{"id": "a", "attributes": {name: value}}]).spans[0].attributes == {name: kept}


def test_the_value_of_a_secret_variable_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "correct horse battery")
    (span,) = trace_of([{"id": "a", "request": "I was told: correct horse battery."}]).spans
    assert span.request == "I was told: ***."


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"correct horse battery": 1}, id="a key"),
        pytest.param(b"correct horse battery", id="bytes"),
        pytest.param({"x" * 110 + "correct horse battery"}, id="outside JSON"),
        pytest.param(json.loads("[" * 14 + '"correct horse battery"' + "]" * 14), id="deep inside"),
    ],
)
def test_value_of_a_secret_variable_is_hidden_everywhere(
    value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "correct horse battery")
    (span,) = trace_of([{"id": "a", "attributes": {"v": value, "correct horse battery": 1}}]).spans
    assert "***" in str(span.attributes["v"])
    assert "correct" not in span.model_dump_json()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("duration", -0.5),
        ("duration", 1.7e308),
        ("started_at", -1.0),
        ("started_at", 1e308),
        pytest.param("input_tokens", 10**5_000, id="a number without end"),
        ("output_tokens", -1),
    ],
)
def test_unknown_times_and_counts_are_not_stored(name: str, value: float) -> None:
    trace = trace_of([{"id": "a", "started_at": 1.0, "duration": 2.0, name: value}])
    assert getattr(trace.spans[0], name) is None
    assert trace.notes == [f"{name} of a span: below 0 or beyond reason, and not kept"]


def test_unreadable_spans_are_kept_up_to_the_error() -> None:
    def broken() -> Iterator[dict[str, str]]:
        yield {"id": "a"}
        raise RuntimeError("no more")

    turn, _ = recorded(broken())
    assert turn.trace is not None
    assert [span.id for span in turn.trace.spans] == ["a"]
    assert turn.trace.notes == ["the rest of the spans cannot be read: no more"]


def test_many_attributes_are_counted() -> None:
    (span,) = trace_of([{"id": "a", "attributes": {str(n): n for n in range(1_000)}}]).spans
    assert (len(span.attributes), span.attributes["…"]) == (201, "800 more attributes")


@pytest.mark.nightly
@pytest.mark.slow  # a flood of spans
def test_endless_spans_with_endless_attributes_have_a_bound() -> None:
    text = "x" * 5_000
    endless: dict[str, Any] = {"id": "a", **dict.fromkeys(("name", "error", "request", "response"), text)}
    endless["attributes"] = {f"{n}{text}": text for n in range(100)}
    trace = trace_of(endless for _ in range(MAX_SPANS))
    assert len(trace.spans) == MAX_SPANS
    assert len(trace.model_dump_json()) < 8 * MAX_TEXT
    assert trace.spans[-1].attributes == {"…": "100 attributes, for which there was no room"}


@pytest.mark.slow
def test_a_secret_where_a_text_is_cut_is_hidden_whole() -> None:
    for place in range(MAX_SPAN_TEXT - 60, MAX_SPAN_TEXT + 5, 6):
        (span,) = trace_of(
            [{"id": "a", "request": f"{'x' * place} sk-abcdef1234567890abcdef {'y' * 5_000}"}]
        ).spans
        assert "sk-" not in (span.request or "")


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


@pytest.mark.parametrize(
    "broken",
    [5, {"name": "no id"}, {"id": "a", "kind": "x"}, {"id": "a", "attributes": {"b": 10**5_000}}],
    ids=["a number", "no id", "unknown kind", "a number without end"],
)
def test_invalid_span_is_reported_without_other_effects(broken: object) -> None:
    turn, notes = recorded([{"id": "ok"}, broken])
    assert turn.trace is not None
    assert [span.id for span in turn.trace.spans] == ["ok"]
    assert turn.trace.left_out == 1
    assert turn.trace.notes[0].startswith("a span cannot be kept: ")
    assert notes == []


@pytest.mark.parametrize("value", [_circle(), object(), b"\xff", float("nan"), "\0\ud800"])
def test_any_value_of_an_attribute_can_be_kept(value: object) -> None:
    (span,) = trace_of([{"id": "a", "attributes": {"v": value}}]).spans
    trial = Trial(
        eval_set_id="s", eval_id="c", turns=[Turn(user_content=user_text("?"), trace=trace_of([span]))]
    )
    read = Trial.model_validate_json(kept_json(trial))
    assert read.turns[0].trace is not None
    assert read.turns[0].trace.spans == [span]


@pytest.mark.parametrize(
    "spans", [7, "spans", {"id": "a"}], ids=["a number", "a text", "one that is in no list"]
)
def test_memory_without_spans_is_not_an_error(spans: object) -> None:
    turn, _ = recorded(spans)
    assert turn.trace is None or turn.trace.spans == []


class _Traced:
    """An agent that reports its actions in spans."""

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        yield Event.said("Hello.")
        session.memory["spans"] = [{"id": session.id, "name": message.joined_text(), "kind": "agent"}]


def test_each_trial_has_its_own(tmp_path: Any) -> None:
    turns = [
        {"user_content": {"parts": [{"text": text}]}, "final_response": {"parts": [{"text": "Hello."}]}}
        for text in "ab"
    ]
    cases = [{"eval_id": f"c{n}", "conversation": turns} for n in range(3)]
    run = proctor.evaluate_sync(
        _Traced(), {"eval_set_id": "s", "eval_cases": cases}, config={"criteria": {"exact_match": 1.0}},
        num_runs=2, store=f"sqlite:///{tmp_path}/s.sqlite3",
    )  # fmt: skip
    trials = [each.trial for case in run.cases for each in case.trials]
    assert len(trials) == 6
    for trial in trials:
        assert trial is not None
        spans = [[(span.id, span.name) for span in turn.trace.spans] for turn in trial.turns if turn.trace]
        assert spans == [[(trial.session_id, "a")], [(trial.session_id, "b")]]
