"""Killed, or out of room, at every single call to the system that changes something where the store or a report is.

`failing_calls/calls.c` is between the process and the system, and lets one call fail: the first, the second … until a
process needs no more. The numbers in brackets are of the fault catalogue; all of it is for the night (`make nightly`),
on Linux with a C compiler.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from proctor.runs.storage.export import export_run
from proctor.runs.storage.open import open_runs
from proctor.schema.results.manifest import RunState
from tests.cli.project import case, make_project, proctor as proctor_there
from tests.reports.sample_runs import good, run
from tests.scenarios.kill.crash_runs import (
    Blow,
    KilledRun,
    Ledger,
    Process,
    Project,
    differences,
    report_of,
    stored,
    undisturbed,
)
from tests.scenarios.kill.test_killed_export import _cases
from tests.stores.sample_runs import opened, write_run
from tests.stores.worker import TABLES

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.timeout(0),
    pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD and /proc are of Linux"),
]

SOURCE = Path(__file__).parent / "failing_calls" / "calls.c"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the library between a process and the system."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("a C compiler is missing")
    built = tmp_path_factory.mktemp("calls") / "calls.so"
    words = [
        "-shared",
        "-fPIC",
        "-O1",
        "-Wall",
        "-Werror",
        "-D_LARGEFILE64_SOURCE",
        "-o",
        str(built),
        str(SOURCE),
    ]
    subprocess.run([compiler, *words, "-ldl"], check=True)
    return built


@dataclass(frozen=True)
class Fault:
    """What happens to which call below which folder."""

    library: Path
    folder: Path
    call: int
    kind: str
    """`kill`, `full` or `broken`."""
    stays: bool = False
    """Whether all later calls that need room fail, too."""

    @property
    def note(self) -> Path:
        """The file that records a failed call."""
        return self.folder.with_name(f"told-{self.call}")

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of the process."""
        return {
            "LD_PRELOAD": str(self.library),
            "FAULT_FOLDER": str(self.folder),
            "FAULT_AT": str(self.call),
            "FAULT_KIND": self.kind,
            "FAULT_TOLD": str(self.note),
            **({"FAULT_STAYS": "1"} if self.stays else {}),
        }

    def has_struck(self) -> bool:
        """Return whether the process came so far, once."""
        there = self.note.exists()
        self.note.unlink(missing_ok=True)
        return there


