"""What is written of a comparison: for people, for a pull request, for programs; hostile text stays text."""

import io
import json
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from proctor.analysis.compare.report import WRITERS, comparison_blocks, numbers, write_comparison
from proctor.reports.base import ReportOptions
from proctor.reports.terminal.block_drawing import draw_blocks
from proctor.schema.analysis.comparison import (
    CaseChange,
    Change,
    ChangedCase,
    ComparedRun,
    Comparison,
    Measured,
    RunDifference,
    Trials,
)
from tests.reports.formats.test_markdown import page as markdown_page

ROOT = Path(__file__).resolve().parents[3]
SCHEMA: dict[str, Any] = json.loads(
    (ROOT / "docs/schemas/comparison.schema.json").read_text(encoding="utf-8")
)
HOSTILE = "<script>alert(1)</script>\x1b[31m `[x](http://evil)` @everyone"

PASSED = Measured(
    "passed", 0.9, 0.8, -0.1, -0.18, -0.02, 0.01, 40, decides=True, adjusted=0.02, verdict="worse"
)
QUALITY = Measured("quality_v1", 0.91, 0.92, 0.01, -0.01, 0.03, 0.4, 40, decides=True, adjusted=0.4)
TOKENS = Measured(
    "token_usage_v1", 1204, 980, -224, -300, -148, 0.0001, 40, lower_is_better=True, verdict="better"
)
BOOKED = ChangedCase(
    "travel", "two_turns", CaseChange.REGRESSION, Trials(5, 0), Trials(2, 3), "quality_v1", (1.0, 0.4), "covers is 4"
)  # fmt: skip
BROKEN = ChangedCase("travel", "refund", CaseChange.IN_ERROR, Trials(5, 0), Trials(3, 0, 2), reason="429")
FIXED = ChangedCase("travel", "hours", CaseChange.FIX, Trials(0, 5), Trials(5, 0), reason="was not called")
FLAKY = ChangedCase("travel", "cancel", CaseChange.FLAKY, Trials(4, 1), Trials(3, 2), reason="now and then")


def comparison(**changes: Any) -> Comparison:
    given: dict[str, Any] = {
        "pairs": 40,
        "measures": [PASSED, QUALITY, TOKENS],
        "cases": [BOOKED, BROKEN, FIXED, FLAKY],
        "undecided": 1,
        "unlike": [
            RunDifference("judge", "the judge was a and is b"),
            RunDifference("agent", "the agent was x", expected=True),
        ],
        **changes,
    }
    return Comparison(
        ComparedRun("7f3k2c", "travel", 41, 5, cost=0.42), ComparedRun("9xkq2p", "travel", 41, 5, cost=0.39),
        Change.REGRESSION, "regression: the pass rate fell from 90.0 % to 80.0 %", 0.05, 0.95, **given,
    )  # fmt: skip


def written(found: Comparison, name: str) -> str:
    out = io.StringIO()
    WRITERS[name](found, out)
    return out.getvalue()


def drawn(found: Comparison, *, width: int = 80, verbose: bool = False) -> str:
    out = io.StringIO()
    options = ReportOptions(width=width, color=False, symbols=True, verbose=verbose)
    draw_blocks(partial(comparison_blocks, found), out, options)
    return out.getvalue()


PLAIN = """\
BASE  travel  cases=41  runs=5  run=7f3k2c
CANDIDATE  travel  cases=41  runs=5  run=9xkq2p
WARNING  the judge was a and is b
DIFFERS  the agent was x
LEFT_OUT  1 case is left out of pass and fail: not every trial could be judged in both runs
REGRESSION  travel/two_turns  5/5 -> 2/5  quality_v1=1.00 -> 0.40
    reason: covers is 4
IN_ERROR  travel/refund  5/5 -> 3/5 (2 in error)
    reason: 429
FIX  travel/hours  0/5 -> 5/5
    before: was not called
FLAKY  travel/cancel  4/5 -> 3/5
    reason: now and then
MEASURE  passed  90.0 % -> 80.0 %  -10.0 (95 %: -18.0 to -2.0)  p=0.01  adjusted=0.02  pairs=40  worse
MEASURE  quality_v1  0.910 -> 0.920  +0.010 (95 %: -0.010 to +0.030)  p=0.4  adjusted=0.4  pairs=40
MEASURE  token_usage_v1  1,204 -> 980  -224 (95 %: -300 to -148)  p=<0.001  pairs=40  better
COST  $0.420 -> $0.390
OUTCOME  regression: the pass rate fell from 90.0 % to 80.0 %
"""

