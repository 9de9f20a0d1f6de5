"""Sentences that begin with a place in a document: `expectations[0].calls[1]: …`."""

from __future__ import annotations

import re
from typing import Any

from pydantic.alias_generators import to_snake

from proctor.files.base import Path_
from proctor.files.explain import Finding

__all__ = ["finding_told"]

_INDEX = re.compile(r"\[(\d+)\]")
_PLACE = re.compile(r"[\w$*.\[\]-]+: ")


def finding_told(said: str, value: Any, base: Path_ = ()) -> Finding:
    """The finding that a sentence makes in `value`, which stands at `base`; a place that is not there is the nearest around it.

    Keys may have any characters in them, and either spelling in the document: the document decides where each one ends.
    """
    path: list[str | int] = []
    at = 0
    while (step := _step(said, at, value)) is not None:
        key, at = step
        path.append(key)
        value = value[key]
    rest = said[at:]
    if path and not rest.startswith(": "):  # the place goes on to where the document has nothing
        rest = rest[rest.find(": ") :] if ": " in rest else f": {rest}"
    elif not path and (place := _PLACE.match(rest)):
        rest = rest[place.end() - 2 :]
    return Finding((*base, *path), rest.removeprefix(": ").rstrip("."))


def _step(said: str, at: int, value: Any) -> tuple[str | int, int] | None:
    """The key or index of `value` that stands in the sentence at `at`, and where it ends."""
    if isinstance(value, list):
        found = _INDEX.match(said, at)
        return (int(found[1]), found.end()) if found and int(found[1]) < len(value) else None
    if not isinstance(value, dict):
        return None
    start = at + 1 if at and said[at : at + 1] == "." else at
    forms = ((key, form) for key in value for form in {key, to_snake(key)} if form)
    ends = ((start + len(form), key) for key, form in forms if said.startswith(form, start))
    end, key = max((each for each in ends if said[each[0] : each[0] + 1] in (".", "[", ":")), default=(0, ""))
    return (key, end) if end else None
