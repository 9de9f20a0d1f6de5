"""The failure of a test as pytest prints it: the evidence of cases that did not pass, and configuration errors without a traceback."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from proctor.common.error_text import safe_str
from proctor.common.safe_text import clean, encodable
from proctor.errors import EvalError, SetupError
from proctor.pytest_plugin.project import STORED_RUNS
from proctor.pytest_plugin.session_report import CaseSummary
from proctor.reports.base import ReportOptions
from proctor.reports.content.case_digest import reason_of
from proctor.reports.content.case_words import WORDS
from proctor.schema.results.run_result import CaseResult, RunResult

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr

_WIDTH = 100


@dataclass(slots=True)
class ItemResult:
    """The result of the case of a test item."""

    case: CaseResult
    agent: str
    seconds: float = 0.0
    """Duration from the start of its first trial to its verdict."""
    run_id: str = ""
    warnings: list[str] = field(default_factory=list)

    def summary_data(self) -> CaseSummary:
        """Return the data for the summary of the session."""
        case = self.case
        return {
            "agent": clean(self.agent),
            "set": clean(case.eval_set_id),
            "case": clean(case.eval_id),
            "outcome": case.outcome.value,
            "flaky": case.flaky,
            "run": self.run_id,
            "warnings": [clean(warning) for warning in self.warnings],
        }

    def properties(self) -> list[tuple[str, object]]:
        """Return the properties for JUnit XML and other reports."""
        scored = [(name, metric.score) for name, metric in self.case.metrics.items() if metric.gate]
        return [
            ("proctor_outcome", self.case.outcome.value),
            *([("proctor_run", self.run_id)] if self.run_id else []),
            *((clean(name), round(score, 6)) for name, score in scored if score is not None),
        ]


class CaseFailedError(AssertionError):
    """A case did not pass: its outcome is failed or inconclusive."""

    def __init__(self, result: ItemResult | None) -> None:
        self.result = result
        super().__init__(line_of(result.case) if result is not None else "the case was not run")


class NoVerdictError(EvalError):
    """A case has no verdict: its outcome could not be computed, or the run did not reach it."""

    def __init__(self, result: ItemResult) -> None:
        self.result = result
        super().__init__(line_of(result.case))


def line_of(case: CaseResult) -> str:
    """Return the outcome of a case and its reason in one line."""
    reason = reason_of(case)
    return clean(f"{WORDS[case.outcome]}: {reason}" if reason else WORDS[case.outcome])


def failure_representation(
    excinfo: pytest.ExceptionInfo[BaseException], case: CaseResult, item: pytest.Item
) -> Any:
    """Return pytest's representation of a case that did not pass."""
    path, line, _ = item.reportinfo()
    plain = _plain(excinfo, case_text(case, item.config), clean(str(path)), (line or 0) + 1, line_of(case))
    terminal = _terminal(item.config)
    if terminal is None or not terminal.hasmarkup:
        return plain
    return _Coloured(plain, case_text(case, item.config, color=True))


def problem_representation(excinfo: pytest.ExceptionInfo[BaseException]) -> TerminalRepr:
    """Return pytest's representation of a configuration error: the problems, without a traceback."""
    text = clean(str(excinfo.value), lines=True)
    first = text.partition("\n")[0]
    return _plain(excinfo, text, "", 0, first)


def _plain(
    excinfo: pytest.ExceptionInfo[BaseException], text: str, path: str, line: int, message: str
) -> TerminalRepr:
    """Return `text` as a native traceback, the only representation that pytest-xdist transfers between processes."""
    native: Any = excinfo.getrepr(style="native")
    native.reprtraceback.reprentries[:] = native.reprtraceback.reprentries[:1]
    native.reprtraceback.reprentries[0].lines[:] = [text.rstrip("\n") + "\n"]
    if hasattr(native, "chain"):
        native.chain = [(native.reprtraceback, native.reprcrash, None)]
    if native.reprcrash is not None:
        native.reprcrash.path, native.reprcrash.lineno, native.reprcrash.message = path, line, message
    representation: TerminalRepr = native
    return representation


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
    from proctor.reports.terminal.run import draw_failure

    out = io.StringIO()
    draw_failure(case, out, options=report_options(config, color=color))
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


# --- Assertions on results --------------------------------------------------------------------------------------------------


_NAME = re.compile(r"[^\W\d]\w*")
_MAX_RESULTS = 3
"""Maximum number of results shown for one assertion."""


def explain(report: pytest.TestReport, call: pytest.CallInfo[None], item: pytest.Item) -> None:
    """Add to a test's report which runs it stored and, if it failed, the evidence of its results that did not pass."""
    if call.when == "call" and (runs := item.stash.get(STORED_RUNS, None)):
        report.proctor_runs = runs  # type: ignore[attr-defined]  # pytest serializes all attributes of a report
    excinfo = call.excinfo
    if excinfo is None:
        return
    if isinstance(excinfo.value, SetupError) and call.when == "setup":
        report.longrepr = problem_representation(excinfo)
        return
    add = getattr(report.longrepr, "addsection", None)
    if add is None or not isinstance(excinfo.value, AssertionError):
        return
    try:
        for result in failed_results(excinfo)[:_MAX_RESULTS]:
            add(f"proctor: {clean(_name(result))}", _text(result, item.config).strip("\n"))
    except Exception as error:  # noqa: BLE001 - an error here must not damage the report of the failed test
        add("proctor", f"the evidence cannot be shown: {type(error).__name__}: {clean(safe_str(error))}")


def failed_results(excinfo: pytest.ExceptionInfo[BaseException]) -> list[RunResult | CaseResult]:
    """Return the results that a failed assertion refers to and that did not pass; each case once.

    These are the results named in the statement, and the intermediate values of its parts; if results are none, all results
    among the local variables. The innermost function that has results determines them.
    """
    for entry in reversed(excinfo.traceback):
        results = list(_results_in(entry.frame.f_locals.items()))
        if results:
            has_source = entry.frame.code.fullsource is not None
            names = set(_NAME.findall(str(entry.statement))) if has_source else set[str]()
            named_results = [result for name, result in results if name in names or name.startswith("@py_")]
            return _each_once(named_results or [result for _, result in results])
    return []


def _results_in(names: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, RunResult | CaseResult]]:
    for name, value in names:
        # by the type itself: an object with a fake `__class__` may raise when it is accessed
        if issubclass(type(value), RunResult | CaseResult) and not value.passed:
            yield name, value


def _each_once(results: Iterable[RunResult | CaseResult]) -> list[RunResult | CaseResult]:
    unique = list({id(one): one for one in results}.values())
    within = {id(case) for one in unique if isinstance(one, RunResult) for case in one.cases}
    return [one for one in unique if id(one) not in within]


def _name(result: RunResult | CaseResult) -> str:
    return result.agent if isinstance(result, RunResult) else f"{result.eval_set_id}/{result.eval_id}"


def _text(result: RunResult | CaseResult, config: pytest.Config) -> str:
    if isinstance(result, CaseResult):
        return case_text(result, config)
    if len(result.cases) == 1 and result.failure is None:
        return case_text(result.cases[0], config)
    from proctor.reports.terminal.run import TerminalReport

    out = io.StringIO()
    TerminalReport().write([result], out, options=report_options(config))
    return out.getvalue()
