"""What is written of a comparison: for people, for a pull request, for programs; hostile text stays text."""

import io
import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from proctor.analysis.compare.comparison_report import (
    WRITERS,
    comparison_blocks,
    comparison_html,
    write_comparison,
)
from proctor.analysis.compare.measure_table import numbers
from proctor.analysis.compare.outcome_text import change_text
from proctor.reports.base import ReportOptions
from proctor.reports.terminal.block_drawing import draw_blocks
from proctor.schema.analysis.comparison import (
    CaseChange,
    CaseEvidence,
    Change,
    ChangedCase,
    ComparedRun,
    Comparison,
    InGeneral,
    Measured,
    RunDifference,
    Trials,
)
from proctor.web.pages.analysis.comparison import comparison_page, comparison_side
from tests.analysis.compare.comparisons import case, cases, compared
from tests.reports.formats.test_markdown import page as markdown_page

METHODS = """\
    single cases: Fisher's exact test, one-sided; 2 % over all cases, with Tarone's and Holm's corrections
    passed: permutation test of the trials within each case, two-sided; 4 %
    metrics that decide: permutation test of the signs of the cases' differences, two-sided; 2 % over 1, with Holm's correction
    other measures: permutation test of the signs of the cases' differences, two-sided; 5 % each, without correction
    in general: permutation test of the signs of the cases' differences, two-sided, and a bootstrap over cases; 5 %
    travel/two_turns: p = 0.004, 0.008 after correction
"""
ROOT = Path(__file__).resolve().parents[3]
SCHEMA: dict[str, Any] = json.loads(
    (ROOT / "docs/schemas/comparison.schema.json").read_text(encoding="utf-8")
)
HOSTILE = "<script>alert(1)</script>\x1b[31m `[x](http://evil)` @everyone"

PASSED = Measured(
    "passed",
    0.9,
    0.8,
    -0.1,
    -0.18,
    -0.02,
    0.01,
    40,
    missing=1,
    confidence=0.96,
    decides=True,
    verdict="worse",
)
QUALITY = Measured("quality_v1", 0.91, 0.92, 0.01, -0.01, 0.03, 0.4, 40, confidence=0.98, decides=True)
TOKENS = Measured(
    "token_usage_v1", 1204, 980, -224, -300, -148, 0.0001, 40, lower_is_better=True, verdict="better"
)
BOOKED = ChangedCase(
    "travel", "two_turns", CaseChange.NOW_FAILS, Trials(5, 0), Trials(2, 3), "quality_v1", (1.0, 0.4), "covers is 4"
)  # fmt: skip
BROKEN = ChangedCase("travel", "refund", CaseChange.MISSING, Trials(5, 0), Trials(3, 0, 2), reason="429")
FIXED = ChangedCase(
    "travel", "hours", CaseChange.NOW_PASSES, Trials(0, 5), Trials(5, 0), before="was not called"
)
FEWER = ChangedCase(
    "travel", "cancel", CaseChange.FEWER_TRIALS, Trials(4, 1), Trials(3, 2), reason="now and then"
)
GENERAL = InGeneral(-0.1, -0.2, 0.01, 0.95, 0.06, -0.18)


def comparison(**changes: Any) -> Comparison:
    given: dict[str, Any] = {
        "pairs": 40,
        "measures": [PASSED, QUALITY, TOKENS],
        "cases": [BOOKED, BROKEN, FIXED, FEWER],
        "significant_cases": [CaseEvidence("travel/two_turns", 0.004, 0.008)],
        "general": GENERAL,
        "on_these_cases": "the pass rate fell: significantly worse",
        "in_general": "for cases like these a change of -10 points is estimated",
        "missing_candidate": 2,
        "next_steps": ["get the missing verdicts: proctor resume 9xkq2p --retry-errors"],
        "unlike": [
            RunDifference("judge", "the judge was a and is b"),
            RunDifference("agent", "the agent was x", expected=True),
        ],
        **changes,
    }
    return Comparison(
        ComparedRun("7f3k2c", "travel", 41, 5, cost=0.42), ComparedRun("9xkq2p", "travel", 41, 5, cost=0.39),
        Change.REGRESSION, "regression: the pass rate fell from 90 % to 80 %", 0.05, 0.95, **given,
    )  # fmt: skip


