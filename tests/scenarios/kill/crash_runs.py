"""Runs that are killed, for real: a project, its command line as a process group, a killer, and what must hold after.

Three witnesses that know nothing of each other: the *reports* of the command line (a line after each call of the
progress, through a pipe), the agent's *ledger* (a file), and the *rows* of the store, read with plain SQL from a copy,
so that looking changes nothing of what the next process finds.
"""

from __future__ import annotations

import io
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from proctor.reports.formats.json import JsonReport
from proctor.runs.storage.open import open_runs
from proctor.schema.results.run_result import RunResult
from tests.cli.fork_command import fork_command

CRASHED = Path(__file__).parent / "crash_project"
PATIENCE = 120.0
"""Seconds after which a process that should have ended is taken for stuck."""

CRITERIA = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8, "patient": 0.4}
_NAME = re.compile(r"n-[0-9a-f]{16}")


# --- the project ---------------------------------------------------------------------------------------------------------


def one_case(number: int, *, tag: str = "") -> dict[str, Any]:
    """A case of one turn; every fourth has two."""
    eval_id = f"c{number}"
    turns = _turns_of(eval_id)
    return {
        "eval_id": eval_id,
        "conversation": [_turn(eval_id, number, turn, turns) for turn in range(1, turns + 1)],
        **({"tags": [tag]} if tag else {}),
    }


def _turn(eval_id: str, number: int, turn: int, turns: int) -> dict[str, Any]:
    asked = f"{eval_id} {turn}/{turns}"
    return {
        "invocation_id": f"i{turn}",
        "user_content": {"role": "user", "parts": [{"text": asked}]},
        "final_response": {"role": "model", "parts": [{"text": f"the answer to {asked}"}]},
        "intermediate_data": {"tool_uses": [{"name": "look_up", "args": {"n": number}}]},
    }


