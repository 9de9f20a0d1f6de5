"""Failures by cause."""

from __future__ import annotations

from io import StringIO

import pytest
from hypothesis import given, strategies as st

from proctor.reports.base import Report, ReportOptions
from proctor.reports.content.failure_causes import (
    OTHER,
    FailureCause,
    FailureGroup,
    cause_of,
    group_failures,
    violation,
)
from proctor.reports.formats.markdown import MarkdownReport
from proctor.reports.terminal.run import TerminalReport
from proctor.schema.results.run_result import Outcome, RunResult
from tests.reports.sample_runs import case, metric, run

CALLED = FailureCause("trajectory", "`verify_identity` was not called")
OTHER_ORDER = FailureCause("trajectory", "called in another order")


@pytest.mark.parametrize(
    ("reason", "rest"),
    [
        pytest.param('`get_order(id="1016", n=3)` was not called', "`get_order` was not called", id="arguments of a call"),
        pytest.param("turn 2: `a()` was not called", "`a` was not called", id="turn"),
        pytest.param("trial 3: turn 2: `a()` was not called", "`a` was not called", id="trial"),
        pytest.param("`get_order(…)` (turn 2, call 1) was not preceded by `verify_identity`", "`get_order` (turn …, call …) was not preceded by `verify_identity`", id="rule"),
        pytest.param("0 of the reference's 6 words are in the answer; missing: \"done\"", "… of the reference's … words are in the answer", id="details"),
        pytest.param("the agent raised RuntimeError: no answer to 'break'", "the agent raised RuntimeError: no answer to …", id="quoted text"),
        pytest.param("`table.covers` differs: expected 4, got 2", "`table.covers` differs: expected …, got …", id="path and values"),
        pytest.param("the agent raised ValueError: broke on #5 with `odd | <b>text</b> 7`", "the agent raised ValueError: broke on #… with `odd | <b>text</b> …`", id="code with several words"),
        pytest.param("wrote `a; b` at `x`; more `y; z`", "wrote `a; b` at `x`", id="semicolon in code"),
        pytest.param("TimeoutError: timeout after 3.1s, 12ms; more", "TimeoutError: timeout after …, …", id="numbers with a unit"),
        pytest.param("no room for 2.5MB <Tool object at 0x7f3a2b>", "no room for … <Tool object at …>", id="size and address"),
        pytest.param("3.4x and 2s1 stay", "3.4x and 2s1 stay", id="a word that begins with a number"),
        pytest.param("gpt-4o and utf8 stay", "gpt-4o and utf8 stay", id="digits in a word"),
        pytest.param("HTTP 429 from host 3; HTTP/1.1 503", "HTTP 429 from host …", id="code of an error"),
        pytest.param("status code 404, exit code -9, [Errno 2], signal 15", "status code 404, exit code -9, [Errno 2], signal 15", id="codes"),
        pytest.param("KeyError: 'order_id' of 'Ann Lee'", "KeyError: 'order_id' of …", id="name of a part"),
        pytest.param("key \"user_1234\" has code 1,234", "key … has code …", id="an id is no name of a part"),
        pytest.param("field \"phone\" is missing in order 12", "field phone is missing in order …", id="name of a field"),
    ],
)  # fmt: skip
def test_a_reason_without_what_differs_from_case_to_case(reason: str, rest: str) -> None:
    assert violation(reason) == rest


def test_the_failure_of_an_agent_has_no_details_to_leave_out() -> None:
    assert (
        violation("call failed; the card is expired", has_details=False) == "call failed; the card is expired"
    )
    failed = case("c", Outcome.ERROR, reason="agent raised in turn 1: ValueError: refused; no money")
    assert cause_of(failed) == FailureCause("", "agent raised in turn …: ValueError: refused; no money")


def test_the_same_cause_is_one_group_and_knows_whether_it_is_new() -> None:
    groups, _ = group_failures([CALLED, OTHER_ORDER, CALLED], [OTHER_ORDER, OTHER_ORDER])
    assert groups == [FailureGroup(CALLED, 2, 0), FailureGroup(OTHER_ORDER, 1, 2)]


def test_without_an_earlier_run_nothing_is_new() -> None:
    groups, _ = group_failures([CALLED])
    assert groups == [FailureGroup(CALLED, 1, None)]


def test_reasons_that_a_judge_words_differently_are_one_group() -> None:
    causes = [FailureCause("judge", word) for word in ("rude", "too short", "wrong")]
    groups, joined = group_failures([*causes, CALLED], [FailureCause("judge", "off topic")])
    other = FailureCause("judge", OTHER)
    assert groups == [FailureGroup(other, 3, 1), FailureGroup(CALLED, 1, 0)]
    assert [joined[cause] for cause in (*causes, CALLED)] == [other, other, other, CALLED]


@given(
    st.lists(
        st.sampled_from(
            [
                CALLED,
                OTHER_ORDER,
                FailureCause("", "x"),
                FailureCause("judge", "a"),
                FailureCause("judge", "b"),
            ]
        )
    )
)
def test_every_case_is_in_exactly_one_group(causes: list[FailureCause]) -> None:
    groups, joined = group_failures(causes, causes)
    assert sum(group.cases for group in groups) == len(causes)
    assert all(group.before == group.cases for group in groups)
    assert {joined[cause] for cause in causes} == {group.cause for group in groups}


@given(st.text())
def test_a_cause_can_be_written_in_a_filter(reason: str) -> None:
    assert '"' not in violation(reason)


@pytest.mark.parametrize(
    ("report", "line"),
    [
        pytest.param(TerminalReport(), "4  rules: `get_order` was not called", id="terminal"),
        pytest.param(MarkdownReport(), "| 4 | ``rules: `get_order` was not called`` |", id="markdown"),
    ],
)
def test_reports_name_once_what_three_or_more_failures_share(report: Report, line: str) -> None:
    reasons = [*(f"`get_order(id={n})` was not called" for n in range(4)), "`pay()` was not called"]
    cases = [
        case(f"order_{n}", Outcome.FAILED, metric("rules", [0.0], reason=reason), reason="see below")
        for n, reason in enumerate(reasons)
    ]
    assert written(report, run(*cases)).count(line) == 1
    few = written(report, run(*cases[:2], cases[4]))
    assert "cause" not in few


def written(report: Report, result: RunResult) -> str:
    out = StringIO()
    report.write([result], out, options=ReportOptions(width=100, color=False))
    return out.getvalue()
