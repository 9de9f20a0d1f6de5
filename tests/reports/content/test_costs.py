"""Usage of models, in every report: by purpose, unknown figures marked and never 0; and the calibration of judges."""

from __future__ import annotations

import io
import json
from typing import Any

import jsonschema
import pytest

from proctor.reports.base import ReportOptions, load_report
from proctor.reports.content.estimate import brief
from proctor.reports.content.summary import cost_text, dollars, money_of, run_cost_text
from proctor.reports.plain import PlainReport
from proctor.reports.terminal.run import TerminalReport
from proctor.schema.results.model_usage import (
    Estimate,
    Forecast,
    PurposeEstimate,
    Spent,
    run_cost,
    sum_usage,
    total_cost,
)
from proctor.schema.results.run_result import RunResult
from proctor.schema.results.score import JudgedBy
from tests.reports.formats.test_schemas import schema
from tests.reports.sample_runs import sketch

PRICED = Spent(purpose="judge", model="gpt-5", calls=60, input_tokens=6000, output_tokens=600, cost=0.6)
UNPRICED = Spent(purpose="agent", model="our-7b", calls=20, input_tokens=900, output_tokens=100, unpriced=20)
CACHED = Spent(purpose="judge", cached=30)
BADGE = "calibrated: kappa 0.81 (95 % CI: 0.70 to 0.90), 120 labels"


def with_money(*spent: Spent, **badges: str) -> RunResult:
    result = sketch()
    result.spent, result.badges = list(spent), badges
    result.judged_by = [JudgedBy(metric="safety_v1", model="gpt-5", prompt="abc")]
    return result


def report(name: str, result: RunResult) -> str:
    out = io.StringIO()
    written: Any = {"plain": PlainReport, "terminal": TerminalReport}.get(name)
    (written() if written else load_report(name)).write(
        [result], out, options=ReportOptions(width=140, symbols=True)
    )
    return out.getvalue()


@pytest.mark.parametrize(
    ("spent", "text"),
    [
        pytest.param([PRICED], "$0.600", id="known"),
        pytest.param([UNPRICED], "unknown", id="unknown, never 0"),
        pytest.param([PRICED, UNPRICED], "at least $0.600", id="some of it known"),
        pytest.param([PRICED.model_copy(update={"cost": 12345.678})], "$12,345.68", id="much"),
        pytest.param([PRICED.model_copy(update={"cost": 0.00421})], "$0.0042", id="little"),
        pytest.param([CACHED], "$0", id="known from before"),
        pytest.param([], "unknown", id="nothing reported"),
    ],
)
def test_dollars_in_words(spent: list[Spent], text: str) -> None:
    assert cost_text(total_cost(spent), spent) == text


FREE = Spent(purpose="judge", model="scripted", calls=3)
AGENT = Spent(purpose="agent", model="gpt-5", calls=3, cost=0.2)


@pytest.mark.parametrize(
    ("spent", "unreported", "cost", "text"),
    [
        pytest.param([], 0, None, "", id="no model was used"),
        pytest.param([PRICED], 0, None, "at least $0.600", id="the agent reported no usage"),
        pytest.param([FREE], 0, None, "unknown", id="the judges cost nothing, the agent reported no usage"),
        pytest.param([PRICED, UNPRICED], 0, None, "at least $0.600", id="the agent's model has no price"),
        pytest.param([PRICED, AGENT], 0, 0.8, "$0.800", id="all of it is known"),
        pytest.param([PRICED, AGENT], 1, None, "at least $0.800", id="an attempt without usage"),
        pytest.param([], 3, None, "", id="every attempt failed, and no usage is known"),
    ],
)
def test_the_cost_of_a_run_is_known_only_with_that_of_its_agent(
    spent: list[Spent], unreported: int, cost: float | None, text: str
) -> None:
    run = with_money(*spent)
    run.unreported = unreported
    assert run_cost(spent, unreported) == run.cost == cost
    assert run_cost_text(run) == text


def test_an_agent_without_usage_is_reported_with_the_others() -> None:
    assert money_of(with_money(PRICED))[1] == "agent unknown (no usage reported)"


