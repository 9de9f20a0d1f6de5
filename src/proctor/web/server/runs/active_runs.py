"""Runs that this server starts: each is a separate process with a command line that a person could type.

So a crash of a run does not affect the server, a run that hangs can be ended, and a run continues if the server is killed: it
writes to the store as always, and the next server can still cancel it. A folder next to the store contains the output and
the process id of each run.
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
from typing import IO, Annotated, Any

from fastapi import Depends, Request

from proctor.common.secrets import hide_secrets
from proctor.errors import ProctorError, SetupError
from proctor.runs.storage.open import store_url
from proctor.stores.base import ScoringProgress
from proctor.web.server.context import ServerContext
from proctor.web.server.runs.follow import Followers

MESSAGES_VARIABLE = "PROCTOR_TELL"
"""The environment variable with the file to which `proctor` writes that its run has started, or its problems."""
ARGUMENTS_VARIABLE = "PROCTOR_WORDS"
"""The environment variable that makes `proctor` read its command line from standard input: addresses of agents and stores
may contain passwords, and every user of the machine can read the arguments of a process."""
MOST_AT_ONCE = 3
MOST_ASKED = 8
"""The most estimates at once: each is a process for which a client waits."""
_KEPT = 50
"""The runs whose output is stored."""
_LOOK_EVERY = 0.02
_LONGEST_START = 600.0
_LONGEST_ESTIMATE = 120.0
_LAST_LINES = 20


@dataclass(slots=True)
class ChildRun:
    """A process of this server."""

    process: subprocess.Popen[bytes]
    messages: Path
    output: Path


class NotStartedError(SetupError):
    """Nothing was run, because of the problems that the command reports."""

    def __init__(self, problems: Sequence[Mapping[str, object]]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(str(problem["message"]) for problem in self.problems))


class TooManyRunsError(SetupError):
    """The maximum number of runs is running."""


class ChildRuns:
    """The runs of one server. Any thread may use it; no method waits for the end of a run."""

    def __init__(self, root: Path, folder: Path, *, most: int = MOST_AT_ONCE) -> None:
        """`root`: the project's folder, in which commands run; `folder`: for outputs and process ids."""
        self._root, self._folder, self._most = root, folder, most
        self._children: dict[str, ChildRun] = {}
        self._starting = self._questions = 0
        self._nameless: list[tuple[subprocess.Popen[bytes], int]] = []
        """Processes whose run is not known yet, or that are not runs, each with the signal that ends it."""
        self._is_closed = False
        self._lock = threading.Lock()

    # --- starting ----------------------------------------------------------------------------------------------------

    def start(self, words: Sequence[str]) -> dict[str, Any]:
        """Run `proctor WORDS…`, and return its message when the run has started: `run` and `trials`.

        Raises:
            NotStartedError: it ended before a run started.
            TooManyRunsError: the maximum number of runs is running.
        """
        with self._lock:
            under_way = self.under_way()
            if len(under_way) + self._starting >= self._most:
                raise TooManyRunsError(
                    f"{len(under_way) + self._starting} runs of this page are running ({', '.join(under_way)}); the limit is "
                    f"{self._most}: wait for one to end, or cancel it"
                )
            self._starting += 1
        try:
            child = self._spawn(words)
            with self._ends_with_server(child.process, signal.SIGINT):
                message = self._wait_for_start(child, _LONGEST_START)
                with self._lock:
                    self._remember(message["run"], child, words)
            return message
        finally:
            with self._lock:
                self._starting -= 1

    def ask(self, words: Sequence[str]) -> dict[str, Any]:
        """Run `proctor WORDS…` to its end, and return the JSON that it writes to stdout.

        Raises:
            NotStartedError: the problems that it reports.
            TooManyRunsError: the maximum number of estimates is running.
        """
        with self._lock:
            if self._questions >= MOST_ASKED:
                raise TooManyRunsError(
                    f"{MOST_ASKED} estimates are running, which is the maximum: wait a moment"
                )
            self._questions += 1
        messages = self._path("asked.jsonl")
        try:
            output, errors = self._outputs(words, messages)
            problems = [problem for one in _read_messages(messages) for problem in one.get("problems", ())]
            document = None if problems else _json(output)
            if document is None:
                raise NotStartedError(problems or [_problem(errors)])
            return document
        except subprocess.TimeoutExpired:
            words_ = (
                f"the agent took more than {_LONGEST_ESTIMATE:.0f} s to load: check what it does on import"
            )
            raise NotStartedError([{"message": words_, "kind": "AgentLoadError"}]) from None
        finally:
            messages.unlink(missing_ok=True)
            with self._lock:
                self._questions -= 1

    def _outputs(self, words: Sequence[str], messages: Path) -> tuple[bytes, bytes]:
        with _command_line_file(words) as arguments:
            process = subprocess.Popen(
                self._command(words), cwd=self._root, env=self._environment(messages), stdin=arguments,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        with process, self._ends_with_server(process, signal.SIGKILL):  # an estimate stores nothing
            try:
                return process.communicate(timeout=_LONGEST_ESTIMATE)
            except BaseException:
                process.kill()
                raise

    @contextmanager
    def _ends_with_server(self, process: subprocess.Popen[bytes], ends_by: int) -> Iterator[None]:
        """End a process with the server as long as its run is not known."""
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
        messages, output = self._path("messages.jsonl"), self._path("log")
        with _command_line_file(words) as arguments, output.open("wb") as log:
            process = subprocess.Popen(
                self._command(words), cwd=self._root, env=self._environment(messages), stdin=arguments,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        return ChildRun(process, messages, output)

    @staticmethod
    def _command(words: Sequence[str]) -> list[str]:
        """Return the visible part of the command line: only the command's name."""
        return [sys.executable, "-m", "proctor", *words[:1]]

    @staticmethod
    def _environment(messages: Path) -> dict[str, str]:
        return {**os.environ, MESSAGES_VARIABLE: str(messages), ARGUMENTS_VARIABLE: "stdin", "NO_COLOR": "1"}

    def _path(self, suffix: str) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / f"{secrets.token_hex(6)}.{suffix}"

    def _wait_for_start(self, child: ChildRun, seconds: float) -> dict[str, Any]:
        """Wait until the command reports that its run has started; raise if it ends or reports problems."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            ended = child.process.poll() is not None
            for message in _read_messages(child.messages):
                if "run" in message:
                    return message
                self._discard(child, message["problems"])
            if ended:
                self._discard(child, [_problem(child.output.read_bytes())])
            time.sleep(_LOOK_EVERY)
        child.process.kill()
        text = f"no run started within {seconds:.0f} s: check what the agent does on import and when it is opened"
        self._discard(child, [{"message": text, "kind": "AgentLoadError"}])
        raise AssertionError("unreachable")

    @staticmethod
    def _discard(child: ChildRun, problems: Sequence[Mapping[str, object]]) -> None:
        try:
            child.process.wait(5)
        except subprocess.TimeoutExpired:  # nothing was run, and no one would wait for its end
            child.process.kill()
            child.process.wait()
        child.messages.unlink(missing_ok=True)
        child.output.unlink(missing_ok=True)
        raise NotStartedError(problems)

    # --- what was started --------------------------------------------------------------------------------------------

    def _remember(self, run_id: str, child: ChildRun, words: Sequence[str]) -> None:
        child.messages.unlink(missing_ok=True)
        child.output = child.output.replace(self._folder / f"{run_id}.log")
        self._children[run_id] = child
        # wait for its end, else it would become a zombie process
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
        """Return the id of the process that this server, or an earlier one, started for a run."""
        if (child := self._children.get(run_id)) is not None:
            return child.process.pid
        if not run_id.isalnum():
            return None
        try:
            return int(json.loads((self._folder / f"{run_id}.json").read_text(encoding="utf-8"))["pid"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @staticmethod
    def interrupt(pid: int) -> None:
        """Interrupt a process as Ctrl-C does: running trials may finish, and finished ones are kept."""
        ChildRuns._signal(pid, signal.SIGINT)

    @staticmethod
    def _signal(pid: int, number: int) -> None:
        with suppress(ProcessLookupError):  # it has already ended
            os.kill(pid, number)

    def close(self, *, at_once: bool = False) -> None:
        """Interrupt the runs of this server; they are kept and can be resumed.

        Running trials may finish, as after Ctrl-C; with `at_once` they may not, as after a second one.
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
            if at_once:  # another signal, because two equal ones may be merged
                self._signal(self._children[run_id].process.pid, signal.SIGTERM)


@contextmanager
def _command_line_file(words: Sequence[str]) -> Iterator[IO[bytes]]:
    """Yield an unnamed file with a command line for a process."""
    if any("\0" in word for word in words):
        message = "the request contains NUL, which no command line may contain"
        raise NotStartedError([{"message": message, "kind": ""}])
    with tempfile.TemporaryFile() as file:
        file.write(json.dumps(list(words)).encode())
        file.seek(0)
        yield file


def _read_messages(path: Path) -> list[dict[str, Any]]:
    """Return the messages so far, without a line that is still being written."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return []
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def _json(text: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _problem(output: bytes) -> dict[str, object]:
    lines = output.decode("utf-8", "replace").strip().splitlines()[-_LAST_LINES:]
    text = "\n".join(lines).removeprefix("error: ").removeprefix("nothing to run: ")
    return {"message": text or "it ended without a message", "kind": ""}


# --- the running runs of one server: those that it started, and those that a client watches ---------------------------


FOLDER = ".proctor/page"


class ActiveRuns:
    """The running runs of one server."""

    def __init__(self, context: ServerContext) -> None:
        self.context = context
        self.children = ChildRuns(context.root, context.root / FOLDER)
        self.followers = Followers(context, self.is_ours)

    def no_runs_reason(self) -> str:
        """Return why this server cannot start runs; empty if it can."""
        try:
            url = store_url(self.context.store_url)
        except ProctorError as error:
            return str(error)
        if url.startswith("memory:"):
            return "this server stores its runs in memory, which no other process can write: start it with --store PATH"
        return ""

    def is_ours(self, run_id: str, standing: ScoringProgress) -> bool:
        """Return whether this server, or an earlier one, started the process that executes a run."""
        return standing.worker_pid is not None and standing.worker_pid == self.children.process_of(run_id)

    async def close(self) -> None:
        """Close all event streams, and interrupt the runs of this server as Ctrl-C does."""
        await self.followers.close()
        self.children.close()


def _active_runs(request: Request) -> ActiveRuns:
    active: ActiveRuns = request.app.state.active_runs
    return active


ActiveRunsDep = Annotated[ActiveRuns, Depends(_active_runs)]
"""The type of the parameter through which a route receives the application's `ActiveRuns`."""
