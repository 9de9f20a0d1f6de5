"""Data of a whole test session for its summary and its exit code, also from the workers of pytest-xdist."""

from __future__ import annotations

import gc
import sys
import warnings
from pathlib import Path
from types import CoroutineType
from typing import Protocol, TypedDict

import pytest

from proctor.pytest_plugin.session_watch import SESSION

_PACKAGE = str(Path(__file__).parents[1])
_GREEN = frozenset({pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED})


class CaseSummary(TypedDict):
    """The result of one case as JSON values, because it may cross a process boundary."""

    agent: str
    set: str
    case: str
    outcome: str
    flaky: bool
    run: str
    warnings: list[str]


class XdistWorker(Protocol):
    """A worker of pytest-xdist, as the controller sees it."""

    config: pytest.Config
    workerinput: dict[str, object]


class SessionReport:
    """Collects the reports of cases; with pytest-xdist the controller collects those of all workers."""

    def __init__(self) -> None:
        """Start without reports."""
        self.cases: list[CaseSummary] = []
        self.runs: list[str] = []
        self.unawaited: list[str] = []
        """Tests that created a coroutine of Proctor and did not await it, so that nothing was run."""
        self._warned: list[object] = []
        """The coroutines in the warnings about these tests."""
        self._inspections: list[tuple[str, int, str, bool]] = []
        """Results that did not pass and were created outside of test functions (see `SessionWatch.inspections`)."""

    def __bool__(self) -> bool:
        return bool(self.cases or self.runs or self.unawaited or self._inspections)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Store the data about a case from its report."""
        if (case := getattr(report, "proctor", None)) is not None:
            self.cases.append(case)
        self.runs += getattr(report, "proctor_runs", ())

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage, nodeid: str) -> None:
        """Record a warning about an unawaited coroutine of Proctor: such a test has tested nothing."""
        source = getattr(warning_message, "source", None)
        code = getattr(source, "cr_code", None)
        if code is not None and code.co_filename.startswith(_PACKAGE):
            self._warned.append(source)
            self.unawaited.append(f"{nodeid}: {code.co_name}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: XdistWorker) -> None:
        """Merge the data of a worker of pytest-xdist."""
        output = getattr(node, "workeroutput", {})
        self.unawaited += output.get("proctor_unawaited", [])
        self._inspections += [tuple(inspection) for inspection in output.get("proctor_inspections", [])]

    def uninspected(self) -> list[str]:
        """Return the results that no test inspected in any worker; a result is identified by the place of its creation."""
        inspected = {
            (place, number) for place, number, _, was_inspected in self._inspections if was_inspected
        }
        return list(
            dict.fromkeys(
                f"{text}, made at {place}"
                for place, number, text, _ in self._inspections
                if (place, number) not in inspected
            )
        )

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a session in which a coroutine was not awaited, or a result was not inspected."""
        if session.config.option.collectonly:
            return
        if (watch := session.config.stash.get(SESSION, None)) is not None:
            self._inspections += watch.inspections()
        self.unawaited += _unawaited_coroutines(self._warned)
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["proctor_unawaited"] = self.unawaited
            session.config.workeroutput["proctor_inspections"] = self._inspections
        elif (self.unawaited or self.uninspected()) and session.exitstatus in _GREEN:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _unawaited_coroutines(known: list[object]) -> list[str]:
    """Return Proctor's live coroutines that were never awaited, with the place of their creation, except the `known` ones."""
    if "proctor.errors" not in sys.modules:  # imported before any coroutine function of Proctor
        return []
    reported = {id(coroutine) for coroutine in known}
    unawaited = []
    for coroutine in gc.get_objects():
        if type(coroutine) is CoroutineType and id(coroutine) not in reported and _is_unawaited(coroutine):
            origin = next((f"{file}:{line}: " for file, line, _ in coroutine.cr_origin or ()), "")
            unawaited.append(f"{origin}{coroutine.cr_code.co_name}")
            coroutine.close()  # otherwise the interpreter warns at exit, after the summary
    return unawaited


def _is_unawaited(coroutine: CoroutineType[object, object, object]) -> bool:
    """Return whether a coroutine function of Proctor was called, and its coroutine has not started."""
    frame = coroutine.cr_frame
    has_not_started = frame is not None and not coroutine.cr_running and frame.f_lasti <= 0
    return has_not_started and coroutine.cr_code.co_filename.startswith(_PACKAGE)
