"""The contract of a report: runs in, text out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TextIO, cast

from proctor.common.quick_dataclasses import dataclass
from proctor.registry import REPORTS
from proctor.schema.results.run_result import RunResult

if TYPE_CHECKING:
    from proctor.schema.analysis.label import Labelled
    from proctor.schema.format.case import EvalCase
    from proctor.schema.format.invocation import Invocation
    from proctor.web.pages.base import PageModel
    from proctor.web.pages.runs.run import Against
    from proctor.web.pages.runs.run_parts import KeptRun


class Beside(Protocol):
    """What is known of runs beside their results, where they are kept."""

    def kept(self, run_id: str) -> KeptRun | None:
        """Return the run as its store has it; `None` where it is not there."""
        ...

    def rows(self, run_id: str) -> tuple[Sequence[bytes], Against | None]:
        """Return its cases as rows of JSON, held against the run before of its like, where there is one."""
        ...

    def case(self, run_id: str, position: int) -> EvalCase | None:
        """Return a case as it was run."""
        ...

    def labels(self, run_id: str) -> Sequence[Labelled]:
        """Return what people said of its answers."""
        ...

    def around(self, run_ids: Sequence[str]) -> Iterator[tuple[str, PageModel]]:
        """Yield pages of what lies around runs (how they compare, what was before), each behind its path in our own API."""
        ...

    def align(self, expected: Invocation, actual: Invocation) -> Sequence[Mapping[str, Any]]:
        """Put the calls of a turn beside the expected ones."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """How much is shown, and on what; a report takes from it what it can use."""

    verbose: bool = False
    """Every case turn by turn, every failing trial, nothing shortened."""
    only_different: bool = False
    """Of several agents: only the cases in which they differ."""
    exit_code: int | None = None
    """The code that the process ends with, where that is not what the outcomes say (it was interrupted)."""
    width: int | None = None
    """Columns; `None` asks the terminal."""
    color: bool | None = None
    """`None` asks the terminal and `NO_COLOR`. Without colour not one escape sequence is written."""
    symbols: bool | None = None
    """Signs beyond ASCII; `None` asks the stream's encoding."""
    note: str = ""
    """Why there are no runs to write, where nothing is wrong: an empty shard, nothing left to run again."""
    beside: Beside | None = None
    """For reports that look for more than a result says (`looks_beside`); `None` where nothing was kept."""


DEFAULTS = ReportOptions()


class Report(Protocol):
    """Writes what came of one run, or of several with one agent each, as text.

    A report is made without arguments, keeps nothing between calls, and writes nothing that a terminal would obey
    (`proctor.common.safe_text`) but what it draws itself.
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
        SetupError: the plug-in cannot be loaded.
    """
    plugin = REPORTS.get(name)
    return cast("Report", plugin() if isinstance(plugin, type) else plugin)
