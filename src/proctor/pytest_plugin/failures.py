"""Representation of a case that did not pass in pytest: the evidence of the terminal report, and a one-line reason."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

from proctor.common.safe_text import clean, encodable
from proctor.errors import EvalError
from proctor.reports.base import ReportOptions
from proctor.reports.content.symbols import WORDS
from proctor.reports.evidence.case_evidence import reason_of
from proctor.schema.results.run_result import CaseResult

if TYPE_CHECKING:
    import pytest

    from proctor.pytest_plugin.batches import Ended
    from proctor.pytest_plugin.collection import CaseItem


_WIDTH = 100


class CaseFailedError(AssertionError):
    """A case did not pass: its outcome is failed or inconclusive."""

    def __init__(self, ended: Ended | None) -> None:
        self.ended = ended
        super().__init__(line_of(ended.case) if ended is not None else "the case was not run")


class NoVerdictError(EvalError):
    """A case has no verdict: its outcome could not be computed, or the run did not reach it."""

    def __init__(self, ended: Ended) -> None:
        self.ended = ended
        super().__init__(line_of(ended.case))


def line_of(case: CaseResult) -> str:
    """Return the outcome of a case and its reason in one line."""
    reason = reason_of(case)
    return clean(f"{WORDS[case.outcome]}: {reason}" if reason else WORDS[case.outcome])


def shown_failure(excinfo: pytest.ExceptionInfo[BaseException], case: CaseResult, item: CaseItem) -> Any:
    """Return pytest's representation of a case that did not pass."""
    path, line, _ = item.reportinfo()
    plain = _plain(excinfo, case_text(case, item.config), clean(str(path)), (line or 0) + 1, line_of(case))
    terminal = _terminal(item.config)
    if terminal is None or not terminal.hasmarkup:
        return plain
    return _Coloured(plain, case_text(case, item.config, color=True))


def shown_problem(excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
    """Return pytest's representation of a configuration error: the problems, without a traceback."""
    text = clean(str(excinfo.value), lines=True)
    first = text.partition("\n")[0]
    return _plain(excinfo, text, "", 0, first)


def _plain(excinfo: pytest.ExceptionInfo[BaseException], text: str, path: str, line: int, said: str) -> Any:
    """Return `text` as a native traceback, the only representation that pytest-xdist transfers between processes."""
    shown: Any = excinfo.getrepr(style="native")
    shown.reprtraceback.reprentries[:] = shown.reprtraceback.reprentries[:1]
    shown.reprtraceback.reprentries[0].lines[:] = [text.rstrip("\n") + "\n"]
    if hasattr(shown, "chain"):
        shown.chain = [(shown.reprtraceback, shown.reprcrash, None)]
    if shown.reprcrash is not None:
        shown.reprcrash.path, shown.reprcrash.lineno, shown.reprcrash.message = path, line, said
    return shown


class _Coloured:
    """The same text with colours on a terminal that supports them, otherwise without."""

    def __init__(self, plain: Any, colored: str) -> None:
        self._plain = plain
        self._colored = colored

    def toterminal(self, tw: Any) -> None:
        """Write to pytest's terminal writer."""
        if tw.hasmarkup:
            tw.write(self._colored)
        else:
            self._plain.toterminal(tw)

    def __str__(self) -> str:
        return str(self._plain)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)


# --- Texts ---------------------------------------------------------------------------------------------------------------


def case_text(case: CaseResult, config: pytest.Config, *, color: bool = False) -> str:
    """Return a case with its evidence, as in the terminal report."""
    from proctor.reports.terminal.case_table import draw_failure

    out = io.StringIO()
    draw_failure(case, out, options=report_options(config, color=color))
    if not out.getvalue():  # a case that was not reached has no evidence
        out.write(f"  {line_of(case)}\n")
    if case.place:
        out.write(f"{clean(case.place)}: {WORDS[case.outcome]}\n")
    return encodable(out.getvalue(), _encoding())


def report_options(config: pytest.Config, *, color: bool = False) -> ReportOptions:
    """Return the level of detail and the width of a report, from pytest's own options."""
    from proctor.reports.content.symbols import ASCII, marks_for

    terminal = _terminal(config)
    return ReportOptions(
        verbose=config.getoption("verbose", default=0) > 1,
        width=terminal.fullwidth if terminal is not None else _WIDTH,
        color=color,
        symbols=marks_for(_encoding()) is not ASCII,
    )


def _encoding() -> str:
    return getattr(sys.__stdout__, "encoding", None) or "utf-8"


def _terminal(config: pytest.Config) -> Any:
    """Return pytest's terminal writer, or `None` without a terminal (`-p no:terminal`, a worker of pytest-xdist)."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return config.get_terminal_writer() if reporter is not None else None
