"""Several processes on one store: each run has one writer, the store has many, and no process sees a lock."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from proctor.errors import StoreError
from proctor.schema.results.manifest import RunState, RunSummary
from proctor.schema.results.run_result import Outcome
from proctor.stores.base import RunWriter, Store
from proctor.stores.sql import database, leases
from proctor.stores.sql.leases import Holder, this_process
from tests.stores.sample_runs import Heard, begun, opened, records, write_run
from tests.stores.worker import TABLES

pytestmark = pytest.mark.slow  # several processes in one store

ROOT = Path(__file__).resolve().parents[2]
Worker = subprocess.Popen[str]


def _start(path: Path, *words: object, how: Sequence[str] = ("-m", "tests.stores.worker")) -> Worker:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, *how, str(path), *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=ROOT, env=environment
    )


def _output(worker: Worker, text: str = "") -> str:
    out, complained = worker.communicate(text, timeout=120)
    assert worker.returncode == 0, complained
    assert complained == ""
    return out.strip()


@pytest.fixture
def holding(path: Path) -> Iterator[Worker]:
    """Another process that holds the run `run1`, of which it has done a case."""
    worker = _start(path, "hold", "run1", 2.5)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "holding\n"
    yield worker
    worker.kill()
    worker.communicate()


@pytest.mark.parametrize(
    ("processes", "rounds"),
    [
        (3, 1),
        (4, 2),
        pytest.param(4, 25, marks=pytest.mark.nightly),
        pytest.param(2, 25, marks=pytest.mark.nightly),
    ],
)
def test_processes_with_separate_runs_all_complete(tmp_path: Path, processes: int, rounds: int) -> None:
    for attempt in range(rounds):
        path = tmp_path / f"{attempt}.db"
        workers = [
            _start(path, "fill", f"run-{i}", 40) for i in range(processes)
        ]  # the file is made by one of them
        assert [_output(worker) for worker in workers] == ["40"] * processes
        store = opened(path)
        assert {run.run_id: run.state for run in store.runs()} == {
            f"run-{i}": RunState.FINISHED for i in range(processes)
        }
        assert all(store.load(run.run_id).counts == {Outcome.PASSED: 40} for run in store.runs())
        store.close()


@pytest.mark.parametrize(
    ("processes", "rounds"),
    [
        (3, 1),
        (4, 2),
        pytest.param(4, 25, marks=pytest.mark.nightly),
        pytest.param(2, 25, marks=pytest.mark.nightly),
    ],
)
def test_processes_that_share_a_run_do_each_case_once(tmp_path: Path, processes: int, rounds: int) -> None:
    for attempt in range(rounds):
        path = tmp_path / f"{attempt}.db"
        store = opened(path)
        write_run(store, cases=60, done=[])
        workers = [_start(path, "share", "run1", 60) for _ in range(processes)]
        done = [int(position) for worker in workers for position in _output(worker).split()]
        assert sorted(done) == list(range(60))
        assert store.load("run1").counts == {Outcome.PASSED: 60}
        assert next(store.runs()).state is RunState.FINISHED
        store.close()


_WITHOUT_LINKS = """
import os, sys, time
from pathlib import Path
from tests.stores.worker import main

def no_link(*_):
    raise PermissionError(1, "Operation not permitted")

def slow(path, target, rename=Path.rename):
    time.sleep(0.1)
    return rename(path, target)

