"""The sentences and figures around the cases."""

from io import StringIO

import pytest

from proctor.common.registry import REPORTS
from proctor.reports.content import summary
from proctor.reports.content.case_digest import Digest, against, mean_text, rate_sentence
from proctor.reports.content.symbols import ASCII, UNICODE, marks_for, short_names
from proctor.reports.terminal.run import TerminalReport
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult, SetSummary
from proctor.schema.results.score import MODEL_CALLS, score_text
from proctor.stats.intervals import Mean
from tests.reports.sample_runs import (
    E,
    F,
    P,
    U,
    case,
    crashed,
    figures,
    good,
    metric,
    run,
    sketch,
    trial,
    undecided,
    wrong_covers,
)

N, S = Outcome.NOT_RUN, Outcome.SKIPPED


def of(*outcomes: Outcome) -> RunResult:
    return run(*(CaseResult("s", str(n), outcome) for n, outcome in enumerate(outcomes)))


@pytest.mark.parametrize(
    ("outcomes", "sentence"),
    [
        ([P] * 40, "passed: all 40 cases pass"),
        ([P], "passed: the case passes"),
        ([F], "failed: the case fails"),
        ([E], "error: the case could not be scored"),
        ([U], "inconclusive: the case is inconclusive"),
        ([*[P] * 36, *[F] * 3, E], "failed: 3 of 40 cases fail, 1 could not be scored"),
        ([P, F], "failed: 1 of 2 cases fails"),
        ([P, E, U, N], "error: 1 of 4 cases could not be scored, 1 inconclusive, 1 not run"),
        ([P, N], "not run: 1 of 2 cases not run"),
        ([P, P, S], "passed: all 2 cases pass, 1 skipped"),
        ([S], "error: not one case was scored, 1 skipped"),
        ([], "error: not one case was scored"),
    ],
)
def test_the_verdict_is_a_sentence(outcomes: list[Outcome], sentence: str) -> None:
    assert summary.verdict_sentence(of(*outcomes)) == sentence


@pytest.mark.parametrize(
    ("outcomes", "sentence"),
    [
        ([P, P, P, P, F], "4 of 5 trials passed (80 %, 95 % CI: 38–96), flaky"),
        ([P, P, F, E, E], "2 of 5 trials passed, 2 in error (40 % of all 5, 95 % CI: 12–96), flaky"),
        ([P, N], "1 of 2 trials passed, 1 not scored (50 % of all 2, 95 % CI: 9–100)"),
        ([P, E, N], "1 of 3 trials passed, 2 not scored (33.3 % of all 3, 95 % CI: 6–100)"),
        ([E, E, E, E], "4 trials in error"),
    ],
)
def test_trials_that_passed_have_their_denominator_and_errors_are_named_apart(
    outcomes: list[Outcome], sentence: str
) -> None:
    trials = [trial(number, outcome) for number, outcome in enumerate(outcomes)]
    assert rate_sentence(case("a", outcomes[0], trials=trials), UNICODE) == sentence


def test_large_numbers_have_thousands_separators() -> None:
    many = of(*[Outcome.FAILED] * 1286, *[Outcome.INCONCLUSIVE] * 1001, *[Outcome.PASSED] * 713)
    assert summary.verdict_sentence(many) == "failed: 1,286 of 3,000 cases fail, 1,001 inconclusive"
    assert summary.verdict_sentence(of(*[Outcome.PASSED] * 2000), flaky=1200) == (
        "passed: all 2,000 cases pass, 1,200 are flaky"
    )


def test_unrunnable_set_and_interruption_are_reported() -> None:
    result = of(P, P)
    result.sets.append(SetSummary("b", "b.json", "", 0, failure=Failure(where="file", message="not JSON")))
    result.interrupted = True
    assert summary.verdict_sentence(result) == "error: 1 set could not be run, interrupted before the end"


@pytest.mark.parametrize(
    ("passed", "total", "rate"),
    [
        (37, 40, "37 of 40 cases passed (92.5 %, 95 % CI: 80–97)"),
        (2, 2, "2 of 2 cases passed (100 %, 95 % CI: 34–100)"),
        (9999, 10000, "9,999 of 10,000 cases passed (99.9 %, 95 % CI: 99.943–99.998)"),
        (1, 10000, "1 of 10,000 cases passed (0.1 %, 95 % CI: 0.002–0.057)"),
        (0, 3, "0 of 3 cases passed (0 %, 95 % CI: 0–56)"),
        (1, 1, ""),
        (0, 0, ""),
    ],
)
def test_the_rate_comes_with_its_uncertainty(passed: int, total: int, rate: str) -> None:
    assert summary.rate(of(*[P] * passed, *[F] * (total - passed)), UNICODE) == rate


