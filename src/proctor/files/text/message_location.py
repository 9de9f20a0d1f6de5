"""Sentences that begin with a place in a document: `expectations[0].calls[1]: …`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic.alias_generators import to_snake

from proctor.files.text.problems import Path_
from proctor.files.text.validation_messages import Finding

__all__ = ["finding_told"]

_INDEX = re.compile(r"\[(\d+)\]")


def finding_told(said: str, value: Any, base: Path_ = ()) -> Finding:
    """The finding that a sentence makes in `value`, which stands at `base`; what of its place is not there stays in its message.

    Keys may have any characters in them, and either spelling in the document: the document decides where each one ends.
    """
    at, path = _followed(said, 0, value)
    rest = said[at:]
    message = rest.removeprefix(": ") if rest.startswith(": ") else rest.removeprefix(".")
    return Finding((*base, *path), message.rstrip("."))


def _followed(said: str, at: int, value: Any) -> tuple[int, Path_]:
    """How far the sentence can be followed into `value`, from `at` on, and the keys on the way: the furthest of all ways."""
    ways: list[tuple[int, Path_]] = [(at, ())]
    for key, end in _steps(said, at, value):
        reached, rest = _followed(said, end, value[key])
        ways.append((reached, (key, *rest)))
    return max(ways, key=lambda way: way[0])


def _steps(said: str, at: int, value: Any) -> Iterator[tuple[str | int, int]]:
    """The keys or the index of `value` that stand in the sentence at `at`, and where each ends."""
    if isinstance(value, list):
        found = _INDEX.match(said, at)
        if found and int(found[1]) < len(value):
            yield int(found[1]), found.end()
    elif isinstance(value, dict):
        start = at + 1 if at and said[at : at + 1] == "." else at
        forms = ((key, form) for key in value for form in {key, to_snake(key)} if form)
        for key, form in forms:
            end = start + len(form)
            if said.startswith(form, start) and said[end : end + 1] in (".", "[", ":"):
                yield key, end