os.link, Path.rename = no_link, slow
main(sys.argv[1:])
"""


@pytest.mark.nightly
@pytest.mark.parametrize("rounds", [2, pytest.param(25, marks=pytest.mark.nightly)])
def test_without_links_processes_that_create_a_store_use_the_same_one(tmp_path: Path, rounds: int) -> None:
    """With time between the check for the file and its creation: the second process waits."""
    for attempt in range(rounds):
        path = tmp_path / f"{attempt}.db"
        workers = [_start(path, "fill", f"run-{i}", 20, how=("-c", _WITHOUT_LINKS)) for i in range(4)]
        assert [_output(worker) for worker in workers] == ["20"] * 4
        store = opened(path)
        assert {run.run_id for run in store.runs()} == {f"run-{i}" for i in range(4)}
        assert all(store.load(run.run_id).counts == {Outcome.PASSED: 20} for run in store.runs())
        store.close()
        assert [file.name for file in tmp_path.iterdir() if file.name.startswith(f".{attempt}.db")] == []


# --- killed --------------------------------------------------------------------------------------------------------------


def _how_long(path: Path, what: str) -> float:
    """Measure the seconds of an uninterrupted action here."""
    worker = _start(path, what, "-")
    assert worker.stdout is not None
    assert worker.stdout.readline() == "going\n"
    began = time.monotonic()
    _output(worker)
    return time.monotonic() - began


def _killed(path: Path, what: str, after: float) -> bool:
    """Start something and kill it; whether it was still at it."""
    worker = _start(path, what, "-")
    assert worker.stdout is not None
    assert worker.stdout.readline() == "going\n"
    time.sleep(after)
    was_alive = worker.poll() is None
    worker.kill()
    worker.communicate()
    return was_alive


@pytest.mark.parametrize("rounds", [5, pytest.param(100, marks=pytest.mark.nightly)])
def test_a_store_whose_making_is_killed_is_whole_or_not_there(tmp_path: Path, rounds: int) -> None:
    chance, hit, whole = random.Random(3), 0, _how_long(tmp_path / "runs.db", "make")
    for attempt in range(rounds):
        path = tmp_path / str(attempt) / "runs.db"
        hit += _killed(path, "make", chance.uniform(0, 1.5 * whole))
        store = opened(path)  # made now, where it was not
        assert store._database.rows("PRAGMA integrity_check") == [("ok",)]
        runs = list(store.runs())
        if not runs or runs[0].state is not RunState.FINISHED:
            store.delete([run.run_id for run in runs])
            write_run(store)
        assert store.load("run1").counts == {Outcome.PASSED: 3}
        store.close()
    assert rounds < 50 or hit, "nothing was killed in time"


@pytest.mark.nightly
@pytest.mark.parametrize("rounds", [5, pytest.param(100, marks=pytest.mark.nightly)])
def test_a_store_whose_update_is_killed_is_the_old_one_or_the_new_one(tmp_path: Path, rounds: int) -> None:
    chance, versions_seen, now = random.Random(4), [], database.newest_version()
    opened(tmp_path / "whole.db").close()
    whole = _how_long(tmp_path / "whole.db", "migrate")
    for attempt in range(rounds):
        path = tmp_path / f"{attempt}.db"
        store = opened(path)
        write_run(store)
        store.close()
        _killed(path, "migrate", chance.uniform(0, 1.5 * whole))
        connection = sqlite3.connect(path)
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        later = connection.execute("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'later%'").fetchone()
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        assert (version, *later) in {(now, 0), (now + 1, TABLES)}
        versions_seen.append(version)
        if version == now:
            assert opened(path).load("run1").counts == {Outcome.PASSED: 3}
    assert rounds < 50 or set(versions_seen) == {now, now + 1}


# --- leases --------------------------------------------------------------------------------------------------------------


def test_a_run_that_another_process_works_on_is_refused_by_its_name(path: Path, holding: Worker) -> None:
    store = opened(path)
    with pytest.raises(StoreError) as raised:
        store.resume("run1", Heard())
    assert f"run run1 is being worked on by process {holding.pid} on " in str(raised.value)
    assert "Wait for it to end or stop it" in str(raised.value)
    assert next(store.runs()).state is RunState.RUNNING
    assert store.load("run1").counts == {Outcome.PASSED: 1, Outcome.NOT_RUN: 2}
    assert "acknowledged: first late" in _output(holding, "go on\n")
    store.resume("run1", Heard()).close()


@pytest.mark.nightly
@pytest.mark.slow  # it waits
def test_a_holder_that_idles_keeps_its_run(path: Path, holding: Worker) -> None:
    store = opened(path)
    for _ in range(20):  # twice as long as an unrenewed lease would last
        with pytest.raises(StoreError, match="is being worked on"):
            store.resume("run1", Heard())
        time.sleep(0.25)


def _taken(store: Store, heard: Heard) -> RunWriter | None:
    try:
        return store.resume("run1", heard)
    except StoreError as error:
        if "is being worked on" not in str(error):
            raise
        return None


def _take(path: Path, *, within: float) -> None:
    """Take `run1` as soon as it can be had, and write two cases."""
    store, heard, began = opened(path), Heard(), time.monotonic()
    while (writer := _taken(store, heard)) is None:
        assert time.monotonic() - began < within, "it was never let go"
        time.sleep(0.01)
    for position in (1, 2):
        writer.put(records(position, outcome=Outcome.FAILED, value=0.0), position)
    writer.finish(RunSummary(outcome=Outcome.FAILED), complete=True)
    assert heard.tokens == [1, 2]
    assert store.load("run1").counts == {Outcome.PASSED: 1, Outcome.FAILED: 2}
    store.close()


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports the start of a process")


@needs_linux
@pytest.mark.parametrize("rounds", [2, pytest.param(100, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("buried", [True, False])
def test_the_run_of_a_process_that_was_killed_is_taken_at_once(
    tmp_path: Path, rounds: int, buried: bool
) -> None:
    for attempt in range(rounds):
        path = tmp_path / f"{attempt}.db"
        worker = _start(path, "die", "run1")
        assert worker.stdout is not None
        assert worker.stdout.readline() == "holding\n"
        worker.send_signal(signal.SIGKILL)
        if buried:
            worker.wait()
        else:
            os.waitid(
                os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT
            )  # dead, and still in the table of processes
        _take(path, within=30)  # its time would be a minute
        worker.communicate()


def _stop_between_commits(worker: Worker, path: Path) -> None:
    """Stop a process where it does not hold the whole store: that one, everybody would have to wait for."""
    connection = sqlite3.connect(path, timeout=0.05, isolation_level=None)
    while True:
        worker.send_signal(signal.SIGSTOP)
        try:
            connection.execute("BEGIN IMMEDIATE")
            break
        except sqlite3.OperationalError:
            worker.send_signal(signal.SIGCONT)
            time.sleep(0.005)
    connection.close()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Windows cannot stop a process for a while")
@pytest.mark.parametrize("rounds", [1, pytest.param(100, marks=pytest.mark.nightly)])
def test_a_holder_that_wakes_late_gets_its_write_refused(tmp_path: Path, rounds: int) -> None:
    chance = random.Random(15)
    for attempt in range(rounds):
        path = tmp_path / f"{attempt}.db"
        worker = _start(path, "hold", "run1", 0.4)
        assert worker.stdout is not None
        assert worker.stdout.readline() == "holding\n"
        time.sleep(chance.uniform(0, 0.3))
        _stop_between_commits(worker, path)
        _take(path, within=60)
        worker.send_signal(signal.SIGCONT)
        output = _output(worker, "go on\n")
        assert "another process has taken over run run1" in output
        assert output.endswith("acknowledged: first")
        store = opened(path)
        assert store.load("run1").counts == {Outcome.PASSED: 1, Outcome.FAILED: 2}
        assert next(store.runs()).state is RunState.FINISHED
        store.close()


@pytest.mark.parametrize("other", ["another machine", "another boot", "a system without process data"])
def test_unknown_holder_has_its_time(path: Path, other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    me = this_process()
    holders = {
        "another machine": Holder("elsewhere", "other boot", 1, "77"),
        "another boot": Holder(me.host, "other boot", 1, "77"),
        "a system without process data": Holder(me.host, None, 1, None),
    }
    store = opened(path)
    with monkeypatch.context() as patched:
        patched.setattr(leases, "this_process", lambda: holders[other])
        patched.setattr(leases, "release_lease", lambda *_: None)  # it dies without a word
        begun(store).close()
    with pytest.raises(StoreError, match=f"process 1 on {holders[other].host}"):
        store.resume("run1", Heard())
    _a_lease_later(monkeypatch)
    store.resume("run1", Heard()).close()


def _a_lease_later(monkeypatch: pytest.MonkeyPatch) -> None:
    later = time.time() + leases.LEASE_SECONDS + 1
    monkeypatch.setattr(time, "time", lambda: later)


def test_a_process_number_that_is_used_again_is_another_process(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    me = this_process()
    if me.started is None:
        pytest.skip("this system does not report the start of a process")
    earlier = Holder(me.host, me.machine, me.pid, str(int(me.started) - 5))
    assert earlier.is_gone()
    assert not me.is_gone()
    store = opened(path)
    with monkeypatch.context() as patched:
        patched.setattr(leases, "this_process", lambda: earlier)
        patched.setattr(leases, "release_lease", lambda *_: None)
        begun(store).close()
    store.resume("run1", Heard()).close()


@pytest.fixture
def no_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As on macOS."""
    monkeypatch.setattr(leases, "PROC", tmp_path / "no proc")
    leases._machine.cache_clear()
    yield
    leases._machine.cache_clear()


