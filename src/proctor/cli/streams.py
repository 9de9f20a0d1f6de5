"""This process's standard streams and its end."""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TextIO

from proctor.common.safe_text import clean

_exit = os._exit  # before any code under test can call it
_LAST_WORDS = 2.0  # seconds that exit handlers may take while threads are still at work


class PatientStream(io.TextIOWrapper):
    """A standard stream that survives its reader: once nobody reads (`| head`, a terminal that was closed), what is
    written goes nowhere.

    Characters that the terminal's encoding lacks are written as escapes instead of raising.
    """

    def __init__(self, descriptor: int) -> None:
        raw = os.fdopen(descriptor, "wb", closefd=False)
        line_by_line = self._is_terminal = os.isatty(descriptor)
        super().__init__(
            raw,
            encoding=_encoding(),
            errors="backslashreplace",
            line_buffering=line_by_line,
            write_through=False,
        )

    def write(self, text: str) -> int:
        """Write `text`; nothing is raised when the reader is gone."""
        try:
            return super().write(text)
        except OSError as error:
            self._let_go_after(error)
            return len(text)

    def flush(self) -> None:
        """Send what is buffered; nothing is raised when the reader is gone."""
        try:
            super().flush()
        except OSError as error:
            self._let_go_after(error)

    def _let_go_after(self, error: OSError) -> None:
        """Take an error for a reader who has left; raise it where it is something else, such as a full disk."""
        if not (isinstance(error, BrokenPipeError) or (self._is_terminal and error.errno == errno.EIO)):
            raise error
        self.let_go()

    def let_go(self) -> None:
        """Send what is still buffered, and all that follows, nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def _encoding() -> str:
    return getattr(sys.__stdout__, "encoding", None) or "utf-8"


def own_streams() -> None:
    """Give this process a stdout of its own: a copy that no code under test can close or write to by its number."""
    sys.stdout = PatientStream(_copy_of(1))
    sys.stderr = PatientStream(_copy_of(2))


def _copy_of(descriptor: int) -> int:
    try:
        return os.dup(descriptor)
    except OSError:  # it was closed before we started
        return os.open(os.devnull, os.O_WRONLY)


@contextmanager
def stdout_is_ours() -> Iterator[TextIO]:
    """Give the stdout that reports go to; whatever else prints meanwhile (an agent, its tools) goes to stderr."""
    ours = sys.stdout
    if not isinstance(ours, PatientStream):  # under a test runner: there is no real stdout to guard
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
def imports_go_on() -> Iterator[None]:
    """Put back what the code inside takes from `sys.path`: reports are imported when they are needed."""
    before = list(sys.path)
    try:
        yield
    finally:
        sys.path += [folder for folder in before if folder not in sys.path]


def _divert(source: int, target: int) -> None:
    with suppress(OSError):  # stderr is closed: then so is what the agent prints
        os.dup2(source, target)


class _Ending:
    """How this process ends. Code under test may call `os._exit` or `os.exec…`: that must never look like a verdict."""

    code = 3
    process = 0

    def kept(self, function: Callable[..., NoReturn]) -> Callable[..., NoReturn]:
        """Stand in for `function`, which would end the process; a child process may end as it likes."""

        def by_code_under_test(*arguments: Any) -> NoReturn:
            if os.getpid() != self.process:
                function(*arguments)
            if self.code == _Ending.code:
                call = f"os.{function.__name__}({arguments[0]!r})"
                sys.stderr.write(
                    f"error: code of an agent, a tool or a metric ended the process: {clean(call)}\n"
                )
            end_now(self.code)

        return by_code_under_test


_ending = _Ending()


def own_end() -> None:
    """Keep it to ourselves how this process ends."""
    _ending.process = os.getpid()
    for name in ("_exit", "execv", "execve"):  # all others come down to these
        setattr(os, name, _ending.kept(getattr(os, name)))


def end_now(code: int) -> NoReturn:
    """End the process with `code`, without waiting for anything."""
    flush_streams()
    _exit(code)


def loaded() -> None:
    """Let the garbage collector look from now on, and only at what comes from now on: what is loaded stays to the end.

    (Python looks at everything several times when it ends, which took a sixth of the time of a short run.)
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def leave(code: int) -> NoReturn:
    """End the process with `code` now, even where an agent has left threads that never end."""
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
    """Send what is buffered, whoever still listens."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # full or closed; the interpreter must not stumble over it once more
            if isinstance(stream, PatientStream) and not stream.closed:
                stream.let_go()
