"""What a person sees of cases that are run several times: real runs of agents that now and then go wrong."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import proctor
from proctor.common.safe_text import cells
from proctor.reports.base import ReportOptions
from proctor.reports.content.case_digest import (
    ks_of,
    mean_text,
    rate_text,
    repeat_figures,
    rule_text,
    runs_text,
)
from proctor.reports.content.summary import bounds
from proctor.reports.content.symbols import ASCII, UNICODE
from proctor.reports.formats.json import JsonReport
from proctor.reports.plain import PlainReport
from proctor.reports.terminal.run import TerminalReport
from proctor.schema.results.case_result import Repeats
from proctor.schema.results.run_result import RunResult, SetSummary
from proctor.schema.results.score import TrialRule
from proctor.stats.intervals import Mean
from tests.reports.sample_runs import E, F, P, case, run, trial
from tests.reports.terminal.dice import SCRIPTS, rolled

Snapshot = Callable[[str, str], None]


def draw(*runs: RunResult, width: int = 100, **options: Any) -> str:
    out = io.StringIO()
    TerminalReport().write(runs, out, options=ReportOptions(width=width, color=False, **options))
    return out.getvalue()


def lines(*runs: RunResult) -> str:
    out = io.StringIO()
    PlainReport().write(runs, out)
    return out.getvalue()


# --- the whole picture -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_share_of_the_trials_must_pass(width: int, snapshot: Snapshot) -> None:
    result = rolled(*SCRIPTS, trials={"num_runs": 5, "min_pass_rate": 0.8})
    snapshot(f"repeats_{width}.txt", draw(result, width=width))


def test_the_same_in_ascii(snapshot: Snapshot) -> None:
    text = draw(rolled(*SCRIPTS, trials={"num_runs": 5, "min_pass_rate": 0.8}), symbols=False)
    assert text.isascii()
    snapshot("repeats_ascii.txt", text)


def test_interval_must_exclude_the_rate(snapshot: Snapshot) -> None:
    rule = {"num_runs": 10, "min_pass_rate": 0.8, "confidence": 0.95}
    snapshot("repeats_sure.txt", draw(rolled("always", "now_and_then", "rarely", trials=rule)))


def test_several_in_a_row_must_pass(snapshot: Snapshot) -> None:
    rule = {"num_runs": 5, "min_pass_rate": 0.5, "pass_k": 3}
    snapshot("repeats_in_a_row.txt", draw(rolled("always", "now_and_then", trials=rule)))


def test_repeats_without_a_rule(snapshot: Snapshot) -> None:
    snapshot("repeats_mean.txt", draw(rolled("always", "now_and_then", num_runs=5)))


def test_plain_lines(snapshot: Snapshot) -> None:
    snapshot("repeats_plain.txt", lines(rolled(*SCRIPTS, trials={"num_runs": 5, "min_pass_rate": 0.8})))


def test_several_agents(snapshot: Snapshot) -> None:
    runs = [rolled("always", "now_and_then", num_runs=5), rolled("always", "now_and_then", num_runs=5)]
    runs[1].cases[1].trials[4].outcome = F
    runs[1].agent = "branch"
    snapshot("repeats_matrix.txt", draw(*runs))


def two_sets() -> RunResult:
    cases = [
        *(
            case(name, P, trials=[trial(n, P) for n in range(4)], eval_set_id="bookings")
            for name in ("a", "b")
        ),
        case("c", F, trials=[trial(n, F if n else P) for n in range(4)], eval_set_id="bookings"),
        *(
            case(name, P, trials=[trial(n, P) for n in range(3)], eval_set_id="refunds")
            for name in ("d", "e")
        ),
        case("f", P, eval_set_id="once"),
    ]
    result = run(*cases, num_runs=4)
    for one, num_runs in zip(result.sets, (4, 3, 1), strict=True):
        one.num_runs = num_runs
    return result


def test_each_set_has_its_own(snapshot: Snapshot) -> None:
    drawn, plain = draw(two_sets()), lines(two_sets())
    snapshot("repeats_sets.txt", drawn)
    assert "REPEATS  set=bookings  flaky=1/3  pass^2=0.67+/-0.33(3/3)  " in plain
    assert "REPEATS  set=refunds  flaky=0/2\n" in plain
    assert "set=once" not in plain


@pytest.mark.slow
@pytest.mark.nightly(check=3)
@pytest.mark.parametrize("width", [40, 48, 60, 72, 80, 100, 160])
def test_no_line_is_wider_than_the_page(width: int) -> None:
    result = rolled(*SCRIPTS, trials={"num_runs": 12, "min_pass_rate": 0.8})
    for symbols in (True, False):
        assert max(map(cells, draw(result, width=width, symbols=symbols).splitlines())) <= width


# --- its parts -------------------------------------------------------------------------------------------------------


def test_flaky_passing_case_precedes_quiet_ones_with_its_failure() -> None:
    text = draw(rolled("always", "now_and_then", trials={"num_runs": 5, "min_pass_rate": 0.8}))
    assert text.index("now_and_then") < text.index("always")
    assert (
        "trial 3: tool_trajectory_avg_score 0.00 < 1: `roll_die` argument `sides` is 20, expected 6" in text
    )
    assert "passed: all 2 cases pass, 1 is flaky" in text


def test_failed_case_shows_its_evidence_even_without_a_failed_metric() -> None:
    """Each metric meets its threshold in 4 of 5 trials, the case passes in 3."""
    rule = TrialRule(0.7)
    result = rolled("now_and_then", num_runs=5, trials={"min_pass_rate": 0.7})
    one = result.cases[0]
    assert one.rule == rule
    one.outcome, one.reason = F, "3 of 5 trials passed, 0.7 asked for"
    assert all(metric.outcome is P for metric in one.metrics.values())
    assert "≠       roll_die(sides=[-6-])" in draw(result)


def test_cases_with_one_trial_show_no_repeats() -> None:
    result = rolled("always", "now_and_then")
    for text in (draw(result), lines(result)):
        assert not [word for word in ("pass^", "pass@", "flaky", "pass_rate", "±", "means") if word in text]


def test_sets_with_different_numbers_of_trials_show_them() -> None:
    sets = [
        SetSummary("a", "a.json", "c.json", 1, num_runs=3, rule=TrialRule(0.9)),
        SetSummary("b", "b.json", "c.json", 1),
    ]
    cases = [
        case("x", P, trials=[trial(n, P) for n in range(3)], eval_set_id="a"),
        case("y", P, eval_set_id="b"),
    ]
    result = run(*cases, sets=sets, num_runs=3)
    drawn, plain = draw(result), lines(result)
    assert "2 cases × 1–3" in drawn
    assert "1 × 3  criteria from c.json  0.9 of the trials must pass" in drawn
    assert "  4/4  " in drawn
    assert "RUN  travel_agent  cases=2  runs=1-3\n" in plain
    assert "SET  a.json  cases=1  criteria=c.json  min_pass_rate=0.9\n" in plain
    assert "SET  b.json  cases=1  runs=1  criteria=c.json\n" in plain


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (TrialRule(0.9), "0.9 of the trials must pass"),
        (TrialRule(), "every trial must pass"),
        (TrialRule(0.9, 1, 0.95), "0.9 of the trials must pass, at 95 %"),
        (TrialRule(0.5, 3), "pass^3 must be 0.5"),
        (TrialRule(0.5, 3, 0.999), "pass^3 must be 0.5, at 99.9 %"),
    ],
)
def test_what_is_asked_for_in_words(rule: TrialRule, text: str) -> None:
    assert rule_text(rule) == text


@pytest.mark.parametrize(
    ("trials", "rate", "interval"),
    [
        ([P, P, P, F, P], "80 %", "38–96"),
        ([P, P, P, P, P], "100 %", "57–100"),
        ([F, F, F], "0 %", "0–56"),
        ([P, P, F], "66.7 %", "21–94"),
        ([P, P, P, P, E], "80 %", "38–100"),
        ([P] * 1999 + [F], "99.9 %", "99.72–99.99"),
    ],
)
def test_rates_in_per_cent(trials: list[proctor.Outcome], rate: str, interval: str) -> None:
    found = case("x", P, trials=[trial(n, outcome) for n, outcome in enumerate(trials)])
    assert (rate_text(found), bounds(*found.interval, UNICODE)) == (rate, interval)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.937, 0.031, "0.94 ± 0.03"),
        (0.999, 0.0012, "0.999 ± 0.001"),
        (1.0, 0.0, "1.00"),
        (0.5, None, "0.50"),
        (0.0004, 0.0004, "0.0004 ± 0.0004"),
        (0.99998, 0.00002, "0.99998 ± 0.00002"),
        (1 - 1e-16, None, "1.00"),
    ],
)
def test_means_with_their_errors(value: float, error: float | None, text: str) -> None:
    assert mean_text(Mean(value, error, None, None, 2, 2), UNICODE) == text
    assert mean_text(Mean(value, error, None, None, 2, 2), ASCII) == text.replace("±", "+/-")


@pytest.mark.parametrize(
    ("trials", "rules", "ks"),
    [
        (30, [], [2, 4, 8]),
        (8, [None], [2, 4, 8]),
        (5, [TrialRule(0.5, 3)], [2, 3, 4]),
        (3, [TrialRule(0.5, 5)], [2]),
        (1, [], []),
    ],
)
def test_the_values_of_k_are_2_4_8_and_that_of_the_rule(
    trials: int, rules: list[TrialRule | None], ks: list[int]
) -> None:
    many = Repeats([case("x", P, trials=[trial(n, P) for n in range(trials)])])
    assert ks_of(many, rules) == ks


@pytest.mark.parametrize(
    ("trials", "figures"),
    [
        ([[P] * 8, [P] * 8], []),
        ([[P] * 8, [F] * 8], []),
        (
            [[P] * 4 + [F] * 4],
            ["pass^2 0.21", "pass^4 0.01", "pass^8 0.00", "pass@2 0.79", "pass@4 0.99", "pass@8 1.00"],
        ),
        ([[P] * 7 + [F]], ["pass^2 0.75", "pass^4 0.50", "pass^8 0.00", "pass@2 1.00"]),
    ],
)
def test_only_informative_values_of_pass_k_are_shown(trials: list[list[Any]], figures: list[str]) -> None:
    """Where all trials of each case agree, pass^k is the pass rate; after 0 or 1 the next values are equal."""
    cases = [
        case(str(n), P, trials=[trial(i, one) for i, one in enumerate(each)]) for n, each in enumerate(trials)
    ]
    found = repeat_figures(Repeats(cases))
    assert [f"{name} {mean_text(mean, UNICODE)}" for name, mean in found] == figures


@pytest.mark.parametrize(
    ("numbers", "of_run", "text"), [([1], 1, ""), ([5, 5], 5, "5"), ([1, 5], 5, "1–5"), ([], 3, "3")]
)
def test_how_many_trials_a_case_has(numbers: list[int], of_run: int, text: str) -> None:
    sets = [SetSummary(str(n), None, "", 1, num_runs=number) for n, number in enumerate(numbers)]
    assert runs_text(sets, of_run, UNICODE) == text


def as_json(result: RunResult, root: Path) -> Any:
    """The run in a JSON report that keeps to its schema."""
    out = io.StringIO()
    JsonReport().write([result], out)
    report = json.loads(out.getvalue())
    schema = json.loads((root / "docs/schemas/report.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(report)
    return report["runs"][0]


def test_the_json_report_has_each_set(root: Path) -> None:
    repeats = as_json(two_sets(), root)["repeats"]
    assert repeats["sets"]["refunds"]["pass_hat"]["3"]["value"] == 1.0
    assert repeats["sets"]["bookings"]["flaky"] == 1


def test_the_json_report_has_all_of_it(root: Path) -> None:
    found = as_json(rolled("always", "now_and_then", trials={"num_runs": 5, "min_pass_rate": 0.8}), root)
    always, flaky = found["cases"]
    assert flaky["pass_rate"]["flaky"] is True
    assert always["pass_rate"]["flaky"] is False
    assert flaky["pass_rate"]["low"] == pytest.approx(0.3755, abs=1e-4)
    assert flaky["missed"].startswith("trial 3: tool_trajectory_avg_score 0.00 < 1")
    assert found["sets"][0]["rule"] == {"min_pass_rate": 0.8, "pass_k": 1, "confidence": None}
    assert found["repeats"]["flaky"] == 1
    assert found["repeats"]["pass_hat"]["5"]["value"] == 0.5
    assert found["repeats"]["pass_at"]["5"]["value"] == 1.0
    assert found["repeats"]["means"]["tool_trajectory_avg_score"]["standard_error"] == pytest.approx(0.1)