def written(found: Comparison, name: str) -> str:
    out = io.StringIO()
    WRITERS[name](found, out)
    return out.getvalue()


def test_the_known_part_of_an_unknown_cost_is_a_lower_limit() -> None:
    base = ComparedRun("a", "travel", 41, cost=1.1, known_cost=1.1)
    candidate = ComparedRun("b", "travel", 41, known_cost=0.3)
    text = written(replace(comparison(), base=base, candidate=candidate), "text")
    assert "COST  $1.10 -> at least $0.300\n" in text


def drawn(found: Comparison, *, width: int = 80, verbose: bool = False) -> str:
    out = io.StringIO()
    options = ReportOptions(width=width, color=False, symbols=True, verbose=verbose)
    draw_blocks(partial(comparison_blocks, found), out, options)
    return out.getvalue()


@pytest.mark.parametrize("width", [50, 60, 70, 80])
def test_numbers_are_whole_next_to_a_wide_cost(width: int) -> None:
    base = ComparedRun("a", "travel", 41, known_cost=0.00161)
    candidate = ComparedRun("b", "travel", 41, known_cost=0.00132)
    text = drawn(replace(comparison(), base=base, candidate=candidate), width=width)
    words = text[text.index("  metric") :].split()
    assert {"$0.0016", "$0.0013", "-0.010", "+0.030", "1,204", "-224", "-300", "-148"} <= {*words}
    assert "…" not in text


def test_tests_levels_and_corrections_are_verbose_and_in_json() -> None:
    assert METHODS in drawn(comparison(), width=200, verbose=True)
    assert "Fisher" not in drawn(comparison(), width=200)
    assert json.loads(written(comparison(), "json"))["tests"] == [
        line.strip() for line in METHODS.splitlines()
    ]
    general = replace(GENERAL, gates=True, confidence=0.96)
    with_general = json.loads(written(comparison(general=general), "json"))["tests"]
    assert [text.rpartition("; ")[2] for text in with_general[:2]] == [
        "1 % over all cases, with Tarone's and Holm's corrections",
        "2 %",
    ]


PLAIN = """\
BASELINE  travel  cases=41  runs=5  run=7f3k2c
CANDIDATE  travel  cases=41  runs=5  run=9xkq2p
WARNING  the judge was a and is b
DIFFERS  the agent was x
NOW_FAILS  travel/two_turns  5/5 -> 2/5  quality_v1=1.00 -> 0.40
    reason: covers is 4
MISSING  travel/refund  5/5 -> 3/5 (2 in error)
    reason: 429
NOW_PASSES  travel/hours  0/5 -> 5/5
    before: was not called
FEWER_PASS  travel/cancel  4/5 -> 3/5
    reason: now and then
ON_THESE_CASES  the pass rate fell: significantly worse
IN_GENERAL  for cases like these a change of -10 points is estimated
MISSING_VERDICTS  2 verdicts of the candidate are missing: the rates are of the 39 cases with all verdicts, and the intervals hold for every value of the missing ones
MEASURE  passed  90 % -> 80 %  -10 (96 %: -18 to -2)  p=0.01  pairs=39 of 40  worse
MEASURE  quality_v1  0.910 -> 0.920  +0.010 (98 %: -0.010 to +0.030)  p=0.4  pairs=40
MEASURE  token_usage_v1  1,204 -> 980  -224 (95 %: -300 to -148)  p=<0.001  pairs=40  better
COST  $0.420 -> $0.390
NEXT  get the missing verdicts: proctor resume 9xkq2p --retry-errors
OUTCOME  regression: the pass rate fell from 90 % to 80 %
"""

