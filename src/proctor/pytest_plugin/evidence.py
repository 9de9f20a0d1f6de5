"""Add the evidence behind a failed assertion on a result to the report; show configuration errors without a traceback."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from proctor.common.error_text import safe_str
from proctor.common.safe_text import clean
from proctor.errors import SetupError
from proctor.pytest_plugin.failures import case_text, report_options, shown_problem
from proctor.pytest_plugin.project import KEPT
from proctor.schema.results.run_result import CaseResult, RunResult

_NAME = re.compile(r"[^\W\d]\w*")
_MOST = 3
"""Maximum number of results shown for one assertion."""


def explain(report: pytest.TestReport, call: pytest.CallInfo[None], item: pytest.Item) -> None:
    """Add to a test's report which runs it stored and, if it failed, the evidence of its results that did not pass."""
    if call.when == "call" and (runs := item.stash.get(KEPT, None)):
        report.proctor_runs = runs  # type: ignore[attr-defined]  # pytest serializes all attributes of a report
    excinfo = call.excinfo
    if excinfo is None:
        return
    if isinstance(excinfo.value, SetupError) and call.when == "setup":
        report.longrepr = shown_problem(excinfo)
        return
    add = getattr(report.longrepr, "addsection", None)
    if add is None or not isinstance(excinfo.value, AssertionError):
        return
    try:
        for found in results_behind(excinfo)[:_MOST]:
            add(f"proctor: {clean(_name(found))}", _text(found, item.config).strip("\n"))
    except Exception as error:  # noqa: BLE001 - an error here must not damage the report of the failed test
        add("proctor", f"the evidence cannot be shown: {type(error).__name__}: {clean(safe_str(error))}")


def results_behind(excinfo: pytest.ExceptionInfo[BaseException]) -> list[RunResult | CaseResult]:
    """Return the results that a failed assertion refers to and that did not pass; each case once.

    These are the results named in the statement, and the intermediate values of its parts; if there are none, all results
    among the local variables. The innermost function that has results determines them.
    """
    for entry in reversed(excinfo.traceback):
        there = list(_results_in(entry.frame.f_locals.items()))
        if there:
            has_source = entry.frame.code.fullsource is not None
            names = set(_NAME.findall(str(entry.statement))) if has_source else set[str]()
            named = [found for name, found in there if name in names or name.startswith("@py_")]
            return _each_once(named or [found for _, found in there])
    return []


def _results_in(names: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, RunResult | CaseResult]]:
    for name, value in names:
        # by the type itself: an object with a fake `__class__` may raise when it is accessed
        if issubclass(type(value), RunResult | CaseResult) and not value.passed:
            yield name, value


def _each_once(found: Iterable[RunResult | CaseResult]) -> list[RunResult | CaseResult]:
    unique = list({id(one): one for one in found}.values())
    within = {id(case) for one in unique if isinstance(one, RunResult) for case in one.cases}
    return [one for one in unique if id(one) not in within]


def _name(found: RunResult | CaseResult) -> str:
    return found.agent if isinstance(found, RunResult) else f"{found.eval_set_id}/{found.eval_id}"


def _text(found: RunResult | CaseResult, config: pytest.Config) -> str:
    if isinstance(found, CaseResult):
        return case_text(found, config)
    if len(found.cases) == 1 and found.failure is None:
        return case_text(found.cases[0], config)
    from proctor.reports.terminal.run import TerminalReport

    out = io.StringIO()
    TerminalReport().write([found], out, options=report_options(config))
    return out.getvalue()
