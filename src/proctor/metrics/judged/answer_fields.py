"""JSON Schemas for the fields of judge answers, and the check that every item was answered once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.judges.base import UnusableAnswerError

__all__ = ["in_number_order", "list_of", "object_of", "text_field", "word_field"]


def text_field(description: str) -> dict[str, Any]:
    """Return the schema of a text."""
    return {"type": "string", "description": description}


def word_field(*words: str, description: str = "") -> dict[str, Any]:
    """Return the schema of one of a few words."""
    return {"type": "string", "enum": [*words], **({"description": description} if description else {})}


def object_of(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def list_of(item: Mapping[str, Any], description: str) -> dict[str, Any]:
    """Return the schema of a list of items."""
    return {"type": "array", "items": item, "description": description}


def in_number_order(items: Sequence[Mapping[str, Any]], count: int, what: str) -> list[Mapping[str, Any]]:
    """Return items in the order of their `number`: each of 1 … `count` once, and no other.

    Raises:
        UnusableAnswerError: a number is missing, occurs twice, or is out of range.
    """
    by_number: dict[int, Mapping[str, Any]] = {}
    for item in items:
        number = int(item["number"])
        if not 1 <= number <= count:
            raise UnusableAnswerError(f"there is no {what} {number}: expected a number from 1 to {count}")
        if number in by_number:
            raise UnusableAnswerError(f"two entries for {what} {number}")
        by_number[number] = item
    if missing := [number for number in range(1, count + 1) if number not in by_number]:
        raise UnusableAnswerError(f"no entry for {what} {', '.join(map(str, missing))}")
    return [by_number[number] for number in range(1, count + 1)]