@dataclass
class Project:
    """A folder with an agent, a metric, a set, a config: what is run and killed."""

    folder: Path
    cases: int
    num_runs: int = 1
    concurrency: int = 16
    agent_seconds: tuple[float, float] = (0.005, 0.02)
    judge_seconds: tuple[float, float] = (0.0, 0.0)
    environment: dict[str, str] = field(default_factory=dict)
    sets: Sequence[str] = ("numbers.evalset.json",)
    more: Sequence[str] = ()
    """Further options of `proctor eval`."""

    def __post_init__(self) -> None:
        """Write it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for file in CRASHED.glob("*.py"):
            shutil.copy(file, self.folder)
        self.write_set("numbers.evalset.json", range(self.cases))
        metric = {"patient": {"code_config": {"name": "judges.patient"}}}
        config = {"criteria": CRITERIA, "custom_metrics": metric}
        (self.folder / "test_config.json").write_text(json.dumps(config))

    def write_set(self, name: str, numbers: Iterable[int], *, eval_set_id: str = "numbers") -> None:
        """Write an eval set of the cases with these numbers."""
        cases = [one_case(number, tag="odd" if number % 2 else "even") for number in numbers]
        content = {"eval_set_id": eval_set_id, "eval_cases": cases}
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(content, indent=1))

    @property
    def trials(self) -> int:
        """How many there are to run."""
        return self.cases * self.num_runs

    def eval(self, store: str = "s.sqlite3") -> list[str]:
        """The command that begins the run."""
        options = ["--num-runs", str(self.num_runs), "--concurrency", str(self.concurrency), *self.more]
        return ["eval", "agent.py", *self.sets, "--store", store, *options]

    def variables(self, ledger: Path) -> dict[str, str]:
        """The environment of its processes."""
        seconds = {
            "CRASH_AGENT_SECONDS": "{},{}".format(*self.agent_seconds),
            "CRASH_JUDGE_SECONDS": "{},{}".format(*self.judge_seconds),
        }
        return {**os.environ, **seconds, "CRASH_LEDGER": str(ledger), **self.environment}


# --- processes -----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Process:
    """One command line at work, the leader of a process group, and its reports so far."""

    project: Project
    command: Sequence[str]
    ledger: Path
    environment: dict[str, str] = field(default_factory=dict)
    running: ClassVar[set[Process]] = set()
    """The processes without a wait: they would outlive a test that failed."""
    terminal: bool = False
    """Whether it has a terminal for all its output, and can be sent Ctrl-C with `type`."""
    reported: list[list[str]] = field(default_factory=list)
    """The lines of `crash_project/cli.py`, in words."""
    stdout: str = ""
    stderr: str = ""

    def __post_init__(self) -> None:
        """Start it."""
        self.running.add(self)
        self._reader, writer = os.pipe()
        self._rest = b""
        variables = {**self.project.variables(self.ledger), "CRASH_REPORTED": str(writer), **self.environment}
        self._screen = Screen() if self.terminal else None
        self._files = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115 - read when it has ended
        streams: list[Any] = [subprocess.DEVNULL, *self._files]
        if self._screen is not None:
            streams = [self._screen.inside] * 3
            variables |= {"CRASH_TERMINAL": "1", "TERM": "xterm"}
        try:
            self.child = subprocess.Popen(
                [sys.executable, "cli.py", *self.command],
                cwd=self.project.folder,
                env=variables,
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                pass_fds=[writer],
                start_new_session=True,
            )
        finally:
            os.close(writer)
            if self._screen is not None:
                self._screen.hand_over()

    @property
    def pid(self) -> int:
        """Its number."""
        return self.child.pid

    def listen(self, until: Callable[[], bool] = lambda: False, seconds: float = PATIENCE) -> bool:
        """Take in reports until a condition holds (true), the pipe ends or time is over (false)."""
        deadline = time.monotonic() + seconds
        while not until():
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._reader], [], [], min(left, 0.05))[0]:
                if left <= 0:
                    return until()
                continue
            read = os.read(self._reader, 65536)
            if not read:
                return until()
            *lines, self._rest = (self._rest + read).split(b"\n")
            self.reported += [line.decode().split(" ") for line in lines]
        return True

    def count(self, kind: str) -> int:
        """How many reports of a kind there were."""
        return sum(words[0] == kind for words in self.reported)

    def signal(self, number: int) -> None:
        """Send a signal to the whole group, as a terminal does."""
        os.killpg(self.pid, number)

    def type(self, keys: bytes) -> None:
        """Press keys at its terminal."""
        assert self._screen is not None
        os.write(self._screen.outside, keys)

    def hang_up(self) -> None:
        """Take its terminal away."""
        assert self._screen is not None
        self._screen.close()

    def stderr_so_far(self) -> str:
        """What is on its stderr by now; read without moving the place at which it writes."""
        return os.pread(self._files[1].fileno(), 1_000_000, 0).decode(errors="replace")

    def kill(self) -> None:
        """End the whole group with no chance to tidy up."""
        if self.child.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)

    def wait(self, seconds: float = PATIENCE) -> int:
        """Wait for the end, and return the exit code; negative when it was killed."""
        if not self.listen(seconds=seconds) and self.child.poll() is None:
            try:
                self.child.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
        code = self.child.wait()
        self.running.discard(self)
        os.close(self._reader)
        self.stdout, self.stderr = (_all_of(file) for file in self._files)
        if self._screen is not None:
            self.stdout = self._screen.read_to_the_end()
        return code


class Screen:
    """A terminal: output is read at once, so that no writer blocks."""

    def __init__(self) -> None:
        self.outside, self.inside = pty.openpty()
        self._written: list[bytes] = []
        self._open = True
        self._reader = threading.Thread(target=self._read, daemon=True)

    def hand_over(self) -> None:
        """Begin to read, now that the process has the other end."""
        os.close(self.inside)
        self._reader.start()

    def _read(self) -> None:
        while self._open:
            try:
                if select.select([self.outside], [], [], 0.02)[0]:
                    self._written.append(os.read(self.outside, 65536))
            except OSError:  # the other end is closed
                return

    def read_to_the_end(self) -> str:
        """Read what is left, now that the process has ended."""
        self._reader.join(30)
        return self.close()

    def close(self) -> str:
        """Take it away; return its content."""
        if self._open:
            self._open = False
            self._reader.join()
            os.close(self.outside)
        return b"".join(self._written).decode(errors="replace")


def _all_of(file: Any) -> str:
    with file:
        file.seek(0)
        return str(file.read().decode(errors="replace"))


# --- the killer ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Blow:
    """When a process is killed: after so many reported trials, or so many seconds; and then a moment more.

    Or by itself (with its group), before it carries out its SQL statement number `statement`.
    """

    trials: int | None = None
    seconds: float | None = None
    pause: float = 0.0
    statement: int | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables of the process."""
        return {} if self.statement is None else {"CRASH_STATEMENT": str(self.statement)}

    def strike(self, process: Process) -> bool:
        """Kill it then; false when it had ended before."""
        if self.statement is not None:
            return process.wait() == -signal.SIGKILL
        if self.trials is not None:
            wanted = self.trials
            process.listen(lambda: process.count("trial") >= wanted or process.child.poll() is not None)
        if self.seconds is not None:
            process.listen(lambda: process.child.poll() is not None, self.seconds)
        time.sleep(self.pause)
        process.kill()
        return process.wait() == -signal.SIGKILL


