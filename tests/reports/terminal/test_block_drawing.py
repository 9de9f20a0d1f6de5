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


@pytest.mark.parametrize(
    ("width", "drawn"), [pytest.param(80, WIDE, id="room"), pytest.param(50, NARROW, id="no room")]
)
def test_a_name_has_its_own_line_where_the_row_has_no_room(width: int, drawn: str) -> None:
    out = io.StringIO()

    draw_blocks(
        lambda _: [text_table(COLUMNS, ROWS)], out, ReportOptions(width=width, color=False, symbols=True)
    )

    assert textwrap.dedent(out.getvalue()).strip("\n") == textwrap.dedent(drawn).strip("\n")
