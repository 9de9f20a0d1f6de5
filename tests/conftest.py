"""What every test gets: no outside network, a clean environment, the shared material, and no silent skips."""

import gc
import os
import re
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Generator, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import pytest

from proctor.common.registry import METRICS

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
REQUIRE_ALL = "PROCTOR_REQUIRE_ALL"
OF_THE_TESTS = {REQUIRE_ALL, "PROCTOR_PAGE_DIR", "PROCTOR_SHOTS"}
"""Settings that are meant for the tests: skips fail; which built page a browser is shown; where its screenshots go."""

# Settings of the user who runs the tests must not change what the tests see.
_SCRUBBED = re.compile(
    r".*_API_KEY|.*_TOKEN|.*_SECRET|(GOOGLE|GEMINI|OPENAI|ANTHROPIC|AZURE|AWS|VERTEX|OTEL|PROCTOR)_.*"
    r"|NO_COLOR|FORCE_COLOR|CLICOLOR.*|COLUMNS|LINES|TTY_.*|.*_PROXY",
    re.IGNORECASE,
)

# A job in the background is born deaf to these, and hands that down to the processes that the tests stop by them.
for _number in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number is signal.SIGINT else signal.SIG_DFL)

hypothesis.settings.register_profile("nightly", deadline=None, print_blob=True, max_examples=300)
hypothesis.settings.register_profile("check", hypothesis.settings.get_profile("nightly"), max_examples=25)
hypothesis.settings.load_profile("check")


MEMORY = Path("/dev/shm")
LEAST_MEMORY = 4_000_000_000
"""Temporary files of tests are in memory where so many bytes are free: SQLite waits for a disk at each commit."""


class OutsideNetworkError(RuntimeError):
    """A test reached for the outside network. Not an OSError: code that survives a dead network must not hide it."""


def _is_local(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    return host in {None, "", "localhost", "::1", "0.0.0.0", "::"} or str(host).startswith("127.")


def _deny_outside_network(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.getaddrinfo":
        host = args[0]
    elif event in {"socket.connect", "socket.sendto"} and isinstance(args[1], tuple):
        host = args[1][0]
    else:  # another event, or an address that is a path (a unix socket)
        return
    if not _is_local(host):
        raise OutsideNetworkError(f"tests may only reach this machine, and {event} asked for {host!r}")


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until the tests are collected: nothing of them is garbage
    for name in [name for name in os.environ if _SCRUBBED.fullmatch(name) and name not in OF_THE_TESTS]:
        del os.environ[name]
    # Child processes have no audit hook: programs that honour a proxy find a closed port.
    os.environ["HTTP_PROXY"] = os.environ["HTTPS_PROXY"] = "http://127.0.0.1:9"
    os.environ["NO_PROXY"] = "localhost,127.0.0.1,::1"
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > LEAST_MEMORY:
        os.environ.setdefault("TMPDIR", str(MEMORY))
        tempfile.tempdir = None  # pytest has asked before
    sys.addaudithook(_deny_outside_network)


@pytest.fixture(scope="session", autouse=True)
def _processes_of_tests_are_light() -> None:
    """Processes that tests start write no bytecode; sessions among them leave out two plug-ins that take most of their time.

    Not earlier: the processes that run tests write the bytecode of what they import.
    """
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTEST_ADDOPTS"] = "-p no:schemathesis -p no:hypothesispytest"


@pytest.fixture(autouse=True)
def _process_is_restored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Restore what a test changed in this process: variables, import path, registered metrics, and modules of temporary folders."""
    environment, path, modules = dict(os.environ), list(sys.path), _imported_modules()
    metrics = set(METRICS.names())
    collecting = gc.get_threshold()
    yield
    for name in set(METRICS.names()) - metrics:
        METRICS.remove(name)
    gc.set_threshold(*collecting)  # the command line's own is for a process that ends soon
    for variable, _ in dict(os.environ).items() ^ environment.items():
        _restore_variable(variable, environment)
    sys.path[:] = path
    if (now := _imported_modules()) is not modules:
        temporary = str(tmp_path_factory.getbasetemp())
        for name in now - modules:
            if _folder_of(sys.modules[name]).startswith(temporary):
                del sys.modules[name]


def _imported_modules() -> frozenset[str]:
    return _names_of_modules(len(sys.modules), next(reversed(sys.modules)))


@lru_cache(maxsize=1)
def _names_of_modules(count: int, newest: str) -> frozenset[str]:
    """Return the names of all modules. These are thousands: they are listed again only if one was added or removed."""
    return frozenset(sys.modules)


def _restore_variable(name: str, environment: dict[str, str]) -> None:
    if name in environment:
        os.environ[name] = environment[name]
    else:
        os.environ.pop(name, None)


def _folder_of(module: ModuleType) -> str:
    try:
        return module.__file__ or next(iter(module.__path__), "")
    except AttributeError:  # built in, or something that only poses as a module
        return ""


# --- what takes a night -------------------------------------------------------------------------------------------------


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only `make nightly` runs, unless `-m` names it. `.ci/run` asks for `-m 'not benchmark'`."""
    if "nightly" in config.getoption("markexpr"):
        return
    left_out = _left_for_the_night(items)
    items[:] = [item for item in items if item not in left_out]
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how to run the tests of a file that the default leaves out: otherwise it looks as if all had passed."""
    left_out = len(terminalreporter.stats.get("deselected", ()))
    files = [argument for argument in config.args if ".py" in argument]
    if (
        left_out
        and files
        and "nightly" not in config.getoption("markexpr")
        and not config.getoption("keyword")
    ):
        terminalreporter.write_line(
            f"{left_out} tests of these files take long and were left out: add -m 'nightly or not benchmark' to run them"
        )


def _left_for_the_night(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the tests marked `nightly`, and of a table marked `nightly(check=N)` all but N rows, evenly spread."""
    left_out, tables = set(), defaultdict(list)
    for item in items:
        marks = [mark.kwargs.get("check", 0) for mark in item.iter_markers("nightly")]
        if marks and not min(marks):
            left_out.add(item)
        elif marks:
            tables[item.nodeid.partition("[")[0], min(marks)].append(item)
    for (_, count), rows in tables.items():
        kept = {number * len(rows) // count for number in range(count)}
        left_out |= {row for number, row in enumerate(rows) if number not in kept}
    return left_out


def pytest_collection_finish() -> None:
    gc.freeze()  # tests stay until the session ends: the collector need not visit them again and again
    gc.enable()


# --- nothing is skipped in silence -----------------------------------------------------------------------------------


def everything_is_required() -> bool:
    """True where the whole test run must run: `.ci/run` sets PROCTOR_REQUIRE_ALL=1."""
    return os.environ.get(REQUIRE_ALL) == "1"


def _skip_is_failure(report: pytest.TestReport | pytest.CollectReport) -> None:
    if everything_is_required() and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{REQUIRE_ALL}=1 allows no skip, and this was skipped: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _skip_is_failure(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _skip_is_failure(report)
    return report


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("needs_adk") and not _has_adk():
        pytest.skip("google-adk is not installed: pip install 'proctor[adk]'")


def _has_adk() -> bool:
    try:
        return find_spec("google.adk") is not None
    except ModuleNotFoundError:  # not even a `google` package
        return False


# --- material --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded behaviour and published files, next to the repository."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared (recorded behaviour, published eval files) is missing")
    return SHARED