def test_as_long_as_cases_are_not_run_there_are_counts_and_no_rate() -> None:
    ended_early = of(*[P] * 8, *[F] * 2, *[N] * 30)
    assert summary.rate(ended_early, UNICODE) == "8 of 40 cases passed, 30 not run"
    assert summary.rate(of(*[N] * 30), UNICODE) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0s"), (0.00014, "<1ms"), (0.014, "14ms"), (0.0949, "95ms"), (0.095, "0.1s"), (0.84, "0.8s"), (9.94, "9.9s"), (9.96, "10s"), (59.4, "59s"), (59.6, "1m 00s"), (192, "3m 12s"), (3599.7, "1h 00m"), (7500, "2h 05m"), (172_799, "47h 59m"), (273_600, "3d 04h")],
)  # fmt: skip
def test_durations(seconds: float, text: str) -> None:
    assert summary.duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "threshold", "text"),
    [
        (0.4, 0.9, "0.40"),
        (0.996, 1.0, "0.996"),
        (0.99999, 1.0, "0.99999"),
        (0.9999999, 1.0, "0.9999999"),
        (1.0, 1.0, "1.00"),
        (0.7996, 0.8, "0.7996"),
        (0.8049, 0.805, "0.80"),
        (None, 1.0, ""),
        (12.5, None, "12.50"),
        (1_234_567.0, None, "1234567.00"),
        (12_345_678.0, None, "1.23e+07"),
        (-9.997e98, 1e99, "-1.00e+99"),
        (9.997e98, 1e99, "9.997e+98"),
    ],
)
def test_a_score_that_misses_never_looks_like_its_threshold(
    value: float | None, threshold: float | None, text: str
) -> None:
    assert score_text(value, threshold) == text


def test_scores_with_their_thresholds() -> None:
    assert against(metric("m", [0.4], 0.9), UNICODE) == "0.40 < 0.9"
    assert against(metric("m", [1.0], 0.9), ASCII) == "1.00 >= 0.9"
    assert against(metric("m", [1.0, None], 0.9, E), UNICODE) == "error"
    assert against(metric("m", [None], 1.0, Outcome.NOT_APPLICABLE), UNICODE) == "not applicable"
    assert against(metric("m", [3.0], None, Outcome.INFORMATIONAL), UNICODE) == "3.00"


def test_redundant_suffixes_of_names_are_dropped() -> None:
    names = [
        "tool_trajectory_avg_score",
        "response_match_score",
        "final_response_match_v2",
        "x_v1",
        "x_v2",
        "_score",
        "mine",
    ]
    assert list(short_names(names).values()) == [
        "tool_trajectory", "response_match", "final_response_match", "x_v1", "x_v2", "_score", "mine",
    ]  # fmt: skip


def test_failures_come_first_then_errors_then_the_rest_in_their_order() -> None:
    cases = [CaseResult("s", str(n), outcome) for n, outcome in enumerate([P, N, E, F, U, P, F, S])]
    assert [case.eval_id for case in sorted(cases, key=summary.attention)] == [
        "3",
        "6",
        "2",
        "4",
        "1",
        "0",
        "5",
        "7",
    ]


def test_what_a_turn_took_is_the_mean_of_what_is_known() -> None:
    cases = [case("a", P, *figures(2, 1000, 0.5)), case("b", P, *figures(1, 2001, 1.5)), case("c", P)]
    assert Digest(cases).figures() == ["1.5 tool calls", "1,500 tokens", "1.00 s a turn"]
    assert Digest([case("a", P, *figures(1, 0, 0))]).figures() == ["1.0 tool calls a turn"]
    assert Digest([case("a", P)]).figures() == []


@pytest.mark.parametrize(
    ("outcomes", "code"), [([P, P], 0), ([P, F], 1), ([E, F], 1), ([P, E], 3), ([P, U], 4), ([], 3)]
)
def test_the_exit_code_of_several_runs_is_that_of_the_worst(outcomes: list[Outcome], code: int) -> None:
    assert summary.exit_code_of_runs([of(outcome) for outcome in outcomes]) == code