def at_random(chance: random.Random, trials: int, typical: float = 0.6) -> Blow:
    """Choose a moment: while it starts, while it runs, while it ends."""
    kind = chance.random()
    if kind < 0.2:
        return Blow(seconds=chance.uniform(0.0, typical))
    if kind < 0.3:
        return Blow(trials=trials, pause=chance.uniform(0.0, 0.03))  # everything reported: it is finalising
    return Blow(trials=chance.randint(1, max(1, trials)), pause=chance.choice((0.0, chance.uniform(0, 0.01))))


# --- the ledger ----------------------------------------------------------------------------------------------------------


@dataclass
class Ledger:
    """What the agent and the metric wrote down themselves."""

    lines: list[list[str]]

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Read it; nothing is there before the first trial."""
        return cls([line.split(" ") for line in path.read_text().splitlines()] if path.exists() else [])

    def of(self, kind: str, pid: int | None = None) -> list[list[str]]:
        """The lines of a kind (of one process), without pid and kind."""
        return [line[2:] for line in self.lines if line[1] == kind and pid in (None, int(line[0]))]


# --- the store -----------------------------------------------------------------------------------------------------------


@dataclass
class Rows:
    """What a store has of its newest run, as plain SQL sees it."""

    run_id: str | None = None
    state: tuple[Any, ...] = ()
    evidence: dict[tuple[int, ...], bytes] = field(default_factory=dict)
    """The reports by position, number and attempt, verbatim."""
    scores: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """By scoring, position, number, attempt, and what else names a row: the row."""
    verdicts: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """By scoring and position: the row."""

    @property
    def names(self) -> set[str]:
        """The agent's own names of the attempts that are there."""
        return {name for body in self.evidence.values() for name in names_in(body)}


def rows_of(store: Path) -> Rows:
    """Copy a store, see that it is sound, and read it."""
    if not store.exists():
        return Rows()
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("", "-wal", "-journal"):
            if (log := store.with_name(store.name + suffix)).exists():
                shutil.copy(log, Path(folder, f"copy{suffix}"))
        with closing(sqlite3.connect(Path(folder, "copy"))) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            return _newest(connection)


def _newest(connection: sqlite3.Connection) -> Rows:
    run = connection.execute(
        "SELECT seq, run_id, cases, trials, complete FROM runs ORDER BY seq DESC"
    ).fetchone()
    if run is None:
        return Rows()
    return Rows(
        run[1],
        run[2:],
        {key: row["evidence"] for key, row in _table(connection, "trials", run[0]).items()},
        _table(connection, "scores", run[0]),
        _table(connection, "verdicts", run[0]),
    )


def _table(connection: sqlite3.Connection, name: str, run: int) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows of a run, by their primary key without the run."""
    columns = connection.execute(f"PRAGMA table_info({name})").fetchall()
    keys = [column[1] for column in sorted(columns, key=lambda column: column[5]) if column[5]]
    names = [column[1] for column in columns]
    assert keys[0] == "run"
    found = (
        dict(zip(names, row, strict=True))
        for row in connection.execute(f"SELECT * FROM {name} WHERE run = ?", (run,))
    )
    return {tuple(row[key] for key in keys[1:]): row for row in found}


def names_in(body: bytes) -> set[str]:
    """The agent's names in stored evidence."""
    return set(_NAME.findall(unpacked(body).decode()))


