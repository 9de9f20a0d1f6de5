"""The tool calls of a run counted, and those of a turn with the rules that they break."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import user_text
from proctor.schema.results.run_result import MetricVerdict, Outcome
from proctor.schema.results.score import Score
from proctor.schema.serialize import kept_json
from proctor.web.pages.case.turn import StepPart, turn_part
from proctor.web.pages.runs.tool_usage import ToolFigures, ToolUsage

Json = dict[str, Any]


def call(name: str, at: float | None = None, **more: Any) -> Event:
    event = Event.called(name, {}, **more)
    event.timestamp = at
    return event


def answer(name: str, response: Json, at: float | None = None, **more: Any) -> Event:
    event = Event.returned(name, response, **more)
    event.timestamp = at
    return event


def trial(*events: Event, spans: list[Json] | None = None) -> Json:
    trace = {"spans": spans} if spans is not None else None
    turn = Turn.model_validate({"user_content": user_text("?").model_dump(), "trace": trace})
    turn.events = list(events)
    document: Json = json.loads(kept_json(Trial(eval_set_id="s", eval_id="c", turns=[turn])))
    return document


def figures(*trials: tuple[int, Json]) -> dict[str, ToolFigures]:
    usage = ToolUsage()
    for position, evidence in trials:
        usage.add(position, evidence)
    return {one.name: one for one in usage.figures()}


class TestToolsOfARun:
    def test_calls_cases_and_durations_are_counted_over_all_trials(self) -> None:
        quick = trial(
            call("look", 1.0, id="a"),
            call("look", 1.0, id="b"),
            answer("look", {}, 1.5, id="b"),
            answer("look", {}, 2.0, id="a"),
        )
        slow = trial(call("look", 1.0), answer("look", {}, 5.0), call("book", 6.0))
        found = figures((0, quick), (0, quick), (3, slow))
        look = found["look"]
        assert (look.calls, look.cases, look.timed) == (5, 2, 5)
        assert look.mean_seconds == pytest.approx((0.5 + 1 + 0.5 + 1 + 4) / 5)
        assert look.p95_seconds == 4.0
        assert look.total_seconds == pytest.approx(7.0)
        assert (found["book"].calls, found["book"].timed, found["book"].mean_seconds) == (1, 0, None)
        assert list(found) == ["look", "book"]

    @pytest.mark.parametrize(
        ("response", "error"),
        [
            pytest.param({"error": "no such order"}, "no such order", id="error"),
            pytest.param({"error": {"code": 404}}, '{"code": 404}', id="error-object"),
            pytest.param({"isError": True, "content": "broken"}, "broken", id="mcp"),
            pytest.param({"status": "error", "error_message": "late"}, "late", id="status"),
            pytest.param({"status": "error"}, "error", id="status-alone"),
            pytest.param({"error": None}, "", id="no-error"),
            pytest.param({"error": ""}, "", id="empty"),
            pytest.param({"status": "ok"}, "", id="fine"),
        ],
    )
    def test_errors_are_those_that_responses_report(self, response: Json, error: str) -> None:
        look = figures((0, trial(call("look"), answer("look", response))))["look"]
        assert [one.text for one in look.errors] == ([error] if error else [])
        assert look.failed == len(look.errors)

    def test_the_most_frequent_errors_come_first(self) -> None:
        texts = ["b", "a", "b", "c", "d", "b", "a"]
        evidence = trial(
            *(event for text in texts for event in (call("look"), answer("look", {"error": text})))
        )
        look = figures((0, evidence))["look"]
        assert [(one.text, one.calls) for one in look.errors] == [("b", 3), ("a", 2), ("c", 1)]
        assert look.failed == len(texts)

    def test_a_traced_call_has_its_measured_time_and_error(self) -> None:
        span = {
            "id": "x",
            "name": "execute_tool look",
            "kind": "tool",
            "started_at": 1.0,
            "duration": 0.25,
            "error": "timeout",
        }
        look = figures((0, trial(call("look", 1.0), answer("look", {}, 9.0), spans=[span])))["look"]
        assert (look.mean_seconds, [one.text for one in look.errors]) == (0.25, ["timeout"])

    def test_conversations_without_calls_have_no_tools(self) -> None:
        assert figures((0, trial(Event.said("Hello")))) == {}


def steps(details: Json | None, *names: str) -> list[StepPart]:
    turn = Turn(user_content=user_text("?"), events=[call(name) for name in names])
    actual = Trial(eval_set_id="s", eval_id="c", turns=[turn]).invocations[0]
    metric = MetricVerdict("trajectory_rules", Outcome.FAILED, 0.0, 1.0)
    return turn_part(0, turn, actual, None, [(metric, Score(0.0, details=details))]).steps


class TestCallsOfATurn:
    def test_the_call_that_breaks_a_rule_has_the_rule(self) -> None:
        made = {"index": 1, "name": "refund", "args": {}}
        broken = {
            "alignment": [{"kind": "extra", "expected": None, "actual": made}],
            "broken": [{"rule": "refund only after check", "turn": 1, "call": 2}],
        }
        shown = steps(broken, "look", "refund", "mail")
        assert [(step.call, step.broken) for step in shown] == [
            (0, []),
            (1, ["refund only after check"]),
            (2, []),
        ]

    def test_positions_in_the_expected_order_are_those_of_the_alignment(self) -> None:
        sides: list[Json] = [{"index": index, "name": "look", "args": {}} for index in (0, 1)]
        alignment = [
            {"kind": "moved", "expected": sides[1], "actual": sides[0]},
            {"kind": "missing", "expected": sides[0], "actual": None},
        ]
        assert [(step.expected_call, step.call) for step in steps({"alignment": alignment}, "look")] == [
            (1, 0),
            (0, None),
        ]

    def test_without_an_alignment_every_call_is_shown(self) -> None:
        assert [(step.call, step.kind) for step in steps(None, "look", "mail")] == [(0, None), (1, None)]