def _ended() -> int:
    """The number of a process that is dead and buried."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    return dead.pid


@pytest.mark.skipif(os.name != "posix", reason="only there a process can be asked for by its number")
@pytest.mark.usefixtures("no_proc")
def test_without_proc_a_free_process_number_shows_the_end() -> None:
    me = this_process()
    assert (me.machine, me.started) == (leases._machine(), None)
    assert me.machine
    assert not me.is_gone()
    assert Holder(me.host, me.machine, _ended(), None).is_gone()
    assert not Holder(me.host, "another one", _ended(), None).is_gone()
    assert not Holder(me.host, me.machine, 1, None).is_gone(), "another user's process is there, too"


@pytest.mark.skipif(os.name != "posix", reason="only there a process can be asked for by its number")
@pytest.mark.usefixtures("no_proc")
@pytest.mark.parametrize("died", [True, False], ids=["dead", "number in use again"])
def test_without_proc_a_run_is_free_after_its_process_or_its_time(
    path: Path,
    died: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    me = this_process()
    before = Holder(me.host, me.machine, _ended() if died else os.getppid(), None)
    store = opened(path)
    with monkeypatch.context() as patched:
        patched.setattr(leases, "this_process", lambda: before)
        patched.setattr(leases, "release_lease", lambda *_: None)  # it dies without a word
        begun(store).close()
    if not died:
        with pytest.raises(StoreError, match="is being worked on"):
            store.resume("run1", Heard())
        _a_lease_later(monkeypatch)
    store.resume("run1", Heard()).close()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a /proc")
def test_a_proc_that_hides_other_users_processes_takes_nobodys_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where it is mounted with `hidepid=2`."""
    me = this_process()
    other = Holder(me.host, me.machine, os.getppid(), "77")
    assert other.is_gone()
    monkeypatch.setattr(leases, "PROC", tmp_path)  # the machine is known from before
    assert not other.is_gone()
    assert Holder(me.host, me.machine, _ended(), "77").is_gone()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports zombie processes")
