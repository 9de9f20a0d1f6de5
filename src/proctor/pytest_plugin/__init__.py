"""The pytest plugin: eval-set files as test files, cases as items; fixtures for tests in code.

pytest loads this module in every project where Proctor is installed. So it holds the hooks and nothing else: what they
do is imported when a session has something to do with Proctor. (PYTEST_DONT_REWRITE: nothing here asserts.)
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from proctor.pytest_plugin.options import add_options
from proctor.pytest_plugin.session_watch import (
    SESSION,
    close_watch,
    new_watch,
    watch_of,
    watch_session,
    watching,
)

if TYPE_CHECKING:
    from proctor.pytest_plugin.collection import EvalSetFile
    from proctor.pytest_plugin.fixtures import Evaluate

SET_SUFFIXES = (
    ".evalset.json", ".test.json", ".evalset.yaml", ".evalset.yml", ".test.yaml", ".test.yml", ".evalset.jsonl",
    ".test.jsonl",
)  # fmt: skip
"""Those of `proctor.files.eval_sets.selectors`; a test holds them together."""
_ANY_NAME = (".json", ".yaml", ".yml", ".jsonl")
_MARKER = (
    "proctor(*eval_sets, **options): eval sets for the fixtures `eval_case` and `evaluate`, and options of "
    "`proctor.evaluate` for this test, such as num_runs=5, min_pass_rate=0.8"
)
_PACKAGE = str(Path(__file__).parents[1])
_ORIGIN_DEPTH = 4
_ERRORS = "proctor.errors"  # loaded before anything of Proctor's can fail, or come to a result


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--proctor-…` and their twins in pytest's ini file."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and listen for what cases came to."""
    config.addinivalue_line("markers", _MARKER)
    config.pluginmanager.register(Told(), "proctor-told")


