"""Plain lines: stable and grep-able."""

import io
import re
from collections.abc import Callable
from typing import Any

import pytest

from proctor.reports.base import ReportOptions, load_report
from proctor.reports.plain import PlainReport, fields
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult
from proctor.schema.results.score import MetricScore, Score
from tests.reports.sample_runs import (
    TRAJECTORY,
    E,
    F,
    P,
    call,
    case,
    crashed,
    differs,
    extra,
    good,
    matched,
    metric,
    missing,
    moved,
    run,
    sketch,
    trial,
)
from tests.reports.terminal.test_run import two_agents, two_sets

Snapshot = Callable[[str, str], None]

LINE = re.compile(
    r"(RUN|AGENTS|SET|LEFT-OUT|PASSED|FAILED|ERROR |ERROR|INCONCLUSIVE|SKIPPED|NOT_RUN|WARNING|REPEATS|MEANS|FIGURES|VERDICT"
    r"|DIFFERS|SAME)  \S|    \S"
)


def write(*runs: RunResult, **options: Any) -> str:
    out = io.StringIO()
    PlainReport().write(runs, out, options=ReportOptions(**options))
    return out.getvalue()


def test_a_run(snapshot: Snapshot) -> None:
    snapshot("plain.txt", write(sketch(3)))


def test_several_sets_and_warnings(snapshot: Snapshot) -> None:
    snapshot("plain_two_sets.txt", write(two_sets()))


def test_several_agents(snapshot: Snapshot) -> None:
    snapshot("plain_matrix.txt", write(*two_agents()))


@pytest.mark.parametrize(
    ("name", "field"),
    [("two  spaces", "two \\x20spaces"), (" a ", "\\x20a\\x20"), ("a   b", "a \\x20\\x20b"), ("a b", "a b")],
)
def test_spaces_in_a_field_do_not_look_like_a_separator(name: str, field: str) -> None:
    assert fields("RUN", name, "", "cases=1").split("  ") == ["RUN", field, "cases=1"]
    assert fields("    reason: a  b") == "    reason: a  b"


def test_a_run_that_could_not_continue_has_its_cause() -> None:
    result = run(good("dice"))
    result.failure = Failure(where="store", message="disk full")
    *_, cause, verdict = [
        line for line in write(result).splitlines() if line.startswith(("ERROR", "VERDICT"))
    ]
    assert cause == "ERROR  store raised: disk full"
    assert verdict.startswith("VERDICT  error")


@pytest.mark.parametrize(
    ("outcomes", "has_rate"),
    [([E, E, E], False), ([Outcome.NOT_RUN] * 2, False), ([P, E], True), ([F, F], True), ([P], False)],
    ids=["all in error", "none run", "one scored", "none passed", "one trial"],
)
def test_a_pass_rate_needs_a_trial_that_was_scored(outcomes: list[Outcome], has_rate: bool) -> None:
    trials = [trial(number, outcome) for number, outcome in enumerate(outcomes)]
    assert ("pass_rate=" in write(run(case("dice", outcomes[-1], trials=trials)))) is has_rate


def test_it_is_the_report_called_text() -> None:
    assert isinstance(load_report("text"), PlainReport)


@pytest.mark.parametrize(
    "runs", [[sketch()], two_agents(), [two_sets()], [run()], []], ids=["one", "two", "sets", "empty", "none"]
)
def test_every_line_has_the_documented_form(runs: list[RunResult]) -> None:
    assert [line for line in write(*runs).splitlines() if not LINE.match(line)] == []


def test_colour_and_width_change_nothing() -> None:
    assert write(sketch(2), color=True, width=40) == write(sketch(2), color=False, width=200)


def test_one_line_a_case_in_the_order_of_the_sets() -> None:
    ids = re.findall(r"^[A-Z_]+ *  booking/(\S+)", write(sketch(3)), re.MULTILINE)
    assert ids == [result.eval_id for result in sketch(3).cases]


def test_of_several_agents_only_where_they_differ() -> None:
    text = write(*two_agents(), only_different=True)
    assert re.findall(r"^DIFFERS.*", text, re.MULTILINE) == [
        "DIFFERS  booking/two_turn_booking  main=failed 0.70 2/5  branch=passed 1.00  score=tool_trajectory_avg_score"
    ]
    assert "refund_policy" not in text  # an error for both
    assert "weather_00" not in text
    assert text.count("VERDICT") == 2


