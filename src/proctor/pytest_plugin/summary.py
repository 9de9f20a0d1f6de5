"""The Proctor section of pytest's summary: outcomes, stored runs, and the commands that show details."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from proctor.common.safe_text import clean
from proctor.pytest_plugin.project import project_of
from proctor.reports.content.summary import sentence
from proctor.schema.results.run_result import CaseResult, RunResult
from proctor.schema.results.score import Outcome

if TYPE_CHECKING:
    import pytest

    from proctor.pytest_plugin import Told

_MOST_RUNS = 5


def write(told: Told, terminalreporter: Any, config: pytest.Config) -> None:
    """Write the outcomes of eval-set files, the runs that tests in code have stored, and unawaited or uninspected results.

    With `-q`, write the section only if something needs attention.
    """
    unfinished = project_of(config).unfinished
    lines = [*_unawaited(told), *_uninspected(told), *(_of_cases(told.cases) if told.cases else ())]
    lines += _kept(told.cases, told.runs, config)
    urgent = unfinished or told.unawaited or told.uninspected() or _attention(told.cases)
    if not lines or (config.getoption("verbose", default=0) < 0 and not urgent):
        return
    terminalreporter.section("proctor", sep="-")
    for line in lines:
        terminalreporter.write_line(line)


def _unawaited(told: Told) -> Iterator[str]:
    for test in dict.fromkeys(told.unawaited):
        yield f"error: {clean(test)} was not awaited, so that nothing was run; the session is not green for it"


def _uninspected(told: Told) -> Iterator[str]:
    for result in told.uninspected():
        yield f"error: no test inspected {clean(result)}; the session fails. Write `assert result` in a test"


def _attention(cases: Sequence[dict[str, Any]]) -> bool:
    return any(told["outcome"] != Outcome.PASSED or told["warnings"] for told in cases)


def _result(cases: Sequence[dict[str, Any]]) -> RunResult:
    """Return all cases as one result; if a case was re-run, its last outcome counts."""
    agents = ", ".join(dict.fromkeys(told["agent"] for told in cases))
    last = {(told["set"], told["case"]): told for told in cases}
    return RunResult(
        agents, [CaseResult(told["set"], told["case"], Outcome(told["outcome"])) for told in last.values()]
    )


def _of_cases(cases: Sequence[dict[str, Any]]) -> Iterator[str]:
    for warning in dict.fromkeys(warning for told in cases for warning in told["warnings"]):
        yield f"warning: {warning}"
    result, flaky = _result(cases), sum(told["flaky"] for told in cases)
    yield f"agent {result.agent} - {sentence(result, flaky=flaky)}"
    if not result.passed and not any(told["run"] for told in cases):
        yield "the evidence is not kept; with --proctor-store URL it is, for `proctor show`"


def _kept(cases: Sequence[dict[str, Any]], runs: Sequence[str], config: pytest.Config) -> Iterator[str]:
    from proctor.runs.setup.project_defaults import as_seen_from_here
    from proctor.runs.storage.queries import default_store, store_url
    from proctor.stores.urls import store_file

    project = project_of(config)
    kept = list(dict.fromkeys([*(told["run"] for told in cases if told["run"]), *runs, *project.unfinished]))
    if not kept:
        return
    url = project.store_url
    named = url and store_file(store_url(url)) != default_store()
    where = f" --store {shlex.quote(as_seen_from_here(url))}" if named else ""
    for run in kept[:_MOST_RUNS]:
        telling = (told["case"] for told in cases if told["run"] == run and told["outcome"] != Outcome.PASSED)
        case = next(telling, "")
        yield f"run {run} - proctor show {run}{f' {shlex.quote(case)}' if case else ''}{where}"
    for run in project.unfinished:
        yield f"run {run} has not come to its end - proctor resume {run}{where}"
    if len(kept) > _MOST_RUNS:
        yield f"... and {len(kept) - _MOST_RUNS} more runs - proctor runs{where}"