DRAWN = """
  baseline  travel · 41 cases × 5 · run 7f3k2c
  candidate travel · 41 cases × 5 · run 9xkq2p
  warning   the judge was a and is b
  differs   the agent was x

  ✕ regression: the pass rate fell from 90 % to 80 %

  1 case now fails
    two_turns  ●●●●● → ●●○○○   quality 1.00 → 0.40
        covers is 4

  1 case has missing verdicts
    refund  ●●●●● → ●●●!!
        429

  1 case now passes
    hours  ○○○○○ → ●●●●●
        before: was not called

  1 case passes fewer trials
    cancel  ●●●●○ → ●●●○○
        now and then

    On these cases: the pass rate fell: significantly worse
    In general: for cases like these a change of -10 points is estimated
    Missing: 2 verdicts of the candidate are missing: the rates are of the 39
    cases with all verdicts, and the intervals hold for every value of the
    missing ones

     metric         baseline  candidate  change  cases  confidence interval
  ✕  passed             90 %       80 %     -10  39/40  -18 to -2 (96 %)
     quality           0.910      0.920  +0.010     40  -0.010 to +0.030 (98 %)
  ✓  tokens a turn     1,204        980    -224     40  -300 to -148 (95 %)
     run cost         $0.420     $0.390

  next      get the missing verdicts: proctor resume 9xkq2p --retry-errors
    proctor compare 7f3k2c 9xkq2p travel/two_turns

"""


def test_plain_lines() -> None:
    assert written(comparison(), "text") == PLAIN


def test_drawn_at_80_columns() -> None:
    assert drawn(comparison()) == DRAWN


def test_pass_rate_has_the_denominators_of_its_trials() -> None:
    counted = replace(PASSED, missing=0, trials=(Trials(180, 20), Trials(160, 40)))
    found = comparison(measures=[counted])
    assert "MEASURE  passed  90 % (180 of 200) -> 80 % (160 of 200)  -10 (96 %" in written(found, "text")
    measure = json.loads(written(found, "json"))["measures"][0]
    assert measure["trials"] == [
        {"passed": 180, "failed": 20, "other": 0},
        {"passed": 160, "failed": 40, "other": 0},
    ]
    assert change_text(counted).startswith(
        "the pass rate of the trials fell from 90 % (180 of 200) to 80 % (160 of 200)"
    )
    assert change_text(PASSED).startswith("the mean pass rate of 39 cases fell from 90 % to 80 %, -10 points")


def test_too_few_cases_to_test() -> None:
    quality = replace(QUALITY, difference=-0.5, low=-0.5, high=0.5, p_value=1.0, pairs=2)
    found = comparison(measures=[replace(PASSED, pairs=2), quality])

    assert "MEASURE  quality_v1  0.910 -> 0.920  -0.500  pairs=2  too few cases to test" in written(
        found, "text"
    )
    row = next(
        line
        for line in drawn(found, width=100, verbose=True).splitlines()
        if line.startswith("     quality ")
    )
    assert row.split(maxsplit=5)[1:] == ["0.910", "0.920", "-0.500", "2", "too few cases to test"]
    assert (
        written(found, "text").count("too few") == 1
    )  # the trials of two cases show that the pass rate fell


def test_a_difference_without_an_interval_has_none_in_any_form() -> None:
    quality = replace(QUALITY, difference=-0.5, low=-0.5, high=0.5, p_value=1.0, pairs=1)
    same = replace(TOKENS, difference=-224.0, low=-224.0, high=-224.0)
    found = comparison(measures=[replace(PASSED, pairs=1, missing=0), quality, same], pairs=1)

    measures = {one["name"]: one for one in json.loads(written(found, "json"))["measures"]}
    assert [measures[name]["low"] for name in ("passed", "quality_v1", "token_usage_v1")] == [
        -0.18,
        None,
        None,
    ]
    assert "MEASURE  token_usage_v1  1,204 -> 980  -224  p=<0.001  pairs=40  better" in written(found, "text")
    for text in (drawn(found), comparison_html(found)):
        assert "to +0.5" not in text
        assert "-224 to" not in text.replace("−", "-")
    assert change_text(same) == "token_usage_v1 fell from 1,204 to 980 (-224)"


def test_a_notebook_has_the_table_of_the_measures() -> None:
    html = comparison_html(comparison())
    heads = re.findall("<th[^>]*>([^<]*)</th>", html)
    assert heads[-6:] == ["metric", "baseline", "candidate", "change", "cases", "confidence interval"]
    rows = [re.findall("<td[^>]*>([^<]*)</td>", row) for row in html.split("<tr>")]
    assert ["", "quality_v1", "0.910", "0.920", "+0.010", "40", "−0.010 to +0.030 (98 %)"] in rows
    assert "Metrics:" not in html