def unpacked(body: bytes) -> bytes:
    """Undo what the store does to long evidence."""
    return zlib.decompress(body) if body[:1] == b"\x78" else body


# --- content of a run -----------------------------------------------------------------------------------------------------

_OF_ITS_TIME = {
    "started_at", "duration", "model_duration", "tool_duration", "timestamp", "run_id", "session_id", "creation_timestamp",
    "proctor_version", "judging_duration", "invocation_duration_v1",
}  # fmt: skip


def report_of(result: RunResult) -> Any:
    """Return the whole report for programs, but for times and ids."""
    out = io.StringIO()
    JsonReport().write([result], out)
    return _timeless(json.loads(_NAME.sub("n-", out.getvalue())))


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if key not in _OF_ITS_TIME}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """List the differences of two reports by location: a report of a thousand cases is too long for a message."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted({*one, *other})
        return [
            difference
            for key in keys
            for difference in differences(one.get(key), other.get(key), f"{place}/{key}")
        ]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [difference for index, pair in pairs for difference in differences(*pair, f"{place}/{index}")]
    return [] if one == other else [f"{place}: {str(one)[:200]} and not {str(other)[:200]}"]


def stored(
    project: Project, store: str = "s.sqlite3", run: str = "latest", scoring: int | None = None
) -> Any:
    """Return the report of a run in the project's store (see `report_of`)."""
    opened = open_runs(project.folder / store, read_only=True)
    with closing(opened):
        return report_of(opened.load(opened.find(run), scoring))


def undisturbed(project: Project) -> Any:
    """Return the report of an undisturbed run."""
    ledger = project.folder / "undisturbed.ledger"
    ended = fork_command(
        *project.eval("undisturbed.sqlite3"), cwd=project.folder, environment=project.variables(ledger)
    )
    assert ended.returncode in (0, 1, 3), ended.stderr
    assert len(Ledger.read(ledger).of("start")) == project.trials
    return ended.returncode, stored(project, "undisturbed.sqlite3")


# --- one run, killed again and again ------------------------------------------------------------------------------------