def test_several_agents_begin_with_the_comparison_then_each_failure() -> None:
    words = re.findall(r"^([A-Z-]+)", write(*two_agents()), re.MULTILINE)
    assert words == [
        *["AGENTS", "DIFFERS", "SAME", "SAME", "SAME", "SAME"],
        *["RUN", "SET", "FAILED", "ERROR", "REPEATS", "MEANS", "FIGURES", "VERDICT"],
        *["RUN", "SET", "ERROR", "REPEATS", "MEANS", "FIGURES", "VERDICT"],
    ]


def test_of_several_agents_the_cases_that_differ_come_first_and_of_each_kind_the_worst() -> None:
    half = [trial(number, outcome) for number, outcome in enumerate([F, P])]
    outcomes = {
        "pass": (P, P),
        "error": (E, E),
        "fixed": (E, P),
        "half": (F, F),
        "broken": (P, F),
        "fail": (F, F),
    }
    runs = [
        run(
            *(
                case(name, both[at], trials=half if name == "half" else None)
                for name, both in outcomes.items()
            )
        )
        for at in (0, 1)
    ]
    assert re.findall(r"^(?:DIFFERS|SAME) *  booking/(\S+)", write(*runs), re.MULTILINE) == [
        *["broken", "fixed"],
        *["fail", "half", "error", "pass"],
    ]


def test_missing_trial_is_not_repeated_for_each_metric() -> None:
    assert (
        "\nERROR  booking/refund_policy  trials=PPPPE  pass_rate=0.80(0.38-1.00)\n    reason: agent raised"
        in write(run(crashed()))
    )


def test_broken_metric_is_reported() -> None:
    broken = MetricScore(failure=Failure(where="metric", type="ValueError", message="no words"))
    line = write(run(case("x", E, metric("mine", [broken], 1.0, E), reason="metric raised")))
    assert "\nERROR  booking/x  trials=E  mine=error\n" in line


def test_a_case_that_passed_shows_its_turns_where_all_is_asked_for() -> None:
    step = matched("find", name="a" * 300)
    scored = MetricScore(value=1.0, per_invocation=[Score(1.0, details={"alignment": [step]})])
    passed = run(case("x", P, metric(TRAJECTORY, [scored])))
    assert "    " not in write(passed)
    assert re.findall(r"^    (.*)", write(passed, verbose=True), re.MULTILINE) == [
        "turn 1: user: Hello",
        f'turn 1: = find(name="{"a" * 300}")',
        "turn 1: answer: Done.",
        f"turn 1: scores: {TRAJECTORY} 1.00",
    ]


def test_kinds_of_steps() -> None:
    steps = [matched("a"), missing("b"), extra("c"), moved("d"), differs(call("e", x=1), call("e", x=2))]
    score = MetricScore(value=0.0, per_invocation=[Score(0.0, details={"alignment": steps})])
    text = write(run(case("x", F, metric("m", [score]), reason="r")))
    shown = re.findall(r"^    turn 1: ([^u].*)", text, re.MULTILINE)
    assert shown == ["= a()", "- b()", "+ c()", "~ d()", "# expected e(x=[-1-])", "# actual   e(x={+2+})"]


def test_ids_and_reasons_stay_on_their_line() -> None:
    text = write(run(case("a\nFAILED  b/c", E, reason="first\nsecond")))
    assert "ERROR  booking/a\\nFAILED \\x20b/c  trials=E\n    reason: first\\nsecond\n" in text


def test_a_stream_of_another_encoding() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="latin-1", newline="\n")
    PlainReport().write([run(good("caffè ✓"))], out)
    out.flush()
    assert "booking/caffè \\u2713" in raw.getvalue().decode("latin-1")


def test_of_several_agents_no_case_is_lost_where_two_sets_have_one_id() -> None:
    first = run(CaseResult("s", "a", P), CaseResult("s", "a", P))
    second = run(CaseResult("s", "a", P), CaseResult("s", "a", F))
    lines = write(first, second).splitlines()
    assert "cases=2  different=1" in lines[0]
    assert [line.split("  ")[0] for line in lines if line.startswith(("SAME", "DIFFERS"))] == [
        "DIFFERS",
        "SAME",
    ]
