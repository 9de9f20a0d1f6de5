"""Tables of text blocks on a page that is too narrow for their rows."""

import io
import textwrap

import pytest

from proctor.reports.base import ReportOptions
from proctor.reports.content.text_blocks import Column, text_table
from proctor.reports.terminal.block_drawing import draw_blocks

NAME = "rubric_based_final_response_quality"
ROWS = [["✕", NAME, "0.910", "-0.010 to +0.030"], ["", "passed", "90.0 %", "-18.0 to -2.0"]]
COLUMNS = [Column(), Column(wraps=True, is_name=True), Column("base", right=True), Column("interval")]

WIDE = f"""\
                                            base  interval
  ✕  {NAME}   0.910  -0.010 to +0.030
     passed                               90.0 %  -18.0 to -2.0
"""
NARROW = f"""\
      base  interval
  ✕ {NAME}
     0.910  -0.010 to +0.030
  passed
    90.0 %  -18.0 to -2.0
"""


def test_a_very_long_name_has_several_lines_and_the_other_rows_one() -> None:
    out = io.StringIO()
    rows = [["failed", "x" * 125, "0.50"], ["passed", "short", "1.00"]]
    columns = [Column(), Column("case", wraps=True, is_name=True), Column("score", right=True)]

    draw_blocks(lambda _: [text_table(columns, rows)], out, ReportOptions(width=60, color=False))

    lines = out.getvalue().splitlines()
    name = lines[1].split()[1]
    assert lines[1].split() == ["failed", name, "0.50"]
    assert 28 <= len(name) < 60
    assert lines[-1].split() == ["passed", "short", "1.00"]


@pytest.mark.parametrize(
    ("width", "drawn"), [pytest.param(80, WIDE, id="room"), pytest.param(50, NARROW, id="no room")]
)
def test_a_name_has_its_own_line_where_the_row_has_no_room(width: int, drawn: str) -> None:
    out = io.StringIO()

    draw_blocks(
        lambda _: [text_table(COLUMNS, ROWS)], out, ReportOptions(width=width, color=False, symbols=True)
    )

    assert textwrap.dedent(out.getvalue()).strip("\n") == textwrap.dedent(drawn).strip("\n")
