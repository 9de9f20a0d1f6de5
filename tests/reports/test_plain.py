"""Plain lines: stable and grep-able."""

import io
import re
from collections.abc import Callable
from typing import Any

import pytest

from proctor.reports.base import ReportOptions, load_report
from proctor.reports.plain import PlainReport
from proctor.schema.verdict import RunResult
from tests.reports.build import (
    E,
    F,
    call,
    case,
    differs,
    extra,
    good,
    matched,
    metric,
    missing,
    moved,
    run,
    sketch,
)
from tests.reports.test_terminal import two_agents, two_sets

Snapshot = Callable[[str, str], None]

LINE = re.compile(
    r"(RUN|SET|LEFT-OUT|PASSED|FAILED|ERROR |ERROR|INCONCLUSIVE|SKIPPED|NOT_RUN|WARNING|FIGURES|VERDICT|DIFFERS)  \S|    \S"
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
        "DIFFERS  booking/two_turn_booking  main=failed  branch=passed"
    ]
    assert "weather_00" not in text
    assert text.count("VERDICT") == 2


def test_kinds_of_steps() -> None:
    from proctor.schema.score import MetricScore, Score

    steps = [matched("a"), missing("b"), extra("c"), moved("d"), differs(call("e", x=1), call("e", x=2))]
    score = MetricScore(value=0.0, per_invocation=[Score(0.0, details={"alignment": steps})])
    text = write(run(case("x", F, metric("m", [score]), reason="r")))
    shown = re.findall(r"^    turn 1: ([^u].*)", text, re.MULTILINE)
    assert shown == ["= a()", "- b()", "+ c()", "~ d()", "# expected e(x=[-1-])", "# actual   e(x={+2+})"]


def test_ids_and_reasons_stay_on_their_line() -> None:
    text = write(run(case("a\nFAILED  b/c", E, reason="first\nsecond")))
    assert "ERROR   booking/a\\nFAILED  b/c  trials=E  first\\nsecond\n" in text


def test_a_stream_of_another_encoding() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="latin-1", newline="\n")
    PlainReport().write([run(good("caffè ✓"))], out)
    out.flush()
    assert "booking/caffè \\u2713" in raw.getvalue().decode("latin-1")