def test_a_notebook_has_every_next_step() -> None:
    html = comparison_html(
        comparison(next_steps=[f"step {number}: proctor eval bot.py" for number in range(9)])
    )
    assert html.count("<code>proctor eval bot.py</code>") == 9


@pytest.mark.parametrize(
    ("trials", "sentence"),
    [
        (("E",), "1 case is not listed: without its verdicts it is unknown whether it changed"),
        (("E", "EE"), "2 cases are not listed: without their verdicts it is unknown whether they changed"),
        ((), ""),
    ],
    ids=["one", "two", "none"],
)
def test_cases_in_error_in_both_runs_are_counted_apart_from_the_listed_ones(
    trials: tuple[str, ...], sentence: str
) -> None:
    """The kinds of the list, the unchanged and the unlisted cases are all cases together."""
    found = compared(cases(*trials, "P", "P", "P", "F"), cases(*trials, "E", "E", "P", "P"))
    plain = written(found, "text")
    assert len(found.changed(CaseChange.MISSING)) == plain.count("\nMISSING  ") == 2
    assert ("not listed" in plain) == bool(sentence)
    assert sentence in plain
    sides = comparison_side(found.base, None, None), comparison_side(found.candidate, None, None)
    page = comparison_page(found, sides, ({}, {}))
    assert len(page.cases) + page.same + page.without_verdicts == page.pairs == len(trials) + 4
    assert (page.same, page.without_verdicts) == (1, len(trials))
    assert page.missing[0].endswith(sentence)


def test_off_a_terminal_it_is_plain() -> None:
    out = io.StringIO()
    write_comparison(comparison(), out)
    assert out.getvalue() == PLAIN


def test_many_cases_are_counted_unless_all_are_asked_for() -> None:
    found = comparison(cases=[BOOKED] * 60)
    assert "… 10 more (-v: all)" in drawn(found)
    assert drawn(found, verbose=True).count("covers is 4") == 60
    assert "... 10 more (-v: all)" in written(found, "text")


@pytest.mark.parametrize(
    ("base", "candidate", "texts", "sentence"),
    [
        (0.9997, 1.0, ("0.9997", "1.0000", "+0.0003"), "rose from 0.9997 to 1"),
        (0.0, 0.00004, ("0.00000", "0.00004", "+0.00004"), "rose from 0 to 4e-05"),
        (0.5, 0.5, ("0.500", "0.500", "0.000"), "stayed at 0.5"),
    ],
)
def test_mean_that_is_not_all_or_none_does_not_read_so(
    base: float, candidate: float, texts: tuple[str, ...], sentence: str
) -> None:
    change = candidate - base
    one = Measured("quality_v1", base, candidate, change, change, change, 0.5, 40)
    assert numbers(one)[:3] == texts
    assert sentence in change_text(one)


def test_equal_rates_of_other_numbers_of_trials_stay_at_one_value() -> None:
    found = compared([case("a", "PPPF")], [case("a", "PPPFPPPF")])
    assert change_text(found.measure("passed"), has_interval=False) == (
        "the pass rate of the trials stayed at 75 % (3 of 4, now 6 of 8), 0 points"
    )


@pytest.mark.parametrize(
    ("difference", "direction"),
    [(-0.0002, "0.000"), (0.0002, "0.000"), (0.0, "0.000"), (-0.0006, "-0.001"), (0.01, "+0.010")],
)
def test_difference_that_rounds_to_zero_has_no_direction(difference: float, direction: str) -> None:
    one = Measured("quality_v1", 0.5, 0.5 + difference, difference, difference, difference, 0.5, 40)
    assert numbers(one)[2:] == (direction, direction, direction)


def test_markdown_has_what_a_reviewer_needs() -> None:
    assert written(comparison(), "md") == REVIEW


