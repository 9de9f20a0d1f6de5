"""The parts of agents in other processes by themselves: lines, last words, sizes, what a trial leaves behind, exceptions."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor import errors
from proctor.agents import json_protocol
from proctor.agents.process.line_reader import Lines, LineTooLongError, Tail
from proctor.agents.process.worker import MOST_LEFT, ProcessState
from proctor.agents.process.worker_agent import error_data, event_data, exception_from
from proctor.common.option_kinds import read_size, size_text
from proctor.engine.trial.failure_attribution import failure_from
from proctor.schema.evidence.event import Event


class _Transport(asyncio.ReadTransport):
    """Notes whether it is to wait."""

    paused = closed = False

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def close(self) -> None:
        self.closed = True


def _read(lines: Lines) -> list[bytes]:
    async def read() -> list[bytes]:
        found = []
        while (line := await lines.next()) is not None:
            found.append(line)
        return found

    return asyncio.run(read())


@given(
    st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line), max_size=20), st.integers(1, 7)
)
def test_lines_are_whole_however_they_come(written: list[bytes], size: int) -> None:
    lines, data = Lines(), b"".join(line + b"\n" for line in written) + b"half a line"
    for start in range(0, len(data), size):
        lines.data_received(data[start : start + size])
    lines.connection_lost(None)
    assert _read(lines) == [line for line in written if line.strip()]


def test_a_line_without_end_is_refused_and_no_more_is_read() -> None:
    lines, transport = Lines(most=10), _Transport()
    lines.connection_made(transport)
    lines.data_received(b"first\n" + b"x" * 11)
    assert transport.paused
    assert asyncio.run(lines.next()) == b"first"
    with pytest.raises(LineTooLongError) as caught:
        asyncio.run(lines.next())
    assert caught.value.beginning == b"x" * 11


def test_a_writer_that_is_faster_than_its_reader_waits() -> None:
    lines, transport = Lines(), _Transport()
    lines.connection_made(transport)
    for _ in range(20):
        lines.data_received(b"x" * 100_000 + b"\n")
    assert transport.paused
    for _ in range(10):
        asyncio.run(lines.next())
    assert not transport.paused


def test_the_last_words_are_the_last_lines_and_few() -> None:
    async def last_lines() -> str:
        tail = Tail()
        tail.data_received(b"forgotten")
        tail.forget()
        for number in range(10_000):
            tail.data_received(f"line {number}\n".encode())
        return tail.text()

    assert asyncio.run(last_lines()) == "\n".join(f"line {number}" for number in range(9_990, 10_000))


@pytest.mark.parametrize(
    ("text", "size"),
    [("64MB", 2**26), ("2GB", 2**31), ("2 gib", 2**31), ("1.5G", 3 * 2**29), (2**30, 2**30), ("1TB", 2**40),
     ("63MB", None), ("", None), ("GB", None), ("-1GB", None), ("2PB", None), (True, None), (None, None), (2.5e9, None)],
)  # fmt: skip
def test_sizes_are_read_as_people_write_them(text: object, size: int | None) -> None:
    assert read_size(text) == size


def test_sizes_have_the_usual_units() -> None:
    assert [size_text(size) for size in (2**31, 2**28, 3 * 2**29, 2**40, 10)] == [
        "2 GB",
        "256 MB",
        "1.5 GB",
        "1 TB",
        "10 bytes",
    ]


# --- leftovers ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def restored() -> Iterator[None]:
    """Keep this process unchanged for any result of the test."""
    folder, mask, handler = Path.cwd(), os.umask(0o022), signal.getsignal(signal.SIGUSR1)
    os.umask(mask)
    yield
    os.chdir(folder)
    os.umask(mask)
    signal.signal(signal.SIGUSR1, handler)


def _change_folder(folder: Path) -> None:
    os.chdir(folder)


def _change_environment(_: Path) -> None:
    os.environ["LEFT_BEHIND"] = "1"


def _change_mask(_: Path) -> None:
    os.umask(0o777)


def _change_signal(_: Path) -> None:
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)


def _state() -> tuple[Any, ...]:
    mask = os.umask(0o022)
    os.umask(mask)
    return Path.cwd(), os.environ.get("LEFT_BEHIND"), mask, signal.getsignal(signal.SIGUSR1)


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("change", [_change_folder, _change_environment, _change_mask, _change_signal])
def test_what_a_trial_changes_is_put_right(change: Callable[[Path], None], tmp_path: Path) -> None:
    async def look() -> None:
        before, surroundings = _state(), ProcessState.now()
        change(tmp_path)
        assert _state() != before
        assert surroundings.restore()
        assert _state() == before

    asyncio.run(look())


@pytest.mark.usefixtures("restored")
def test_a_folder_that_is_gone_cannot_be_put_right(tmp_path: Path) -> None:
    async def look() -> None:
        (tmp_path / "gone").mkdir()
        os.chdir(tmp_path / "gone")
        surroundings = ProcessState.now()
        os.chdir(tmp_path)
        (tmp_path / "gone").rmdir()
        assert not surroundings.restore()

    asyncio.run(look())


@pytest.mark.parametrize(("count", "is_clean"), [(MOST_LEFT, True), (MOST_LEFT + 1, False)])
def test_a_few_tasks_may_stay_and_many_may_not(count: int, is_clean: bool) -> None:
    async def look() -> bool:
        surroundings = ProcessState.now()
        left = [asyncio.create_task(asyncio.sleep(9)) for _ in range(count)]
        try:
            return surroundings.restore()
        finally:
            for task in left:
                task.cancel()

    assert asyncio.run(look()) is is_clean


# --- events and exceptions over the wire ---------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@given(st.text(), st.dictionaries(st.text(), JSON, max_size=4), st.text())
def test_event_of_a_worker_is_read_back_unchanged(text: str, args: dict[str, Any], name: str) -> None:
    import json

    for event in (
        Event.said(text),
        Event.called(name, args, id="1"),
        Event.changed(args),
        Event.returned(name, args),
    ):
        sent = json.loads(json.dumps(event_data(event)))
        (came,) = json_protocol.read_answer(sent).events
        assert came.model_dump(exclude_none=True) == event.model_dump(exclude_none=True)


class RateLimitError(Exception):
    pass


@pytest.mark.parametrize(
    "error",
    [
        errors.AgentError("it yielded rubbish"),
        errors.AgentUnreachableError("connection refused"),
        errors.AgentTruncatedError("broken off"),
        errors.AgentCrashedError("gone"),
        errors.AgentRaisedError("no stock", type="E7"),
        errors.AgentRaisedError("slow down", type="429"),
        errors.MissingExtraError("pip install"),
        ValueError("no"),
        RateLimitError("slow down"),
        ConnectionResetError(104, "reset"),
        SystemExit(3),
        BaseExceptionGroup("several", [KeyError("k")]),
    ],
    ids=lambda error: f"{type(error).__name__} {getattr(error, 'type', '')}",
)  # fmt: skip
def test_an_exception_of_a_worker_is_the_failure_that_it_is_here(error: BaseException) -> None:
    import json

    there = failure_from(exception_from(json.loads(json.dumps(error_data(error)))), where="agent", turn=1)
    assert there == failure_from(error, where="agent", turn=1)
