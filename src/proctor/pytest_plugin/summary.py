"""The Proctor section of pytest's summary: outcomes, stored runs, and the commands that show details."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import pytest

from proctor.common.safe_text import clean
from proctor.pytest_plugin.project import project_of
from proctor.pytest_plugin.session_report import CaseSummary, SessionReport
from proctor.reports.content.summary import verdict_sentence
from proctor.runs.storage.open import default_store, store_url, url_for_commands
from proctor.schema.results.run_result import CaseResult, RunResult
from proctor.schema.results.score import Outcome
from proctor.stores.open import store_file

_MAX_RUNS = 5


def write_summary(report: SessionReport, terminal: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Write the outcomes of eval-set files, the runs that tests in code have stored, and unawaited or uninspected results.

    With `-q`, write the section only if something needs attention.
    """
    errors = [*_errors(report)]
    lines = [*errors, *(_case_lines(report.cases) if report.cases else ()), *_stored_runs(report, config)]
    needs_attention = errors or project_of(config).unfinished or not all(map(_is_quiet, report.cases))
    if not lines or (config.getoption("verbose", default=0) < 0 and not needs_attention):
        return
    terminal.section("proctor", sep="-")
    for line in lines:
        terminal.write_line(line)


def _errors(report: SessionReport) -> Iterator[str]:
    for test in dict.fromkeys(report.unawaited):
        yield f"error: {clean(test)} was not awaited, so that nothing was run; the session is not green for it"
    for result in report.uninspected():
        yield f"error: no test inspected {clean(result)}; the session fails. Write `assert result` in a test"


def _is_quiet(case: CaseSummary) -> bool:
    return case["outcome"] == Outcome.PASSED and not case["warnings"]


def _result(cases: Sequence[CaseSummary]) -> RunResult:
    """Return all cases as one result; if a case was re-run, its last outcome counts."""
    agents = ", ".join(dict.fromkeys(case["agent"] for case in cases))
    last = {(case["set"], case["case"]): case for case in cases}
    return RunResult(
        agents, [CaseResult(case["set"], case["case"], Outcome(case["outcome"])) for case in last.values()]
    )


def _case_lines(cases: Sequence[CaseSummary]) -> Iterator[str]:
    for warning in dict.fromkeys(warning for case in cases for warning in case["warnings"]):
        yield f"warning: {warning}"
    result, flaky = _result(cases), sum(case["flaky"] for case in cases)
    yield f"agent {result.agent} - {verdict_sentence(result, flaky=flaky)}"
    if not result.passed and not any(case["run"] for case in cases):
        yield "the evidence is not stored; with --proctor-store URL it is, for `proctor show`"


def _stored_runs(report: SessionReport, config: pytest.Config) -> Iterator[str]:
    project, cases = project_of(config), report.cases
    of_cases = (case["run"] for case in cases if case["run"])
    runs = list(dict.fromkeys([*of_cases, *report.runs, *project.unfinished]))
    if not runs:
        return
    url = project.store_url
    is_default = not url or store_file(store_url(url)) == default_store()
    store = "" if is_default else f" --store {shlex.quote(url_for_commands(url))}"
    for run in runs[:_MAX_RUNS]:
        failed = (case["case"] for case in cases if case["run"] == run and case["outcome"] != Outcome.PASSED)
        case = next(failed, "")
        yield f"run {run} - proctor show {run}{f' {shlex.quote(case)}' if case else ''}{store}"
    for run in project.unfinished:
        yield f"run {run} is not finished - proctor resume {run}{store}"
    if len(runs) > _MAX_RUNS:
        yield f"... and {len(runs) - _MAX_RUNS} more runs - proctor runs{store}"
