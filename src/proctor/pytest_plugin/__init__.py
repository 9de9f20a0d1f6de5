"""The pytest plug-in: eval-set files as test files, cases as items, and fixtures for tests in code.

pytest imports this module in every project in which Proctor is installed. Therefore it contains only the hooks; they import
their implementation when a session uses Proctor. (PYTEST_DONT_REWRITE: this module has no assert statements.)
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from proctor.pytest_plugin.options import add_options
from proctor.pytest_plugin.session_report import SessionReport, XdistWorker
from proctor.pytest_plugin.session_watch import (
    SESSION,
    Watch,
    active_watch,
    close_watch,
    new_watch,
    watch_of,
    watch_session,
)

if TYPE_CHECKING:
    from proctor.pytest_plugin.collection import EvalSetFile
    from proctor.pytest_plugin.fixtures import Evaluate

SET_SUFFIXES = (
    ".evalset.json", ".test.json", ".evalset.yaml", ".evalset.yml", ".test.yaml", ".test.yml", ".evalset.jsonl",
    ".test.jsonl",
)  # fmt: skip
"""Same as in `proctor.files.eval_sets.selectors`; a test compares the two."""
_ANY_NAME = (".json", ".yaml", ".yml", ".jsonl")
_MARKER = (
    "proctor(*eval_sets, **options): eval sets for the fixtures `eval_case` and `evaluate`, and options of "
    "`proctor.evaluate` for this test, such as num_runs=5, min_pass_rate=0.8"
)
_REPORT = pytest.StashKey[SessionReport]()
_ORIGIN_DEPTH = 4
_ERRORS = "proctor.errors"  # imported before any code of Proctor can fail or return a result


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--proctor-…` and the corresponding options of pytest's ini file."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and the collector of case reports."""
    config.addinivalue_line("markers", _MARKER)
    config.stash[_REPORT] = report = SessionReport()
    config.pluginmanager.register(report, "proctor-report")


# --- Eval sets as test files --------------------------------------------------------------------------------------------


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> EvalSetFile | None:
    """Collect a file as an eval set if it is named on the command line, or if an agent is set and its name matches."""
    name = file_path.name.lower()
    if not name.endswith(_ANY_NAME):
        return None
    config, is_named = parent.config, parent.session.isinitpath(file_path)
    agent_named = bool(config.getoption("proctor_agent"))
    opted_in = agent_named or bool(config.getini("proctor_agent"))
    if name.endswith(SET_SUFFIXES):
        is_set = is_named or opted_in
    else:  # other files may have the same suffix
        is_set = is_named and agent_named
    if not is_set:
        return None
    from proctor.pytest_plugin.collection import collector_of

    return collector_of(file_path, parent, certain=opted_in or ".evalset." in name)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move audits to the end, so that the cases of several files stay one batch."""
    if collection := sys.modules.get("proctor.pytest_plugin.collection"):
        items.sort(key=lambda item: isinstance(item, collection.AuditItem))


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Watch the evaluations of the root `conftest.py`, which pytest imports before the session begins."""
    watch_session(early_config)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Watch the evaluations outside of test functions: at module level, and in fixtures."""
    watch_session(session.config)  # a plug-in of a `conftest.py` misses the hook above
    if sys.get_coroutine_origin_tracking_depth() == 0:  # to report where an unawaited coroutine was created
        sys.set_coroutine_origin_tracking_depth(_ORIGIN_DEPTH)
        session.config.add_cleanup(lambda: sys.set_coroutine_origin_tracking_depth(0))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Close the resources of the session; runs that end during this step still belong to the session."""
    session.config.stash[SESSION].is_closed = True
    try:
        if project := sys.modules.get("proctor.pytest_plugin.project"):
            project.close(session.config)
    finally:
        close_watch(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: XdistWorker) -> None:
    """Send the distribution mode of pytest-xdist to a worker: it determines which cases run in one process."""
    node.workerinput["proctor_dist"] = node.config.getoption("dist", "no")


