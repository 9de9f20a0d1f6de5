"""Faults 37 to 39 as one property: for any text, no report contains control sequences of a terminal."""

import csv
import io
import unicodedata

import pytest
from hypothesis import given, settings, strategies as st

from proctor.common.registry import REPORTS
from proctor.reports.base import ReportOptions, load_report
from proctor.reports.terminal.run import TerminalReport
from proctor.schema.results.run_result import RunResult
from tests.reports.hostile_texts import everywhere
from tests.reports.terminal.test_hostile import bad_characters

ANY = st.text(st.characters(exclude_categories=[]), max_size=12)
NASTY = st.text(
    st.sampled_from(
        "\x1b\x9b\x07\r\n\t\0\x7f\x85\u2028\u202e\u2066\ufeff\ufffe\uffff\ud800\udc00=+-@'\"<>&|`:%,]["
    ),
    max_size=12,
)
TEXT = ANY | NASTY
ALLOWED = {"csv": "\n\t", "csv-raw": "\n\t", "junit": "\n\t"}
NAMES = sorted({*REPORTS.names()} - {"adk", "html"})  # one takes runs of one set; the other is test_html's


def written(name: str, result: RunResult) -> str:
    out = io.StringIO(newline="")
    load_report(name).write([result], out, options=ReportOptions(width=100))
    return out.getvalue()


@pytest.mark.slow
@pytest.mark.nightly(check=4)
@pytest.mark.parametrize("name", NAMES)
@given(text=TEXT)
@settings(max_examples=40)
def test_no_report_holds_what_a_terminal_would_obey(name: str, text: str) -> None:
    assert bad_characters(written(name, everywhere(text)), allowed=ALLOWED.get(name, "\n")) == set()


@pytest.mark.slow
@given(text=TEXT)
def test_nor_does_the_terminal_without_colours(text: str) -> None:
    out = io.StringIO()
    options = ReportOptions(width=100, color=False, verbose=True)
    TerminalReport().write([everywhere(text)], out, options=options)
    assert bad_characters(out.getvalue()) == set()


@given(text=TEXT)
def test_no_cell_begins_a_formula(text: str) -> None:
    for row in csv.reader(io.StringIO(written("csv", everywhere(text)), newline="")):
        for cell in row:
            folded = unicodedata.normalize("NFKC", cell).lstrip('"\u201c\u201d\u2018\u2019`').lstrip()
            assert folded[:1] not in set("=+-@\u2212") or cell.startswith("'")