BREAK = "  "
"""A line break of Markdown."""
REVIEW = f"""\
### ✕ regression: the pass rate fell from 90 % to 80 %

`travel` 41 cases × 5 run `7f3k2c` cost $0.420 → `travel` 41 cases × 5 run `9xkq2p` cost $0.390

- ⚠ `the judge was a and is b`

| case | change | trials | reason |
| --- | --- | --- | --- |
| `travel/two_turns` | now fails | 5/5 → 2/5 | `covers is 4` |
| `travel/refund` | has missing verdicts | 5/5 → 3/5 (2 in error) | `429` |
| `travel/hours` | now passes | 0/5 → 5/5 | `before: was not called` |
| `travel/cancel` | fewer trials pass | 4/5 → 3/5 | `now and then` |

On these cases: the pass rate fell: significantly worse{BREAK}
In general: for cases like these a change of -10 points is estimated{BREAK}
Missing: 2 verdicts of the candidate are missing: the rates are of the 39 cases with all verdicts, and the intervals hold for every value of the missing ones{BREAK}
Metrics: tokens a turn 1,204 → 980 (better, 40 cases)

- get the missing verdicts: `proctor resume 9xkq2p --retry-errors`

"""


def test_metrics_of_a_review_are_separated_by_commas() -> None:
    rose = Measured("quality_v1", 0.5, 0.9, 0.4, 0.1, 0.7, 0.001, 40, verdict="better")
    usage = Measured("token_usage_v1", 1204.0, 980.0, -224.0, -300.0, -100.0, 0.001, 40, verdict="better")

    text = written(comparison(measures=[rose, usage]), "md")

    assert (
        "Metrics: `quality_v1` 0.500 → 0.900 (better, 40 cases), tokens a turn 1,204 → 980 (better, 40 cases)"
        in text
    )


@pytest.mark.parametrize(("steps", "left_out"), [(3, 55), (6, 58)])
def test_markdown_has_at_most_25_lines_and_every_next_step(steps: int, left_out: int) -> None:
    found = comparison(
        cases=[BOOKED] * 60,
        next_steps=[f"step {number}: proctor eval bot.py" for number in range(steps)],
        unlike=[RunDifference("judge", f"the judge was {number}") for number in range(9)],
    )
    text = written(found, "md")
    assert f"… and {left_out} more" in text
    assert len(text.splitlines()) <= 25
    assert all(f"step {number}:" in text for number in range(steps))
    assert all(f"step {number}:" in written(found, "github") for number in range(steps))


def test_github_annotates_the_outcome_and_the_cases_that_moved() -> None:
    assert written(comparison(), "github").splitlines() == [
        (
            "::error title=Proctor%3A travel compared with travel::regression: the pass rate fell from 90 %25 to 80 %25%0A"
            "On these cases: the pass rate fell: significantly worse%0A"
            "In general: for cases like these a change of -10 points is estimated%0A"
            "Missing: 2 verdicts of the candidate are missing: the rates are of the 39 cases with all verdicts, and the intervals hold for every value of the missing ones%0A"
            "next: get the missing verdicts: proctor resume 9xkq2p --retry-errors"
        ),
        "::warning title=Proctor%3A travel compared with travel::the judge was a and is b",
        "::error title=now fails%3A travel/two_turns::5/5 -> 2/5%0Acovers is 4",
        "::error title=has missing verdicts%3A travel/refund::5/5 -> 3/5 (2 in error)%0A429",
        "::notice title=now passes%3A travel/hours::0/5 -> 5/5%0Abefore: was not called",
        "::error title=fewer trials pass%3A travel/cancel::4/5 -> 3/5%0Anow and then",
    ]


@pytest.mark.parametrize(("count", "more"), [(60, "52 more cases"), (9, "1 more case")])
def test_github_has_at_most_ten_annotations_of_a_level(count: int, more: str) -> None:
    found = comparison(cases=[BOOKED] * count)
    found.outcome = Change.INCONCLUSIVE  # its level is that of the warnings
    lines = written(found, "github").splitlines()
    assert sum(line.startswith("::warning ") for line in lines) == 10
    assert lines[-1] == f"::notice title=Proctor::{more} moved"


def test_foreign_text_is_not_markup() -> None:
    case = ChangedCase(
        "set", HOSTILE, CaseChange.NOW_FAILS, Trials(1, 0), Trials(0, 1), HOSTILE, (1, 0), HOSTILE
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
    schema = next((one for one in schema.get("anyOf", ()) if "$ref" in one), schema)
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
        pytest.param("invocation_duration_v1", 2e-9, 3e-9, 1e-9, ("0.000", "0.000", "0.000"), id="tiny"),
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
