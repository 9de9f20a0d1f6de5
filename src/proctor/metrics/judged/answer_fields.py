"""Forms of answers: the shape that providers can be held to, and what no shape can say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.judges.base import UnusableAnswerError

__all__ = ["each_numbered", "list_of", "object_of", "text_field", "word_field"]


def text_field(description: str) -> dict[str, Any]:
    """The schema of a text."""
    return {"type": "string", "description": description}


def word_field(*words: str, description: str = "") -> dict[str, Any]:
    """The schema of one of a few words."""
    return {"type": "string", "enum": [*words], **({"description": description} if description else {})}


def object_of(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with these properties, all of them, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def list_of(item: Mapping[str, Any], description: str) -> dict[str, Any]:
    """The schema of a list of such items."""
    return {"type": "array", "items": item, "description": description}


def each_numbered(items: Sequence[Mapping[str, Any]], count: int, what: str) -> list[Mapping[str, Any]]:
    """Return items in the order of their `number`: each of 1 … `count` once, and no other.

    Raises:
        UnusableAnswerError: one is missing, there twice, or was never asked for.
    """
    found: dict[int, Mapping[str, Any]] = {}
    for item in items:
        number = int(item["number"])
        if not 1 <= number <= count:
            raise UnusableAnswerError(f"there is no {what} of such a number: they go from 1 to {count}")
        if number in found:
            raise UnusableAnswerError(f"two entries for {what} {number}")
        found[number] = item
    if missing := [number for number in range(1, count + 1) if number not in found]:
        raise UnusableAnswerError(f"no entry for {what} {', '.join(map(str, missing))}")
    return [found[number] for number in range(1, count + 1)]
