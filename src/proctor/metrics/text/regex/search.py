"""Searches with regular expressions that cannot hang a run: what could take long runs in a process of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from proctor.errors import MetricError
from proctor.metrics.reason_text import show_name
from proctor.metrics.text.regex.cost_bound import most_steps

__all__ = ["Search", "find", "find_safely", "is_cheap", "show_pattern"]

CHEAP = 1e7
"""Steps that surely take less than a second, and mostly far less."""

Span = tuple[int, int] | None

CHILD = """
import json, re, sys
for pattern, flags, full, text in json.load(sys.stdin):
    compiled = re.compile(pattern, flags)
    found = compiled.fullmatch(text) if full else compiled.search(text)
    print(json.dumps(found and found.span()), flush=True)
"""


class Search(NamedTuple):
    """One pattern and one text."""

    pattern: re.Pattern[str]
    full: bool
    """The whole text must match, not a part of it."""
    text: str


def is_cheap(searches: Sequence[Search]) -> bool:
    """Whether all of them together surely take no time to speak of."""
    steps = (most_steps(each.pattern, each.text, anywhere=not each.full) for each in searches)
    return sum(steps) <= CHEAP


def find(searches: Sequence[Search]) -> list[Span]:
    """Where each text matches its pattern, here and now; `None` where it does not."""
    found = [
        one.pattern.fullmatch(one.text) if one.full else one.pattern.search(one.text) for one in searches
    ]
    return [match and match.span() for match in found]


def find_safely(searches: Sequence[Search], seconds: float) -> list[Span]:
    """As `find`, in a process that is ended after so many seconds: nothing else stops a regular expression at work.

    Raises:
        MetricError: it took longer, or there is no Python to start.
    """
    asked = json.dumps([[one.pattern.pattern, one.pattern.flags, one.full, one.text] for one in searches])
    command = [sys.executable, "-I", "-S", "-c", CHILD]
    try:
        done = subprocess.run(command, input=asked.encode(), capture_output=True, timeout=seconds, check=True)
    except subprocess.TimeoutExpired as late:
        answered = (late.stdout or b"").count(b"\n")
        raise _took_too_long(searches[min(answered, len(searches) - 1)], seconds) from None
    except (OSError, subprocess.CalledProcessError) as error:
        what = f"the process for regular expressions that may take long failed: {error}"
        raise MetricError(what) from error
    return [tuple(span) if span else None for span in map(json.loads, done.stdout.splitlines())]


def show_pattern(pattern: str) -> str:
    """A pattern as its author wrote it: quotes would double its backslashes."""
    return f"`{show_name(pattern)}`" if pattern else "the empty pattern"


def _took_too_long(search: Search, seconds: float) -> MetricError:
    return MetricError(
        f"the regular expression {show_pattern(search.pattern.pattern)} took longer than {seconds:g} s on an answer of "
        f"{len(search.text)} characters. It can match a text in too many ways: repeat nothing that repeats "
        "itself, make repeats possessive (`a++`), or allow it more `seconds`"
    )
