"""Runs that this server starts: each a process of its own, the command line that a person would type.

So a run that crashes takes no server along, one that hangs can be ended, and a server that is killed takes no run
along: it writes to the store as always, and a server that comes back finds it there and can still cancel it. What a
server remembers of its runs stands in a folder beside the store: the output of each, and which process it was.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from proctor.common.secrets import hide_secrets
from proctor.errors import SetupError

MESSAGES_VARIABLE = "PROCTOR_TELL"
"""The variable that names the file in which `proctor` tells what began, or what is wrong (see `cli/telling.py`)."""
ARGUMENTS_VARIABLE = "PROCTOR_WORDS"
"""The variable that has `proctor` take its command line from standard input (see `cli/handed.py`): addresses of agents and
stores may have passwords in them, and everybody may read the arguments of a process."""
MOST_AT_ONCE = 3
MOST_ASKED = 8
"""Questions to `proctor` that may be under way at once: each is a process, and somebody waits for it."""
_KEPT = 50
"""Runs whose output is kept."""
_LOOK_EVERY = 0.02
_LONGEST_START = 600.0
_LONGEST_ESTIMATE = 120.0
_LAST_LINES = 20


@dataclass(slots=True)
class ChildRun:
    """A process that was started."""

    process: subprocess.Popen[bytes]
    told: Path
    output: Path


class NotStartedError(SetupError):
    """Nothing was run: all that is wrong, as the command told it."""

    def __init__(self, problems: Sequence[Mapping[str, Any]]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(str(problem["message"]) for problem in self.problems))


class TooManyRunsError(SetupError):
    """As many runs as may be are under way."""


class ChildRuns:
    """The runs of one server. Any thread may use it; nothing here waits for a run to end."""

    def __init__(self, root: Path, folder: Path, *, most: int = MOST_AT_ONCE) -> None:
        """Take the project's folder, in which commands run, and the one for what is remembered."""
        self._root, self._folder, self._most = root, folder, most
        self._children: dict[str, ChildRun] = {}
        self._starting = self._questions = 0
        self._nameless: list[tuple[subprocess.Popen[bytes], int]] = []
        """What was started and is no run, or none yet; and the signal that ends it."""
        self._is_closed = False
        self._lock = threading.Lock()

    # --- starting ----------------------------------------------------------------------------------------------------

    def start(self, words: Sequence[str]) -> dict[str, Any]:
        """Run `proctor WORDS…`, and return what it tells when its run has begun: `run` and `trials`.

        Raises:
            NotStartedError: it ended before any run began.
            TooManyRunsError: as many as may be are under way.
        """
        with self._lock:
            under_way = self.under_way()
            if len(under_way) + self._starting >= self._most:
                raise TooManyRunsError(
                    f"{len(under_way) + self._starting} runs of this page are under way ({', '.join(under_way)}), and "
                    f"{self._most} may be: wait for one to end, or cancel it"
                )
            self._starting += 1
        try:
            child = self._spawn(words)
            with self._ends_with_server(child.process, signal.SIGINT):
                told = self._wait_for_start(child, _LONGEST_START)
                with self._lock:
                    self._remember(told["run"], child, words)
            return told
        finally:
            with self._lock:
                self._starting -= 1

    def ask(self, words: Sequence[str]) -> dict[str, Any]:
        """Run `proctor WORDS…` to its end, and return the JSON that it writes to stdout.

        Raises:
            NotStartedError: what is wrong, as it told it.
            TooManyRunsError: as much is asked already as may be.
        """
        with self._lock:
            if self._questions >= MOST_ASKED:
                raise TooManyRunsError(
                    f"{MOST_ASKED} estimates are under way, and no more may be: wait a moment"
                )
            self._questions += 1
        told = self._path("asked.jsonl")
        try:
            output, errors = self._outputs(words, told)
            problems = [problem for one in _read_messages(told) for problem in one.get("problems", ())]
            document = None if problems else _json(output)
            if document is None:
                raise NotStartedError(problems or [_problem(errors)])
            return document
        except subprocess.TimeoutExpired:
            words_ = f"the agent took more than {_LONGEST_ESTIMATE:.0f} s to load: look at what it does when it is imported"
            raise NotStartedError([{"message": words_, "kind": "AgentLoadError"}]) from None
        finally:
            told.unlink(missing_ok=True)
            with self._lock:
                self._questions -= 1

    def _outputs(self, words: Sequence[str], told: Path) -> tuple[bytes, bytes]:
        with _command_line_file(words) as given:
            process = subprocess.Popen(
                self._command(words), cwd=self._root, env=self._environment(told), stdin=given,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        with process, self._ends_with_server(process, signal.SIGKILL):  # it keeps nothing
            try:
                return process.communicate(timeout=_LONGEST_ESTIMATE)
            except BaseException:
                process.kill()
                raise

    @contextmanager
    def _ends_with_server(self, process: subprocess.Popen[bytes], ends_by: int) -> Iterator[None]:
        """Until its run is known a process ends with the server, too."""
        with self._lock:
            self._nameless.append((process, ends_by))
            is_late = self._is_closed
        if is_late:
            self._signal(process.pid, ends_by)
        try:
            yield
        finally:
            with self._lock:
                self._nameless.remove((process, ends_by))

    def _spawn(self, words: Sequence[str]) -> ChildRun:
        told, output = self._path("told.jsonl"), self._path("log")
        with _command_line_file(words) as given, output.open("wb") as log:
            process = subprocess.Popen(
                self._command(words), cwd=self._root, env=self._environment(told), stdin=given,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        return ChildRun(process, told, output)

    @staticmethod
    def _command(words: Sequence[str]) -> list[str]:
        """What is seen of it: which command it is."""
        return [sys.executable, "-m", "proctor", *words[:1]]

    @staticmethod
    def _environment(told: Path) -> dict[str, str]:
        return {**os.environ, MESSAGES_VARIABLE: str(told), ARGUMENTS_VARIABLE: "stdin", "NO_COLOR": "1"}

    def _path(self, suffix: str) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / f"{secrets.token_hex(6)}.{suffix}"

    def _wait_for_start(self, child: ChildRun, seconds: float) -> dict[str, Any]:
        """Wait until the command says that its run began; it ends instead where something is wrong."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            ended = child.process.poll() is not None
            for one in _read_messages(child.told):
                if "run" in one:
                    return one
                self._give_up(child, one["problems"])
            if ended:
                self._give_up(child, [_problem(child.output.read_bytes())])
            time.sleep(_LOOK_EVERY)
        child.process.kill()
        words = f"no run had begun after {seconds:.0f} s: look at what the agent does when it is imported and opened"
        self._give_up(child, [{"message": words, "kind": "AgentLoadError"}])
        raise AssertionError("unreachable")

    @staticmethod
    def _give_up(child: ChildRun, problems: Sequence[Mapping[str, Any]]) -> None:
        try:
            child.process.wait(5)
        except subprocess.TimeoutExpired:  # nothing was run, and nobody would hear of its end any more
            child.process.kill()
            child.process.wait()
        child.told.unlink(missing_ok=True)
        child.output.unlink(missing_ok=True)
        raise NotStartedError(problems)

    # --- what was started --------------------------------------------------------------------------------------------

    def _remember(self, run_id: str, child: ChildRun, words: Sequence[str]) -> None:
        child.told.unlink(missing_ok=True)
        child.output = child.output.replace(self._folder / f"{run_id}.log")
        self._children[run_id] = child
        # somebody must hear of its end, or a dead process would stand in the system's list
        threading.Thread(target=child.process.wait, name=f"proctor-run-{run_id}", daemon=True).start()
        record = {"pid": child.process.pid, "words": [hide_secrets(word) for word in words]}
        (self._folder / f"{run_id}.json").write_text(json.dumps(record), encoding="utf-8")
        self._forget_old()

    def _forget_old(self) -> None:
        records = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for record in records[_KEPT:]:
            if record.stem not in self._children:
                record.unlink(missing_ok=True)
                record.with_suffix(".log").unlink(missing_ok=True)

    def under_way(self) -> list[str]:
        """Return the runs whose processes have not ended."""
        return [run for run, child in list(self._children.items()) if child.process.poll() is None]

    def process_of(self, run_id: str) -> int | None:
        """Return which process this server, or one before it, started for a run."""
        if (child := self._children.get(run_id)) is not None:
            return child.process.pid
        if not run_id.isalnum():
            return None
        try:
            return int(json.loads((self._folder / f"{run_id}.json").read_text(encoding="utf-8"))["pid"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def last_output(self, run_id: str) -> str:
        """Return the last lines that a run of this server wrote; empty where nothing is known of it."""
        if not run_id.isalnum():
            return ""
        try:
            text = (self._folder / f"{run_id}.log").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-_LAST_LINES:])

    @staticmethod
    def interrupt(pid: int) -> None:
        """Tell a process to end as Ctrl-C does: what is under way may finish, and what finished is kept."""
        ChildRuns._signal(pid, signal.SIGINT)

    @staticmethod
    def _signal(pid: int, number: int) -> None:
        with suppress(ProcessLookupError):  # it has just ended by itself
            os.kill(pid, number)

    def close(self, *, at_once: bool = False) -> None:
        """Tell the runs of this server to end; they are kept, and can be gone on with.

        What is under way in them may finish, as after Ctrl-C; `at_once` it may not, as after a second one.
        """
        with self._lock:
            self._is_closed = True
            nameless = [
                (process.pid, ends_by) for process, ends_by in self._nameless if process.poll() is None
            ]
        for pid, ends_by in nameless:
            self._signal(pid, ends_by)
        for run_id in self.under_way():
            self.interrupt(self._children[run_id].process.pid)
            if at_once:  # another signal: of two that are the same a process may see one
                self._signal(self._children[run_id].process.pid, signal.SIGTERM)


@contextmanager
def _command_line_file(words: Sequence[str]) -> Iterator[IO[bytes]]:
    """Give a file without a name in which a process finds its command line."""
    if any("\0" in word for word in words):
        message = "what was asked for holds NUL, which no name has; no command line can have it"
        raise NotStartedError([{"message": message, "kind": ""}])
    with tempfile.TemporaryFile() as given:
        given.write(json.dumps(list(words)).encode())
        given.seek(0)
        yield given


def _read_messages(path: Path) -> list[dict[str, Any]]:
    """Return what was told so far; a line that is being written is not there yet."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return []
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def _json(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _problem(output: bytes) -> dict[str, Any]:
    lines = output.decode("utf-8", "replace").strip().splitlines()[-_LAST_LINES:]
    text = "\n".join(lines).removeprefix("error: ").removeprefix("nothing to run: ")
    return {"message": text or "it ended without a word", "kind": ""}
