"""Traced spans on the page: nested as they were, each once, in spite of defects."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.engine.trial.evidence_limits import trace_of
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.evidence.turn import Span, SpanKind, Turn, TurnTrace
from proctor.schema.format.content import user_text
from proctor.web.pages.case.page_parts import MOST_TEXT
from proctor.web.pages.case.spans import spans_page
from proctor.web.pages.case.traced_spans import SpanPart, SpansPage
from tests.reports.hostile_texts import GROUPS, for_each_text

BEGAN = 1_700_000_000.0


def page(*spans: Span, events: list[Event] | None = None, **trace: Any) -> SpansPage:
    turn = Turn(
        user_content=user_text("?"), events=events or [], started_at=BEGAN, duration=2.0,
        trace=TurnTrace(spans=list(spans), **trace),
    )  # fmt: skip
    return spans_page("r", 0, 0, Trial(eval_set_id="s", eval_id="c", turns=[turn], started_at=BEGAN))


def inside(*spans: Span, **given: Any) -> list[SpanPart]:
    return page(*spans, **given).spans[1:]


def span(its_id: str, parent: str | None = None, at: float | None = 0.0, **more: Any) -> Span:
    return Span(
        id=its_id,
        name=its_id,
        parent_id=parent,
        started_at=None if at is None else BEGAN + at,
        duration=1.0,
        **more,
    )


NESTED: list[Any] = [
    pytest.param([span("a"), span("b", "a"), span("c", "b")], "a1 b2 c3", id="one in the other"),
    pytest.param(
        [span("c", "b"), span("b", "a"), span("a")], "a1 b2 c3", id="in the order in which they ended"
    ),
    pytest.param([span("a"), span("c", "a", 2), span("b", "a", 1)], "a1 b2 c2", id="in order of time"),
    pytest.param([span("a", "gone"), span("b", "a")], "a1 b2", id="whose parent is elsewhere"),
    pytest.param([span("a", "a"), span("b", "a")], "a1 b2", id="its own parent"),
    pytest.param([span("a", "b"), span("b", "a"), span("c")], "c1 a1 b2", id="a circle"),
    pytest.param([span("a"), span("a"), span("b", "a")], "a1 b2 a1", id="two of one id"),
    pytest.param([span("b", at=None), span("a")], "a1 b1", id="without a time"),
]


@pytest.mark.parametrize(("spans", "shown"), NESTED)
def test_they_are_nested(spans: list[Span], shown: str) -> None:
    assert " ".join(f"{one.name}{one.depth}" for one in inside(*spans)) == shown


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcdef")), max_size=12))
def test_each_is_there_once_for_any_parents(pairs: list[tuple[str, str]]) -> None:
    shown = inside(*(span(its_id, parent) for its_id, parent in pairs))
    if pairs:
        assert sorted(one.name for one in shown) == sorted(its_id for its_id, _ in pairs)


def test_a_thousand_within_each_other_are_no_mishap() -> None:
    shown = inside(*(span(str(n), str(n - 1)) for n in range(1_000)))
    assert [one.depth for one in shown] == list(range(1, 1_001))


def called(name: str, at: float, its_id: str | None = None, author: str = "agent") -> Event:
    return Event.called(name, {}, id=its_id, author=author, timestamp=BEGAN + at)


def tool(name: str, its_id: str | None = None) -> Span:
    return Span(
        id=name + str(its_id),
        name=f"execute_tool {name}",
        kind=SpanKind.TOOL,
        call_id=its_id,
        started_at=BEGAN,
    )


LINKS: list[Any] = [
    pytest.param([called("a", 1, "1"), called("b", 1, "2")], tool("b", "2"), 1, id="by its id"),
    pytest.param([called("a", 1), called("b", 1)], tool("b"), 1, id="by its name"),
    pytest.param([called("a", 1, "1")], tool("a", "other"), 0, id="by its name, ids are not the same"),
    pytest.param([called("a", 1, "1")], tool("b"), None, id="of an unknown call"),
    pytest.param([called("a", 1), called("b", 1.9)], span("m", at=1.0, kind=SpanKind.MODEL), 0, id="a model, by its time"),
    pytest.param([called("a", 5)], span("m", at=1.0, kind=SpanKind.MODEL), None, id="a model that asked for nothing"),
    pytest.param([called("a", 1.5, author="x"), called("b", 1.5, author="y")],
                 span("m", at=1.0, kind=SpanKind.MODEL, agent="y"), 1, id="a model of another agent"),
]  # fmt: skip


@pytest.mark.parametrize(("events", "one", "call"), LINKS)
def test_a_span_belongs_to_its_call(events: list[Event], one: Span, call: int | None) -> None:
    assert inside(one, events=events)[0].call == call


def test_calls_of_one_tool_belong_to_its_spans_in_order() -> None:
    events = [called("a", 1), called("a", 1)]
    assert [one.call for one in inside(tool("a", "x"), tool("a", "y"), events=events)] == [0, 1]


def test_what_was_cut_shows_how_much_is_missing() -> None:
    trace = trace_of([{"id": "a", "request": "x" * 3_000_000}])
    shown = page(*trace.spans, notes=trace.notes, left_out=12)
    request = shown.spans[1].request
    assert request is not None
    assert (len(request.text), request.left_out) == (MOST_TEXT, 3_000_000 - MOST_TEXT)
    assert shown.cut == [
        "turn 1: 12 more spans were not stored",
        "turn 1: request of a span: text of 3,000,000 characters cut to 131,072",
    ]


def test_notes_are_bounded() -> None:
    shown = page(span("a"), notes=["n"] * 1_000)
    assert (len(shown.cut), shown.cut[-1]) == (51, "and 950 similar notes")


def test_without_spans_the_events_are_shown_and_reported_to_be() -> None:
    turn = Turn(user_content=user_text("?"), events=[called("a", 1)], started_at=BEGAN, duration=2.0)
    shown = spans_page("r", 0, 0, Trial(eval_set_id="s", eval_id="c", turns=[turn]))
    assert [one.kind for one in shown.spans] == ["turn", "tool"]
    assert shown.note.endswith("No trace was recorded.")


def test_a_turn_that_was_not_traced_is_named() -> None:
    turns = [
        Turn(user_content=user_text("?"), started_at=BEGAN, duration=2.0, trace=TurnTrace(spans=[span("a")])),
        Turn(user_content=user_text("?"), started_at=BEGAN, duration=2.0),
    ]
    reported = spans_page("r", 0, 0, Trial(eval_set_id="s", eval_id="c", turns=turns)).note
    assert "Turn 2 has no trace." in reported


@for_each_text(GROUPS)
def test_hostile_names_and_values_come_as_they_are(text: str) -> None:
    given = {
        "id": text,
        "name": text,
        "error": text,
        "request": text,
        "agent": text,
        "attributes": {text: text},
    }
    (shown,) = inside(*trace_of([given]).spans)
    as_kept = "".join("\ufffd" if one == "\0" or "\ud800" <= one <= "\udfff" else one for one in text)
    assert shown.request is not None
    assert (shown.name, shown.author, shown.request.text) == (as_kept[:200], as_kept[:200], as_kept)
    assert [(one.name, one.value.text) for one in shown.attributes] == [(as_kept[:200], as_kept[:2_000])]
    shown.model_dump_json().encode()