@dataclass
class Toll:
    """What many killed runs came to."""

    runs: int = 0
    kills: int = 0
    trials: int = 0
    lost: int = 0
    duplicated: int = 0
    repeated: int = 0
    in_flight: int = 0
    reported: int = 0
    """Trials that had been reported when a process was killed: those that could have been lost."""
    only_judged: int = 0
    """Trials with evidence and no verdict at a kill: those that could have been run again without need."""

    def add(self, other: Toll) -> None:
        """Take in another one."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


class KilledRun:
    """Takes one run through a series of blows to its end, and checks after each that nothing was lost."""

    def __init__(self, project: Project, number: int) -> None:
        self.project = project
        self.ledger = project.folder / f"ledger-{number}"
        self.store = f"s-{number}.sqlite3"
        self.toll = Toll(runs=1, trials=project.trials)
        self._last = Rows()
        self._promised: Counter[str] = Counter()
        self._hashes: dict[str, list[str]] = {}

    def through(self, blows: Iterable[Blow], *, resume: Sequence[str] = ()) -> Process:
        """Run it, kill it as `blows` require, resume each time; return the process that reached the end."""
        for blow in blows:
            process = self.start(*resume, environment=blow.environment)
            killed = blow.strike(process)
            self.toll.kills += killed
            assert killed or process.child.returncode in (0, 1, 3), process.stderr
            self.check(process)
        last = self.start(*resume)
        assert last.wait() in (0, 1, 3), last.stderr
        self.check(last)
        self.check_end()
        return last

    def forget(self) -> None:
        """Delete what the run left."""
        for file in [self.ledger, *self.project.folder.glob(f"{self.store}*")]:
            file.unlink(missing_ok=True)

    def start(
        self, *resume: str, environment: dict[str, str] | None = None, terminal: bool = False
    ) -> Process:
        """Begin the run, or go on with it once the store knows of it."""
        self._last = rows_of(self.project.folder / self.store)
        command = self.project.eval(self.store)
        if self._last.run_id is not None:
            command = ["resume", self._last.run_id, "--store", self.store, *resume]
        return Process(self.project, command, self.ledger, environment or {}, terminal)

    def check(self, process: Process) -> None:
        """Hold what a process left behind against what it, and those before it, had reported."""
        now, before = rows_of(self.project.folder / self.store), self._last
        ledger = Ledger.read(self.ledger)
        self._check_kept(before, now, ledger, process)
        self._check_reported(process, now)
        started = {name for _, name in ledger.of("start", process.pid)}
        kept = now.names
        under_way = len(started) - process.count("trial")
        if process.child.returncode == -signal.SIGKILL:
            concurrency = self.project.concurrency
            assert under_way <= concurrency + concurrency // 4  # so many more may wait for their commit
            self.toll.in_flight += under_way
            self.toll.only_judged += len(now.evidence) - len({key[1:4] for key in now.scores})
        assert kept <= {name for _, name in ledger.of("start")}

    def _check_kept(self, before: Rows, now: Rows, ledger: Ledger, process: Process) -> None:
        """Nothing that was there has changed, and no process ran again what it found."""
        if before.run_id is None:
            return
        assert now.run_id == before.run_id
        assert before.evidence.items() <= now.evidence.items()
        assert before.scores.items() <= now.scores.items()
        assert before.verdicts.items() <= now.verdicts.items()
        there = Counter(_case_of(body) for body in before.evidence.values())
        again = Counter(case for case, _ in ledger.of("start", process.pid))
        for case, count in again.items():
            assert there[case] + count <= self.project.num_runs, f"{case} was run again"
        judged = Counter(
            _case_of(before.evidence[key]) for key in {key[1:4] for key in before.scores if key[0] == 1}
        )
        for case, count in Counter(case for (case,) in ledger.of("judge", process.pid)).items():
            turns = _turns_of(case)
            assert judged[case] * turns + count <= self.project.num_runs * turns, f"{case} was re-scored"

    def _check_reported(self, process: Process, now: Rows) -> None:
        """What was reported is there, with the same bytes."""
        words = process.reported
        new = Counter(each[2] for each in words if each[0] == "trial")
        self._promised += new
        self.toll.reported += new.total()
        there: Counter[str] = Counter()
        hashes: dict[str, set[str]] = {}
        for body in now.evidence.values():
            case = _case_of(body)
            there[case] += 1
            hashes.setdefault(case, set()).add(sha256(unpacked(body)).hexdigest())
        self.toll.lost += sum((self._promised - there).values())
        for _, _, case, _, *of_trials in (each for each in words if each[0] == "case"):
            self._hashes[case] = of_trials
        for case, of_trials in self._hashes.items():
            self.toll.lost += len(set(of_trials) - hashes.get(case, set()))

    def check_end(self) -> None:
        """Each case has one verdict, each trial one piece of evidence; repeated was only what was in flight."""
        project, now = self.project, rows_of(self.project.folder / self.store)
        assert len(now.evidence) == project.trials
        assert {key[2] for key in now.evidence} == {0}
        assert len(now.names) == project.trials
        assert sorted(now.verdicts) == [(1, position) for position in range(project.cases)]
        [run] = stored(project, self.store)["runs"]
        seen = Counter((case["eval_set_id"], case["eval_id"]) for case in run["cases"])
        self.toll.duplicated += seen.total() - len(seen)
        starts = len(Ledger.read(self.ledger).of("start"))
        self.toll.repeated += starts - project.trials
        assert self.toll.repeated <= self.toll.in_flight
        assert (self.toll.lost, self.toll.duplicated) == (0, 0)


def _case_of(body: bytes) -> str:
    return str(json.loads(unpacked(body))["eval_id"])


def _turns_of(case: str) -> int:
    return 1 + (int(case[1:]) % 4 == 0)