DRAWN = """
  base      travel · 41 cases × 5 · run 7f3k2c
  candidate travel · 41 cases × 5 · run 9xkq2p
  warning   the judge was a and is b
  differs   the agent was x
  left out  1 case is left out of pass and fail: not every trial could be judged
  in both runs

  1 passed before, fail now
    two_turns  ●●●●● → ●●○○○   quality 1.00 → 0.40
        covers is 4

  1 passed before, could not be judged now
    refund  ●●●●● → ●●●!!
        429

  1 failed before, pass now
    hours  ○○○○○ → ●●●●●
        before: was not called

  1 another share of the trials passes
    cancel  ●●●●○ → ●●●○○
        now and then

                     base  candidate  difference  95 % CI
  passed           90.0 %     80.0 %       -10.0  -18.0 to -2.0     ✕ worse
  quality           0.910      0.920      +0.010  -0.010 to +0.030
  tokens a turn     1,204        980        -224  -300 to -148      better
  cost of the run  $0.420     $0.390

  ✕ regression: the pass rate fell from 90.0 % to 80.0 %
    proctor compare 7f3k2c 9xkq2p travel/two_turns

"""


def test_plain_lines() -> None:
    assert written(comparison(), "text") == PLAIN


def test_drawn_at_80_columns() -> None:
    assert drawn(comparison()) == DRAWN


def test_off_a_terminal_it_is_plain() -> None:
    out = io.StringIO()
    write_comparison(comparison(), out)
    assert out.getvalue() == PLAIN


def test_many_cases_are_counted_unless_all_are_asked_for() -> None:
    found = comparison(cases=[BOOKED] * 60)
    assert "… 10 more (-v: all)" in drawn(found)
    assert drawn(found, verbose=True).count("covers is 4") == 60
    assert "... 10 more (-v: all)" in written(found, "text")
    assert "… and 10 more" in written(found, "md")


@pytest.mark.parametrize(
    ("difference", "direction"),
    [(-0.0002, "0.000"), (0.0002, "0.000"), (0.0, "0.000"), (-0.0006, "-0.001"), (0.01, "+0.010")],
)
def test_difference_that_rounds_to_zero_has_no_direction(difference: float, direction: str) -> None:
    one = Measured("quality_v1", 0.5, 0.5 + difference, difference, difference, difference, 0.5, 40)
    assert numbers(one)[2:] == (direction, direction, direction)


def test_markdown_has_the_outcome_first_and_regressions_open() -> None:
    text = written(comparison(), "md")
    assert text.startswith("### ✕ regression: ")
    assert "<details open>\n<summary>1 passed before, fail now</summary>" in text
    assert "<details>\n<summary>1 failed before, pass now</summary>" in text
    assert "| 5/5 → 2/5 |" in text


def test_foreign_text_is_not_markup() -> None:
    case = ChangedCase(
        "set", HOSTILE, CaseChange.REGRESSION, Trials(1, 0), Trials(0, 1), HOSTILE, (1, 0), HOSTILE
    )
    found = comparison(cases=[case], unlike=[RunDifference("option", HOSTILE)])
    for text in (written(found, "md"), written(found, "text"), drawn(found), written(found, "json")):
        assert "\x1b" not in text
    shown = markdown_page(written(found, "md"))  # no HTML, link or mention: it is in code
    assert "<script>" not in shown.loud
    assert "@everyone" not in shown.loud
    assert "<script>" in shown.quiet


@pytest.mark.parametrize(
    "found",
    [comparison(), comparison(cases=[], measures=[], unlike=[]), comparison(more_cases=12, more_trials=3)],
    ids=["all", "nothing", "more"],
)
def test_json_follows_its_schema(found: Comparison) -> None:
    data = json.loads(written(found, "json"))
    jsonschema.validate(data, SCHEMA)
    _names_all(data, SCHEMA)


def _names_all(data: Any, schema: dict[str, Any]) -> None:
    """No key goes out that the schema does not name."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    if isinstance(data, list):
        for one in data:
            _names_all(one, schema.get("items", {}))
    elif isinstance(data, dict):
        assert data.keys() <= schema["properties"].keys()
        for name, value in data.items():
            _names_all(value, schema["properties"][name])


def test_a_report_of_another_name_is_none() -> None:
    assert "junit" not in WRITERS


@pytest.mark.parametrize(
    ("name", "base", "candidate", "apart", "wanted"),
    [
        pytest.param(
            "invocation_duration_v1", 0.25, 0.5, 0.1, ("0.250", "0.500", "+0.250"), id="as they are"
        ),
        pytest.param(
            "invocation_duration_v1", 3e-4, 4.1e-4, 2e-5, ("0.00030", "0.00041", "+0.00011"), id="small"
        ),
        pytest.param(
            "invocation_duration_v1", 2e-9, 3e-9, 1e-9, ("0.000000", "0.000000", "0.000000"), id="tiny"
        ),
        pytest.param("invocation_duration_v1", 0.25, 0.25, 0.0, ("0.250", "0.250", "0.000"), id="alike"),
        pytest.param(
            "token_usage_v1", 100.0, 100.25, 0.1, ("100.00", "100.25", "+0.25"), id="less than a token"
        ),
        pytest.param("token_usage_v1", 1200.0, 1300.0, 9.0, ("1,200", "1,300", "+100"), id="thousands"),
    ],
)
def test_a_difference_is_written_as_0_only_where_it_is_nothing(
    name: str, base: float, candidate: float, apart: float, wanted: tuple[str, str, str]
) -> None:
    far = candidate - base
    one = Measured(name, base, candidate, far, far - apart, far + apart, p_value=0.01, pairs=9)
    assert numbers(one)[:3] == wanted
