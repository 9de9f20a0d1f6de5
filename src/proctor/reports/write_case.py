"""Write one case of a run: with colours on a terminal, as plain lines elsewhere."""

from __future__ import annotations

from typing import TextIO

from proctor.common.safe_text import clean, encodable
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_data import CaseView
from proctor.reports.terminal.choose import is_terminal


def write_case(view: CaseView, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Write `view` in the form that suits `out`."""
    if is_terminal(out):
        from proctor.reports.terminal.case import draw_case

        draw_case(view, out, options=options)
        return
    from proctor.reports.plain.case import case_lines

    encoding = getattr(out, "encoding", None)
    out.writelines(encodable(clean(line), encoding) + "\n" for line in case_lines(view))