def test_a_process_that_is_dead_and_not_buried_is_gone() -> None:
    me = this_process()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
    assert Holder(me.host, me.machine, dead.pid, me.started).is_gone()
    assert Holder(me.host, me.machine, dead.pid, None).is_gone()
    dead.wait()


def test_a_clock_that_was_put_back_holds_no_run_for_longer(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unknown holder whose clock was an hour ahead."""
    store, now = opened(path), time.time()
    with monkeypatch.context() as patched:
        patched.setattr(leases, "this_process", lambda: Holder("elsewhere", "other boot", 1, "77"))
        patched.setattr(leases, "release_lease", lambda *_: None)
        patched.setattr(time, "time", lambda: now + 3600)
        begun(store).close()
        patched.setattr(time, "time", lambda: now + 3600 - leases.LEASE_SECONDS / 2)
        with pytest.raises(StoreError, match="is being worked on"):
            store.resume("run1", Heard())
    assert next(store.runs()).state is RunState.UNFINISHED
    store.resume("run1", Heard()).close()


def test_a_clock_that_jumps_back_disturbs_neither_lease_nor_order(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, heard = opened(path), Heard()
    writer = begun(store, "first", heard=heard)
    writer.put(records(0), 0)
    heard.wait_for(1)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 3600)
    writer.put(records(1), 1)
    heard.wait_for(2)
    with pytest.raises(StoreError, match="is being worked on"):
        store.resume("first", Heard())
    second = begun(store, "second", created_at=now - 3600)
    writer.finish(RunSummary(), complete=False)
    second.close()
    assert heard.tokens == [0, 1]
    assert [run.run_id for run in store.runs()] == ["second", "first"]
    assert store.find("latest") == "second"
    store.resume("first", Heard()).close()