# --- Reports ------------------------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the result of a case, or the evidence behind a failed assertion, to the report."""
    finish = getattr(item, "finish_report", None)
    if finish is not None:
        item.begin_report(call)  # type: ignore[attr-defined]  # `CaseItem` has both
    report = yield
    if finish is not None:
        finish(report, call)
    elif (
        call.excinfo is not None and _ERRORS in sys.modules
    ) or "proctor.pytest_plugin.fixtures" in sys.modules:
        from proctor.pytest_plugin.failures import explain

        explain(report, call, item)
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Show an inconclusive case as such; it counts as failed."""
    case = getattr(report, "proctor", None)
    if case is not None and report.failed and case["outcome"] == "inconclusive":
        return "failed", "I", "INCONCLUSIVE"
    return None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the outcomes of the cases, where the run is stored, and the commands that show details."""
    report = config.stash[_REPORT]
    if report or "proctor.pytest_plugin.batches" in sys.modules:
        from proctor.pytest_plugin.summary import write_summary

        write_summary(report, terminalreporter, config)


# --- Tests in code ------------------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Watch the evaluations of a test's fixtures."""
    with active_watch(new_watch(item)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that passes only because it did not await, inspect or evaluate something."""
    watch = watch_of(item)
    watch.is_running = True
    try:
        with active_watch(watch):
            outcome = yield
    except BaseException:
        _unawaited_adk_calls()  # clear the list, so that the next test is not blamed
        watch.forget()
        raise
    finally:
        watch.is_running = False
    if unawaited := _unawaited_adk_calls():
        pytest.fail("\n".join(unawaited), pytrace=False)
    _check(watch, item, has_returned=True)
    return outcome


def _check(watch: Watch, item: pytest.Item, *, has_returned: bool) -> None:
    __tracebackhide__ = True
    if watch.needs_check(item, has_returned=has_returned):
        from proctor.pytest_plugin.uninspected_results import fail_if_ignored

        fail_if_ignored(watch, item, has_returned=has_returned)


def _unawaited_adk_calls() -> list[str]:
    module = sys.modules.get("proctor.compat.adk.sync_or_async")
    return module.unawaited_messages() if module is not None else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize a test that requests `eval_case` with each case of the sets that its marker names."""
    if "eval_case" in metafunc.fixturenames:
        from proctor.pytest_plugin.fixtures import parametrize

        parametrize(metafunc)
    elif "evaluate" not in metafunc.fixturenames:
        marks = [mark for mark in metafunc.definition.own_markers if mark.name == "proctor" and mark.args]
        if marks:
            raise pytest.Collector.CollectError(
                f"{metafunc.definition.nodeid}: its marker names eval sets, and it asks for neither `eval_case` nor "
                "`evaluate`: nothing would be run"
            )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Add the tags of the test's case to the keywords of `-k`."""
    callspec = getattr(item, "callspec", None)
    if callspec is not None and "eval_case" in callspec.params:
        from proctor.schema.format.case import tags_of

        item.extra_keyword_matches.update(tags_of(callspec.params["eval_case"]))


@pytest.fixture(scope="session")
def agent(request: pytest.FixtureRequest) -> object:
    """The agent under test: `--proctor-agent`, `proctor_agent` of pytest's ini file, or `agent` in [tool.proctor].

    A fixture of this name in a test module or a conftest.py takes its place, also for `evaluate`.
    """
    from proctor.pytest_plugin.project import project_of

    return project_of(request.config).agent()


@pytest.fixture
def eval_case() -> NoReturn:
    """Each case of the eval sets that the test's marker names: `@pytest.mark.proctor("cases.evalset.json")`."""
    from proctor.pytest_plugin.fixtures import not_marked

    not_marked()


@pytest.fixture
def evaluate(request: pytest.FixtureRequest) -> Iterator[Evaluate]:
    """What runs eval sets or cases against the agent, as `proctor.evaluate` does, for `assert`.

    A plain test calls it: `result = evaluate("cases.evalset.json")`, an async one awaits it: `await evaluate(…)`.
    """
    from proctor.pytest_plugin.fixtures import Evaluate

    yield Evaluate(request)
    _check(watch_of(request.node), request.node, has_returned=False)