def test_warnings_are_grouped() -> None:
    from proctor.schema.results.score import MetricScore, Score

    weak = MetricScore(value=1.0, per_invocation=[Score(1.0, warning="an empty expectation passes")])
    result = run(*(case(f"c{n}", P, metric("m", [weak])) for n in range(5)))
    result.warnings.append("first")
    about = "m: an empty expectation passes (c0, c1, c2 and 2 more cases)"
    assert Digest(result.cases).warnings(result) == ["first", about]


@pytest.mark.parametrize("report", ["terminal", "text", "markdown", "junit", "json"])
@pytest.mark.parametrize("outcome", [P, F])
def test_warning_is_with_its_case_and_metric(report: str, outcome: Outcome) -> None:
    from proctor.schema.results.score import MetricScore, Score

    weak = MetricScore(value=1.0, per_invocation=[Score(1.0, warning="nothing knows it")])
    bad = MetricScore(value=0.0, per_invocation=[Score(0.0, reason="wrong")])
    other = metric("other", [bad], 1.0) if outcome is F else metric("other", [weak], 1.0)
    result = run(case("one", outcome, metric("guarded", [weak], 1.0), other))
    out = StringIO()
    made = TerminalReport() if report == "terminal" else REPORTS.get(report)()
    made.write([result], out)
    text = " ".join(out.getvalue().split())
    said = '"warning": "nothing knows it"' if report == "json" else "guarded: nothing knows it"
    assert said in text
    if report in ("terminal", "text"):
        assert (
            text.index("one")
            < text.index(said)
            < text.index("other: nothing" if outcome is P else "wrong", text.index(said))
        )


def test_signs_follow_the_encoding() -> None:
    assert marks_for("utf-8") is UNICODE
    assert marks_for("ascii") is ASCII
    assert marks_for("latin-1") is ASCII
    assert marks_for(None) is ASCII
    assert marks_for("no-such") is ASCII
    assert marks_for("ascii", symbols=True) is UNICODE
    assert UNICODE.strip([P, P, F, E]) == "●●○!"
    assert UNICODE.strip([P] * 12 + [F] * 3) == "●12 ○3"


def test_sketch_has_its_documented_form() -> None:
    result = sketch()
    assert len(result.cases) == 40
    assert {wrong_covers().outcome, crashed().outcome, undecided().outcome, good("a").outcome} == {F, E, U, P}


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        pytest.param(["a/x.json", "a/y.json"], ["x.json", "y.json"], id="other names"),
        pytest.param(["a/x.json", "b/x.json", "y.json"], ["a/x.json", "b/x.json", "y.json"], id="one name"),
        pytest.param(["a/c/x.json", "b/c/x.json"], ["a/c/x.json", "b/c/x.json"], id="folders of one name"),
        pytest.param(["x.json", "b/x.json"], ["x.json", "b/x.json"], id="one in no folder"),
        pytest.param(["/p/a/x.json", "/p/b/x.json"], ["a/x.json", "b/x.json"], id="no more than it takes"),
        pytest.param([r"C:\a\x.json", r"C:\b\x.json"], ["a/x.json", "b/x.json"], id="of Windows"),
        pytest.param(["a/x.json", "a/x.json"], ["x.json", "x.json"], id="the same"),
        pytest.param(["a/x.json/", None], ["x.json", "s"], id="a slash behind it, and no file"),
    ],
)
def test_sets_of_one_file_name_are_distinguished_by_their_folders(
    paths: list[str | None], names: list[str]
) -> None:
    assert summary.set_names([SetSummary("s", path, "", 1) for path in paths]) == names


def test_a_mean_and_its_error_have_one_notation() -> None:
    assert mean_text(Mean(5.98e7, 9_061_915.07, None, None, 3, 3), ASCII) == "5.98e+07 +/- 9.06e+06"


def test_an_unknown_count_of_model_calls_reads_as_unknown() -> None:
    calls = MetricVerdict(MODEL_CALLS, Outcome.INFORMATIONAL, 0.0)
    assert [calls.text_of(score) for score in (None, 0.0, 2.0)] == ["", "-", "2.00"]
    assert MetricVerdict("tool_call_count_v1", Outcome.INFORMATIONAL, 0.0).text_of(0.0) == "0.00"
    assert against(calls, ASCII) == "-"
