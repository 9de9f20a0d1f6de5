"""Messages that begin with a path in a document, such as `expectations[0].calls[1]: …`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic.alias_generators import to_snake

from proctor.files.text.problems import Path_
from proctor.files.text.validation_messages import Finding

__all__ = ["locate_message"]

_INDEX = re.compile(r"\[(\d+)\]")


def locate_message(message: str, value: object, base: Path_ = ()) -> Finding:
    """Return the finding of a message that begins with a path in `value`; `base` is the path of `value` in the document.

    Steps of the path that `value` does not contain remain in the message. Keys may contain any character and have either
    spelling; the document decides where each key ends.
    """
    end, path = _follow_path(message, 0, value)
    rest = message[end:]
    text = rest.removeprefix(": ") if rest.startswith(": ") else rest.removeprefix(".")
    return Finding((*base, *path), text.rstrip("."))


def _follow_path(message: str, at: int, value: Any) -> tuple[int, Path_]:
    """Return the end of the longest path in `value` that the message contains from `at` on, and its steps."""
    candidates: list[tuple[int, Path_]] = [(at, ())]
    for key, end in _steps(message, at, value):
        reached, rest = _follow_path(message, end, value[key])
        candidates.append((reached, (key, *rest)))
    return max(candidates, key=lambda candidate: candidate[0])


def _steps(message: str, at: int, value: object) -> Iterator[tuple[str | int, int]]:
    """Return the keys or the index of `value` that the message contains at `at`, each with its end."""
    if isinstance(value, list):
        index = _INDEX.match(message, at)
        if index and int(index[1]) < len(value):
            yield int(index[1]), index.end()
    elif isinstance(value, dict):
        start = at + 1 if at and message[at : at + 1] == "." else at
        forms = ((key, form) for key in value for form in {key, to_snake(key)} if form)
        for key, form in forms:
            end = start + len(form)
            if message.startswith(form, start) and message[end : end + 1] in (".", "[", ":"):
                yield key, end
