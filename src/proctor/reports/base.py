"""The contract of a report: runs in, text out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TextIO, cast

from proctor.common.error_text import safe_repr
from proctor.common.registry import REPORTS
from proctor.errors import SetupError
from proctor.schema.results.run_result import RunResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """How much a report shows, and on what stream. A report uses the options that apply to it."""

    verbose: bool = False
    """Every case turn by turn, every failing trial, nothing shortened."""
    only_different: bool = False
    """Of several agents: only the cases in which they differ."""
    exit_code: int | None = None
    """The exit code of the process, if it does not follow from the outcomes: the run was interrupted."""
    width: int | None = None
    """Columns; `None` asks the terminal."""
    color: bool | None = None
    """`None` asks the terminal and `NO_COLOR`. Without colour not one escape sequence is written."""
    symbols: bool | None = None
    """Signs beyond ASCII; `None` asks the stream's encoding."""
    note: str = ""
    """Why there are no runs although nothing failed: an empty shard, nothing left to run again."""
    picture: str = ""
    """The relative path of the picture that the same command writes (the report `svg`), for a report that can show it."""
    extras: object | None = None
    """More data of the store for reports that show it (`shows_extras`, formerly `looks_beside`): see `web.pages.bundle.extras`."""

    @property
    def beside(self) -> object | None:
        """Return `extras`, by its former name."""
        return self.extras


DEFAULTS = ReportOptions()


def wants_color(options: ReportOptions) -> bool:
    """Return whether colour may be used: an option decides, else `NO_COLOR`."""
    return options.color if options.color is not None else not os.environ.get("NO_COLOR")


def is_terminal(out: TextIO) -> bool:
    """Return whether `out` is a terminal that can do more than print lines."""
    return not out.closed and out.isatty() and os.environ.get("TERM", "").lower() not in {"dumb", "unknown"}


class Report(Protocol):
    """Writes the results of one run, or of several with one agent each, as text.

    A report is created without arguments and keeps no state between calls. Its text contains no escape sequences
    (`proctor.common.safe_text`) except its own.
    """

    needs_evidence: ClassVar[bool]
    """Whether it shows the evidence of every trial, so that a run must keep all of it (`keep_evidence="all"`)."""

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out`, piece by piece; `out` is left open."""
        ...


def load_report(name: str) -> Report:
    """Return the report called `name`: a built-in one or a plug-in's (a class, or an object that writes).

    Raises:
        UnknownNameError: there is none of that name.
        SetupError: the plug-in cannot be loaded, or has no `write`.
    """
    report = REPORTS.make(name) if isinstance(REPORTS.get(name), type) else REPORTS.get(name)
    if not callable(getattr(report, "write", None)):
        raise SetupError(
            f"{name!r} is not a report: expected a class or an object with `write(runs, out, *, options)`, "
            f"got {safe_repr(report)}"
        )
    return cast("Report", report)