# --- eval sets as test files --------------------------------------------------------------------------------------------


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> EvalSetFile | None:
    """Take a file for an eval set: one that is named by its path, and where an agent is set any that is called so."""
    name = file_path.name.lower()
    if not name.endswith(_ANY_NAME):
        return None
    config, named = parent.config, parent.session.isinitpath(file_path)
    asked = bool(config.getoption("proctor_agent"))
    opted_in = asked or bool(config.getini("proctor_agent"))
    if name.endswith(SET_SUFFIXES):
        wanted = named or opted_in
    else:  # whose file that is cannot be told from its name
        wanted = named and asked
    if not wanted:
        return None
    from proctor.pytest_plugin.collection import collector_of

    return collector_of(file_path, parent, for_sure=opted_in or ".evalset." in name)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Hear of what the root `conftest.py` evaluates: it is loaded before the session begins."""
    watch_session(early_config)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Hear of what is evaluated between the tests of this session: at module level, and in fixtures."""
    watch_session(session.config)  # where a `conftest.py` names this plug-in, the hook above came too early
    if sys.get_coroutine_origin_tracking_depth() == 0:  # for the place of what is never awaited
        sys.set_coroutine_origin_tracking_depth(_ORIGIN_DEPTH)
        session.config.add_cleanup(lambda: sys.set_coroutine_origin_tracking_depth(0))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let go of what the session has opened; runs that end by that are this session's, too."""
    session.config.stash[SESSION].is_closed = True
    try:
        if project := sys.modules.get("proctor.pytest_plugin.project"):
            project.close(session.config)
    finally:
        close_watch(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist how cases are dealt out: which of them come to it together."""
    node.workerinput["proctor_dist"] = node.config.getoption("dist", "no")


# --- reports ------------------------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put what a case came to, or the evidence behind an assertion, into the report."""
    finish = getattr(item, "finish_report", None)
    if finish is not None:
        item.begin_report(call)  # type: ignore[attr-defined]  # of the same class
    report = yield
    if finish is not None:
        finish(report, call)
    elif (
        call.excinfo is not None and _ERRORS in sys.modules
    ) or "proctor.pytest_plugin.fixtures" in sys.modules:
        from proctor.pytest_plugin.evidence import explain

        explain(report, call, item)
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Show an undecided case as what it is; it counts as failed."""
    told = getattr(report, "proctor", None)
    if told is not None and report.failed and told["outcome"] == "inconclusive":
        return "failed", "I", "INCONCLUSIVE"
    return None


class Told:
    """What the reports of cases told; with pytest-xdist, here is where those of all workers come together."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.cases: list[dict[str, Any]] = []
        self.runs: list[str] = []
        self.unawaited: list[str] = []
        """Tests that began something of Proctor's and did not await it, so that nothing was run."""
        self.warned: list[object] = []
        """The coroutines of these."""
        self.inspections: list[tuple[str, int, str, bool]] = []
        """Results that did not pass and were made outside of test functions (see `SessionWatch.inspections`)."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a report tells of a case."""
        if (told := getattr(report, "proctor", None)) is not None:
            self.cases.append(told)
        self.runs += getattr(report, "proctor_runs", ())

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage, nodeid: str) -> None:
        """Hear of a coroutine of Proctor's that nobody awaited: such a test has tested nothing."""
        source = getattr(warning_message, "source", None)
        code = getattr(source, "cr_code", None)
        if code is not None and code.co_filename.startswith(_PACKAGE):
            self.warned.append(source)
            self.unawaited.append(f"{nodeid}: {code.co_name}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker of pytest-xdist has heard."""
        output = getattr(node, "workeroutput", {})
        self.unawaited += output.get("proctor_unawaited", [])
        self.inspections += [tuple(one) for one in output.get("proctor_inspections", [])]

    def uninspected(self) -> list[str]:
        """Return the results that no test inspected, in any worker: the same place makes one in each of them."""
        seen = {(place, number) for place, number, _, was_inspected in self.inspections if was_inspected}
        return list(
            dict.fromkeys(
                f"{text}, made at {place}"
                for place, number, text, _ in self.inspections
                if (place, number) not in seen
            )
        )

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Let no session be green in which something was not awaited, or a result was not inspected."""
        if session.config.option.collectonly:
            return
        if (watch := session.config.stash.get(SESSION, None)) is not None:
            self.inspections += watch.inspections()
        self.unawaited += _never_begun(self.warned)
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["proctor_unawaited"] = self.unawaited
            session.config.workeroutput["proctor_inspections"] = self.inspections
        elif (self.unawaited or self.uninspected()) and session.exitstatus in _GREEN:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        """Say what all cases came to, where the run is kept, and how to look closer."""
        if (
            self.cases
            or self.runs
            or self.unawaited
            or self.inspections
            or "proctor.pytest_plugin.batches" in sys.modules
        ):
            from proctor.pytest_plugin.summary import write

            write(self, terminalreporter, config)


_GREEN = frozenset({pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED})


def _never_begun(known: list[object]) -> list[str]:
    """Return Proctor's coroutines that are still held and were never awaited, with where they were made."""
    if _ERRORS not in sys.modules:
        return []
    import gc
    from types import CoroutineType

    made = [
        one
        for one in gc.get_objects()
        if type(one) is CoroutineType and one.cr_code.co_filename.startswith(_PACKAGE)
    ]
    found = []
    for one in (one for one in made if not any(one is each for each in known)):
        if one.cr_frame is not None and not one.cr_running and one.cr_frame.f_lasti <= 0:
            origin = next((f"{file}:{line}: " for file, line, _ in one.cr_origin or ()), "")
            found.append(f"{origin}{one.cr_code.co_name}")
            one.close()  # else the interpreter warns at its end, where nobody sees it
    return found


# --- tests in code ------------------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Hear of what a test's fixtures evaluate."""
    with watching(new_watch(item)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that would be green for what it did not await, look at or evaluate."""
    watch = watch_of(item)
    watch.is_running = True
    try:
        with watching(watch):
            outcome = yield
    except BaseException:
        _forgotten()  # said with this failure, or not the next test's fault
        watch.forget()
        raise
    finally:
        watch.is_running = False
    if found := _forgotten():
        pytest.fail("\n".join(found), pytrace=False)
    watch.check(item, is_over=True)
    return outcome


def _forgotten() -> list[str]:
    awaiting = sys.modules.get("proctor.compat.adk.sync_or_async")
    return awaiting.forgotten() if awaiting is not None else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for `eval_case` each case of the sets that its marker names."""
    if "eval_case" in metafunc.fixturenames:
        from proctor.pytest_plugin.fixtures import parametrize

        parametrize(metafunc)
    elif "evaluate" not in metafunc.fixturenames:
        named = [mark for mark in metafunc.definition.own_markers if mark.name == "proctor" and mark.args]
        if named:
            raise pytest.Collector.CollectError(
                f"{metafunc.definition.nodeid}: its marker names eval sets, and it asks for neither `eval_case` nor "
                "`evaluate`: nothing would be run"
            )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let `-k` find a test by the tags of its case."""
    callspec = getattr(item, "callspec", None)
    if callspec is not None and "eval_case" in callspec.params:
        from proctor.pytest_plugin.collection import tags_of

        item.extra_keyword_matches.update(tags_of(callspec.params["eval_case"]))


@pytest.fixture(scope="session")
def agent(request: pytest.FixtureRequest) -> Any:
    """The agent under test: `--proctor-agent`, `proctor_agent` of pytest's ini file, or `agent` in [tool.proctor].

    A fixture of this name in a test module or a conftest.py takes its place, also for `evaluate`.
    """
    from proctor.pytest_plugin.project import project_of

    return project_of(request.config).agent()


@pytest.fixture
def eval_case() -> Any:
    """Each case of the eval sets that the test's marker names: `@pytest.mark.proctor("cases.evalset.json")`."""
    from proctor.pytest_plugin.fixtures import not_marked

    return not_marked()


@pytest.fixture
def evaluate(request: pytest.FixtureRequest) -> Iterator[Evaluate]:
    """What runs eval sets or cases against the agent, as `proctor.evaluate` does, for `assert` to look at.

    A plain test calls it: `result = evaluate("cases.evalset.json")`, an async one awaits it: `await evaluate(…)`.
    """
    from proctor.pytest_plugin.fixtures import Evaluate

    yield Evaluate(request)
    watch_of(request.node).check(request.node)
