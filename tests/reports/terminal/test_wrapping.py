"""No line ends inside a name or a number, as long as it fits on a line; parts between dots stay whole."""

import io
import re
from collections.abc import Iterator

import pytest
from rich.text import Text

from proctor.common.safe_text import cells
from proctor.reports.base import ReportOptions
from proctor.reports.terminal.console import Page, WrappedText
from proctor.reports.terminal.run import TerminalReport
from proctor.schema.results.run_result import RunResult
from proctor.schema.results.score import MetricScore, Score
from tests.reports.sample_runs import (
    F,
    P,
    call,
    case,
    differs,
    extra,
    good,
    metric,
    missing,
    run,
    sketch,
    trial,
)

WIDTHS = [80, 100, 140]
ID = "refund_of_an_order_that_was_paid_with_two_cards_and_a_voucher"
WIDE = "予約の変更とキャンセル料の払い戻し"
TOOL = "find_cheapest_connection_between"
METRIC = "quality_of_the_final_answer_v1"
ARGUMENTS = {
    "departure_airport": "Zürich-Kloten",
    "passengers": 31415926,
    "price_limit": -1234567.25,
    "email": "heron.long@example.com",
}


def hostile() -> RunResult:
    """A run with long names, long numbers and wide glyphs everywhere."""
    wanted = call(TOOL, **ARGUMENTS)
    made = call(TOOL, **{**ARGUMENTS, "passengers": 27182818})
    steps = [differs(wanted, made), extra(f"{TOOL}_2", **ARGUMENTS), missing(WIDE, note=WIDE)]
    state = [
        {"key": "order.lines.total_amount", "kind": "differs", "expected": 31415926.5, "actual": 27182818.25}
    ]
    score = MetricScore(0.0, [Score(0.0, details={"alignment": steps})], details={"state": state})
    cases = [
        case(name, F, metric(METRIC, [score] * 4, 0.9), metric("response_match_score", [0.5] * 4, 0.8),
             reason=f"{METRIC} 0.00 < 0.9: `{TOOL}` argument `passengers` is 27182818, expected 31415926",
             trials=[trial(n, F if n else P, WIDE) for n in range(4)])
        for name in (ID, WIDE, "short")
    ]  # fmt: skip
    return run(*cases, good("weather", 4), num_runs=4)


def drawn(*runs: RunResult, width: int) -> str:
    out = io.StringIO()
    TerminalReport().write(runs, out, options=ReportOptions(width=width, color=False))
    return out.getvalue()


def names() -> Iterator[str]:
    yield from (ID, WIDE, TOOL, f"{TOOL}_2", METRIC, "31415926", "27182818", "-1234567.25", "27182818.25")
    yield from (*ARGUMENTS, "Zürich-Kloten", "order.lines.total_amount")


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_ends_inside_a_name_or_a_number(width: int) -> None:
    text = drawn(hostile(), width=width)
    assert max(map(cells, text.splitlines())) <= width
    for name in names():
        assert name in text, name
        for cut in range(
            2, len(name)
        ):  # the beginning of a name at the end of a line, the rest on the next one
            begins = rf"(?<!\w){re.escape(name[:cut])}$\n\s*{re.escape(name[cut:])}(?!\w)"
            assert not re.search(begins, text, re.MULTILINE), (name, cut)


@pytest.mark.parametrize("width", WIDTHS)
def test_several_agents_beside_each_other(width: int) -> None:
    one, other = hostile(), hostile()
    other.agent = "the_candidate_of_tonight"
    text = drawn(one, other, width=width)
    assert max(map(cells, text.splitlines())) <= width
    assert re.search(r"short\s+✕ 0.00 1/4 +✕ 0.00 1/4", text)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["95 % CI", "pass^2 0.", "s a turn", "± 0.0"])
def test_a_figure_and_its_unit_stay_on_one_line(width: int, name: str) -> None:
    first, _, last = name.rpartition(" ")
    text = drawn(sketch(3), width=width)
    assert name in text
    assert not re.search(rf"{re.escape(first)}$\n\s*{re.escape(last)}", text, re.MULTILINE)


def test_parts_that_do_not_fit_begin_a_line() -> None:
    page = Page(io.StringIO(), ReportOptions(width=80, color=False))
    text = page.filled([Text("pass^2 0.66"), Text("1.90 s a turn"), Text("x" * 30), Text("y")], 30)
    assert text.plain.split("\n") == ["pass^2 0.66 · 1.90 s a turn", "x" * 30, "y"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "verify(email=heron@example.com,sum=-12.50)",
            ["verify(email=", "heron@example.com,", "sum=-12.50)"],
        ),
        ("a " + "b" * 25, ["a", "b" * 20, "b" * 5]),
        ("short words wrap at blanks", ["short words wrap at", "blanks"]),
    ],
)
def test_a_long_word_is_broken_between_names(text: str, lines: list[str]) -> None:
    page = Page(io.StringIO(), ReportOptions(width=80, color=False))
    wrapped = WrappedText.of(Text(text, overflow="fold")).wrap(page.console, 20)
    assert [line.plain.rstrip() for line in wrapped] == lines