def test_attempts_that_failed_without_usage_are_reported_with_the_cost_of_the_agent() -> None:
    run = with_money(PRICED, AGENT)
    run.unreported = 2
    assert money_of(run) == [
        "judges $0.600 (60 calls, 6,600 tokens)",
        "agent at least $0.200 (3 calls, 2 attempts without reported usage)",
    ]
    run.spent = [PRICED]
    assert money_of(run)[1] == "agent unknown (no usage reported)"


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (0.0, "$0"),
        (1.0, "$1.00"),
        (0.0123, "$0.012"),
        (0.00015, "$0.00015"),
        (1e-5, "$0.000010"),
        (1e-7, "< $0.000001"),
    ],
)
def test_dollars(cost: float, text: str) -> None:
    assert dollars(cost) == text


def test_each_purpose_is_reported() -> None:
    assert money_of(with_money(PRICED, CACHED, UNPRICED)) == [
        "judges $0.600 (60 calls, 6,600 tokens, 30 known from before)",
        "agent unknown (20 calls, 1,000 tokens, no price known of our-7b)",
    ]


def test_what_is_of_one_purpose_and_model_is_added_up() -> None:
    assert sum_usage([PRICED, UNPRICED, PRICED]) == [
        UNPRICED,
        PRICED.model_copy(update={"calls": 120, "input_tokens": 12000, "output_tokens": 1200, "cost": 1.2}),
    ]


@pytest.mark.parametrize(
    ("spent", "total"), [([PRICED], 0.6), ([PRICED, UNPRICED], None), ([], None), ([PRICED, CACHED], 0.6)]
)
def test_a_total_is_known_only_if_all_of_it_is(spent: list[Spent], total: float | None) -> None:
    assert total_cost(spent) == total


@pytest.mark.parametrize("name", ["plain", "terminal"])
def test_it_is_shown_with_what_the_judge_is_worth(name: str) -> None:
    told = report(name, with_money(PRICED, UNPRICED, safety_v1=BADGE))
    assert "judges $0.600 (60 calls, 6,600 tokens)" in told
    assert "agent unknown (20 calls" in told
    assert f"safety_v1{'  ' if name == 'plain' else ' · '}{BADGE}" in told


@pytest.mark.parametrize("name", ["plain", "terminal", "markdown"])
def test_run_without_usage_reports_none(name: str) -> None:
    assert "cost" not in report(name, with_money()).lower()


def test_markdown_has_it_too() -> None:
    assert "judges $0.600 (60 calls, 6,600 tokens)" in report("markdown", with_money(PRICED))


@pytest.mark.slow
def test_json_has_all_of_it_and_null_for_what_is_not_known() -> None:
    told: dict[str, Any] = json.loads(report("json", with_money(PRICED, UNPRICED, safety_v1=BADGE)))
    jsonschema.validate(told, schema("report"))
    one = told["runs"][0]
    assert one["cost"] is None
    assert [spent["cost"] for spent in one["spent"]] == [0.6, None]
    assert one["calibrations"] == {"safety_v1": BADGE}
    assert one["judged_by"] == [{"metric": "safety_v1", "model": "gpt-5", "prompt": "abc"}]


def test_an_estimate_with_an_unknown_part_is_a_lower_limit() -> None:
    judge = PurposeEstimate("judge", cost=Forecast(value=0.6, low=0.5, high=0.7))
    estimate = Estimate(cases=2, trials=2, parts=[judge, PurposeEstimate("agent")])
    assert estimate.cost is None
    assert brief(estimate) == "at least about $0.600 [$0.500-$0.700]"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(5.0, 7.0, "6 [5-7] calls"), (6.0, 6.0, "6 calls"), (5.9, 6.1, "6 calls"), (None, None, "6 calls")],
)
def test_an_estimate_has_no_interval_of_a_single_value(
    low: float | None, high: float | None, text: str
) -> None:
    calls = PurposeEstimate("judge", calls=Forecast(value=6.0, low=low, high=high))
    assert f"{text} of judges" in brief(Estimate(cases=2, trials=2, parts=[calls]))