@dataclass(frozen=True)
class FatalCall(Blow):
    """A process dies at one of its calls."""

    fault: Fault | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of the process."""
        assert self.fault is not None
        return self.fault.environment

    def strike(self, process: Process) -> bool:
        """Wait for it; false when it has ended before."""
        return process.wait() == -signal.SIGKILL


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "kept").mkdir()
    return Project(tmp_path, 2, 2, concurrency=1, agent_seconds=(0.0, 0.0))


def kept_below(project: Project, number: int) -> KilledRun:
    """A run whose store has a separate folder."""
    killed = KilledRun(project, number)
    killed.store = f"kept/{killed.store}"
    return killed


# --- a run [1, 4, 11] ----------------------------------------------------------------------------------------------------


def test_killed_at_every_call(project: Project, library: Path) -> None:
    """The run, and the process that resumes it."""
    _, expected = undisturbed(project)
    kills = 0
    for number in count(1):
        killed = kept_below(project, number)
        fault = Fault(library, project.folder / "kept", number, "kill")
        killed.through([FatalCall(fault=fault), FatalCall(fault=fault)])
        assert differences(stored(project, killed.store), expected) == [], number
        kills += killed.toll.kills
        if not killed.toll.kills:
            break
        killed.forget()
    print(f"killed at each of {number - 1} calls, and of the resumed run: {kills} kills, no trial lost")
    assert number > 50


@pytest.mark.parametrize(("kind", "stays"), [("full", True), ("full", False), ("broken", False)])
def test_no_room_from_any_call_on(project: Project, library: Path, kind: str, *, stays: bool) -> None:
    """Exit code 2 means that no agent was called; all reports are stored; the run resumes when there is space."""
    _, expected = undisturbed(project)
    codes: dict[int, int] = {}
    for number in count(1):
        killed = kept_below(project, number)
        fault = Fault(library, project.folder / "kept", number, kind, stays)
        process = killed.start(environment=fault.environment)
        code = process.wait()
        struck = fault.has_struck()
        codes[code] = codes.get(code, 0) + struck
        _check_end(project, killed, process)
        if kind == "full":  # a draft that cannot be deleted stays
            assert not [file for file in (project.folder / "kept").iterdir() if file.name.startswith(".")]
        killed.through([])
        assert differences(stored(project, killed.store), expected) == [], number
        killed.forget()
        if not struck:
            break
    print(f"{kind}{', and stays so' if stays else ''} at each of {number - 1} calls; exit codes {codes}")
    assert codes[3] > 20


def _check_end(project: Project, killed: KilledRun, process: Process) -> None:
    code = process.child.returncode
    started, reported = len(Ledger.read(killed.ledger).of("start")), process.count("trial")
    assert "Traceback" not in process.stderr
    assert code in (0, 1, 2, 3)
    if code == 2:
        assert started == 0, process.stderr
    if code in (2, 3):
        assert killed.store in process.stderr or reported == project.trials, process.stderr
    else:
        assert reported == project.trials
    killed.check(process)
    killed.toll.in_flight += started - reported


# --- what is written besides [3] -----------------------------------------------------------------------------------------

_EXPORT = """
from proctor.runs.storage.export import export_run
from tests.reports.sample_runs import good, run
new = run(*(good(f"new_{{n}}") for n in range(12)))
new.started_at = 5.0
export_run(new, {form!r}, {path!r})
"""


def every_call(
    library: Path, folder: Path, root: Path, command: list[str], *, cwd: Path | None = None
) -> Iterator[int]:
    """Kill a command at its first call, its second … and yield after each; the caller restores `folder`."""
    python = {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    for number in count(1):
        fault = Fault(library, folder, number, "kill")
        done = subprocess.run(
            command,
            env={**os.environ, **python, **fault.environment},
            capture_output=True,
            check=False,
            cwd=cwd,
        )
        yield number
        if not fault.has_struck():
            assert done.returncode == 0, done.stderr
            return
        assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "adk", "junit", "markdown"])
def test_an_export_or_report_that_is_killed_at_every_call(
    library: Path, tmp_path: Path, root: Path, form: str
) -> None:
    folder = tmp_path / "out"
    path = folder if form == "adk" else folder / f"run.{form}"
    old = run(*(good(f"old_{n}") for n in range(7)))
    old.started_at = 5.0
    folder.mkdir()
    export_run(old, form, path)
    (before,) = folder.iterdir()
    was, seen, calls = before.read_bytes(), set[bytes](), -1
    code = _EXPORT.format(form=form, path=str(path))
    for _ in every_call(library, folder, root, [sys.executable, "-c", code]):
        calls += 1
        seen.add(before.read_bytes())
        if form in {"json", "jsonl", "csv", "adk"}:
            assert _cases(form, path) <= {7, 12}
        shutil.rmtree(folder)
        folder.mkdir()
        before.write_bytes(was)
    assert len(seen) == 2, "there was something else than the old and the new one"
    print(f"{form}: killed at each of {calls} calls")
    assert calls > 3


def test_a_store_whose_update_is_killed_at_every_call(library: Path, tmp_path: Path, root: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    path, versions = folder / "s.db", []
    command = [sys.executable, "-m", "tests.stores.worker", str(path), "migrate", "-"]

    def lay_out() -> None:
        for file in folder.iterdir():
            file.unlink()
        store = opened(path)
        write_run(store)
        store.close()

    lay_out()
    with closing(sqlite3.connect(path)) as connection:
        (first,) = connection.execute("PRAGMA user_version").fetchone()
    for _ in every_call(library, folder, root, command):
        with closing(sqlite3.connect(path)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            later = connection.execute(
                "SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'later%'"
            ).fetchone()
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert (version, *later) in {(first, 0), (first + 1, TABLES)}
        versions.append(version)
        lay_out()
    print(f"killed at each of {len(versions) - 1} calls; {versions.count(first)} times it is the old one")
    assert set(versions) == {first, first + 1}


# --- what works on a store that is there ---------------------------------------------------------------------------------

_STRICT = {"criteria": {"response_match_score": 1.0}}


@pytest.fixture
def two_runs(tmp_path: Path) -> Path:
    """A folder with a store of two runs, and one of them as a file."""
    make_project(tmp_path, case("fine", "hello"), case("wrong", "no call"))
    (tmp_path / "strict.json").write_text(json.dumps(_STRICT))
    (tmp_path / "kept").mkdir()
    for _ in range(2):
        done = proctor_there("eval", "agent.py", "cases.evalset.json", "--store", "kept/s.db", cwd=tmp_path)
        assert done.returncode == 1, done.stderr
    written = proctor_there("export", "latest", "--store", "kept/s.db", "-o", "run.jsonl", cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    shutil.copytree(tmp_path / "kept", tmp_path / "before")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "finished"),
    [
        (["prune", "--keep", "1", "--yes"], {1, 2}),
        (["import", "run.jsonl"], {2, 3}),
        (["score", "latest", "--config", "strict.json"], {2}),
    ],
    ids=["prune", "import", "score"],
)
def test_what_works_on_a_store_and_is_killed_at_every_call(
    library: Path, two_runs: Path, root: Path, words: list[str], finished: set[int]
) -> None:
    """Each run is there whole, with its verdicts, or not at all; and the same command can be given again."""
    kept, was = two_runs / "kept", _reports(two_runs / "before")
    command = [sys.executable, "-m", "proctor", *words, "--store", "kept/s.db"]
    seen: list[int] = []
    for _ in every_call(library, kept, root, command, cwd=two_runs):
        now = _reports(kept)
        seen.append(len(now))
        assert all(now[run_id] == was[run_id] for run_id in now.keys() & was.keys()), "a run is another one"
        assert len(now) in finished
        again = subprocess.run(command, cwd=two_runs, capture_output=True, text=True, check=False)
        assert again.returncode in (0, 1), again.stderr
        shutil.rmtree(kept)
        shutil.copytree(two_runs / "before", kept)
    print(f"{words[0]}: killed at each of {len(seen) - 1} calls; finished runs after that: {Counter(seen)}")
    assert set(seen) == finished


def _reports(folder: Path) -> dict[str, Any]:
    """Return the reports of the finished runs of a store in their first scoring, by id, without changes."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        with closing(open_runs(Path(copy, "s.db"))) as store:
            ids = [record.run_id for record in store.runs() if record.state is RunState.FINISHED]
            return {run_id: report_of(store.load(run_id, 1)) for run_id in ids}
