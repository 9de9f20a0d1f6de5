"""The process: its standard streams and its exit, protected from the code under test, and the program that started it."""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, TextIO

from proctor.common.safe_text import clean
from proctor.errors import SetupError
from proctor.schema.results.exit_code import ExitCode

_exit = os._exit  # saved before code under test can replace it
_LAST_WORDS = 2.0  # seconds that exit handlers may take while other threads run


class PatientStream(io.TextIOWrapper):
    """Standard stream that tolerates a closed reader (`| head`, a closed terminal): it then discards its output.

    Characters that the terminal's encoding lacks are written as escapes.
    """

    def __init__(self, descriptor: int) -> None:
        raw = os.fdopen(descriptor, "wb", closefd=False)
        line_by_line = self._is_terminal = os.isatty(descriptor)
        super().__init__(
            raw,
            encoding=getattr(sys.__stdout__, "encoding", None) or "utf-8",
            errors="backslashreplace",
            line_buffering=line_by_line,
            write_through=False,
        )

    def write(self, text: str) -> int:
        """Write `text`; ignore a closed reader."""
        try:
            return super().write(text)
        except OSError as error:
            self._close_output_after(error)
            return len(text)

    def flush(self) -> None:
        """Flush the buffer; ignore a closed reader."""
        try:
            super().flush()
        except OSError as error:
            self._close_output_after(error)

    def _close_output_after(self, error: OSError) -> None:
        """Discard further output if `error` means a closed reader; re-raise any other error, such as a full disk."""
        if not (isinstance(error, BrokenPipeError) or (self._is_terminal and error.errno == errno.EIO)):
            raise error
        self.redirect_to_null()

    def redirect_to_null(self) -> None:
        """Redirect the buffer and all further output to the null device."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def duplicate_streams() -> None:
    """Replace stdout and stderr by duplicates, whose descriptors code under test does not know and cannot close."""
    sys.stdout = PatientStream(_copy_of(1))
    sys.stderr = PatientStream(_copy_of(2))


def _copy_of(descriptor: int) -> int:
    try:
        return os.dup(descriptor)
    except OSError:  # the descriptor was closed when the process started
        return os.open(os.devnull, os.O_WRONLY)


@contextmanager
def reserve_stdout() -> Iterator[TextIO]:
    """Yield the stdout for reports; inside the block other output (of an agent, its tools) goes to stderr."""
    ours = sys.stdout
    if not isinstance(ours, PatientStream):  # a test runner has replaced stdout
        sys.stdout = sys.stderr
        try:
            yield ours
        finally:
            sys.stdout = ours
        return
    ours.flush()
    _divert(2, 1)
    sys.stdout = sys.stderr
    try:
        yield ours
    finally:
        sys.stdout = ours
        _divert(ours.fileno(), 1)


@contextmanager
def preserve_import_path() -> Iterator[None]:
    """Restore the entries that code inside the block removes from `sys.path`: reports are imported later."""
    before = list(sys.path)
    try:
        yield
    finally:
        sys.path += [folder for folder in before if folder not in sys.path]


def _divert(source: int, target: int) -> None:
    with suppress(OSError):  # if stderr is closed, the output of the agent is discarded, too
        os.dup2(source, target)


class _ProcessExit:
    """End of the process. Code under test may call `os._exit` or `os.exec…`; this must never look like a verdict."""

    code: int = ExitCode.ERROR
    process = 0

    def guard(self, function: Callable[..., NoReturn]) -> Callable[..., NoReturn]:
        """Return a replacement for `function`, which ends the process; in a child process it calls the original."""

        def is_from_tested_code(*arguments: Any) -> NoReturn:
            if os.getpid() != self.process:
                function(*arguments)
            if self.code == _ProcessExit.code:
                call = f"os.{function.__name__}({arguments[0]!r})"
                sys.stderr.write(
                    f"error: code of an agent, a tool or a metric ended the process: {clean(call)}\n"
                )
            end_now(self.code)

        return is_from_tested_code


_ending = _ProcessExit()


def guard_exit() -> None:
    """Replace the functions that end the process, so that only Proctor determines its exit code."""
    _ending.process = os.getpid()
    for name in ("_exit", "execv", "execve"):  # all other variants call one of these
        setattr(os, name, _ending.guard(getattr(os, name)))


def end_now(code: int) -> NoReturn:
    """End the process with `code` immediately."""
    flush_streams()
    _exit(code)


def enable_garbage_collector() -> None:
    """Enable the garbage collector, and exclude all objects that exist now from collection.

    At exit Python traverses all collectable objects several times, which took a sixth of the time of a short run.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def exit_process(code: int) -> NoReturn:
    """End the process with `code`, even if an agent has left threads that never end."""
    _ending.code = code
    sys.excepthook, threading.excepthook = sys.__excepthook__, threading.__excepthook__
    flush_streams()
    if threading.active_count() > 1:
        farewell = threading.Thread(target=atexit._run_exitfuncs, daemon=True)  # noqa: SLF001  (no public way)
        farewell.start()
        farewell.join(_LAST_WORDS)
        end_now(code)
    sys.exit(code)


def flush_streams() -> None:
    """Flush stdout and stderr; ignore closed readers."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except RuntimeError:  # a signal handler has interrupted a write to this stream
            continue
        except (OSError, ValueError):  # the interpreter must not raise it again at exit
            if isinstance(stream, PatientStream) and not stream.closed:
                stream.redirect_to_null()


# --- The program that started this process: it may pass arguments on standard input, and read a status file ------------


_ARGUMENTS = "PROCTOR_WORDS"
"""If its value is `stdin`, standard input holds the arguments after `proctor` as a JSON array of strings, instead of argv."""


def read_arguments_from_stdin() -> None:
    """Read the arguments from standard input, and hide the variable and the input from child processes of the agent."""
    if os.environ.pop(_ARGUMENTS, "") != "stdin":
        return
    import json

    with open(0, "rb", closefd=False) as stdin:
        sys.argv[1:] = json.load(stdin)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


_STATUS_FILE = "PROCTOR_TELL"
"""The variable with the name of the file to which the run that begins, or the configuration errors, are written."""

_file: list[str] = []


def listen_to_environment() -> None:
    """Read the file name and remove the variable, so that child processes of the agent do not write to the file."""
    _file[:] = [name] if (name := os.environ.pop(_STATUS_FILE, "")) else []


def report_run(run_id: str, trials: int) -> None:
    """Report that a run has begun."""
    _write_status({"run": run_id, "trials": trials})


def report_problems(problems: Iterable[SetupError]) -> None:
    """Report configuration errors; nothing was run."""
    if _file:
        _write_status({"problems": [_as_data(problem) for problem in problems]})


def _as_data(problem: SetupError) -> dict[str, Any]:
    path = [str(part) for part in problem.path]
    return {"message": str(problem), "kind": type(problem).__name__, "file": problem.file, "path": path}


def _write_status(status: dict[str, Any]) -> None:
    if not _file:
        return
    import json

    with suppress(OSError), Path(_file[0]).open("a", encoding="utf-8") as file:  # the reader may have ended
        file.write(json.dumps(status) + "\n")
