"""Whether colour may be used."""

from __future__ import annotations

import os

from proctor.reports.base import ReportOptions


def wants_color(options: ReportOptions) -> bool:
    """Tell whether colour may be used at all: an option decides, else `NO_COLOR`."""
    return options.color if options.color is not None else not os.environ.get("NO_COLOR")
