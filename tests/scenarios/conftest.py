"""No process outlives its test, and all of them listen."""

import signal
from collections.abc import Iterator

import pytest

from tests.scenarios.kill.crash_runs import Process


@pytest.fixture(scope="session", autouse=True)
def _signals_are_heard() -> Iterator[None]:
    """What a shell started in the background (`&`, nohup) ignores Ctrl-C or SIGHUP, and so would its children."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP)}
    ignored = [number for number, handler in before.items() if handler is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, lambda *_: None)  # as before here; and what is started has the system's way
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture(autouse=True)
def _nothing_is_left_running() -> Iterator[None]:
    yield
    for process in [*Process.running]:
        process.kill()
        process.wait()
