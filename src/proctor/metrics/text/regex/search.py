"""Searches with regular expressions within a time limit.

Python's `re` tries one way to match after the other, cannot be interrupted, and needs years for a pattern such as `(a+)+$`.
So each search runs in a child process that ends itself when the time is over. The children are reused.
"""

from __future__ import annotations

import atexit
import json
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from typing import IO, NamedTuple, cast

from proctor.common.inline_code import code_mark
from proctor.errors import MetricError
from proctor.metrics.reason_text import show_name

Span = tuple[int, int] | None

CHILD = """
import faulthandler, json, re, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent; the end of stdin ends this process
for line in sys.stdin:
    seconds, searches = json.loads(line)
    faulthandler.dump_traceback_later(seconds, exit=True)  # needs no GIL, which `re` holds
    for pattern, flags, full, text in searches:
        compiled = re.compile(pattern, flags)
        match = compiled.fullmatch(text) if full else compiled.search(text)
        print(json.dumps(match and match.span()), flush=True)
    faulthandler.cancel_dump_traceback_later()
    print("ready", flush=True)
"""

_idle: list[subprocess.Popen[bytes]] = []
"""Child processes that wait for the next request."""


class Search(NamedTuple):
    """One pattern and one text."""

    pattern: re.Pattern[str]
    full: bool
    """The whole text must match, not a part of it."""
    text: str


def compile_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern without warnings about syntax that may change in a later Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(text, flags)


def search_texts(searches: Sequence[Search], seconds: float) -> list[Span]:
    """Return where each text matches its pattern, `None` where it does not; all searches share `seconds`.

    Raises:
        MetricError: the searches took longer, or no child process could run them.
    """
    if not searches:
        return []
    request = [
        seconds,
        [[each.pattern.pattern, each.pattern.flags, each.full, each.text] for each in searches],
    ]
    started = time.monotonic()
    try:
        process = _acquire_process()
        spans = _request(process, request, len(searches))
    except OSError as error:
        raise MetricError(
            f"cannot run the process that searches with regular expressions: {error}"
        ) from error
    if len(spans) < len(searches):
        process.communicate()  # its output has ended, so it is about to end
        if time.monotonic() - started >= seconds:
            raise _time_limit_error(searches[len(spans)], seconds)
        raise MetricError(
            f"the process that searches with regular expressions ended with exit code {process.returncode}"
        )
    return spans


def matches(search: Search, seconds: float) -> bool:
    """Return whether one text matches its pattern; raises as `search_texts` does."""
    return search_texts([search], seconds)[0] is not None


def show_pattern(pattern: str) -> str:
    """Return a pattern as its author wrote it: quotes would double its backslashes."""
    return code_mark(show_name(pattern)) if pattern else "the empty pattern"


def _acquire_process() -> subprocess.Popen[bytes]:
    while _idle:
        process = _idle.pop()
        if process.poll() is None:
            return process
        _close(process)
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _request(process: subprocess.Popen[bytes], request: list[object], count: int) -> list[Span]:
    """Return the answers of a child process: fewer than `count` if it ended before."""
    requests, answers = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
    requests.write(json.dumps(request).encode() + b"\n")
    requests.flush()
    lines = [line for _ in range(count) if (line := answers.readline())]
    if answers.readline():  # "ready": its time limit is off, so it may be used again
        _idle.append(process)
    elif len(lines) == count:
        _close(process)
    return [tuple(span) if (span := json.loads(line)) else None for line in lines]


def _close(process: subprocess.Popen[bytes]) -> None:
    """End a child process, and wait until it has ended."""
    process.kill()
    process.communicate()


@atexit.register
def _close_idle() -> None:
    while _idle:
        _close(_idle.pop())


def _time_limit_error(search: Search, seconds: float) -> MetricError:
    return MetricError(
        f"the regular expression {show_pattern(search.pattern.pattern)} took longer than {seconds:g} s on an answer of "
        f"{len(search.text)} characters. It can match a text in too many ways: do not repeat what contains a repeat, "
        "make repeats possessive (`a++`), or raise `seconds`"
    )
