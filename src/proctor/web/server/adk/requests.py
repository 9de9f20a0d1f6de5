"""What bodies of google-adk's requests have in common."""

from __future__ import annotations

import math
from typing import Any

from fastapi import HTTPException, Request
from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from proctor.schema.format.wire_model import to_camel

_DEEPEST = 200
"""Levels of a body: what google-adk's sessions, too, can tell again (pydantic writes 255)."""


class FiniteRequest(Request):  # type: ignore[misc]  # starlette is optional, and not followed by mypy
    """A request whose body has no number that JSON does not have: in a file it would become `null`, unseen."""

    async def json(self) -> Any:
        """Return the body.

        Raises:
            HTTPException: 422, with the place of such a number.
        """
        given = await super().json()
        if (place := _non_finite_path(given)) is not None:
            said = "Input should be a finite number: JSON has no other (write one, or null)"
            raise HTTPException(422, [{"type": "finite_number", "loc": ["body", *place], "msg": said}])
        return given


def _non_finite_path(given: Any) -> list[str | int] | None:
    """Return the way to the first number that is infinite or none; no recursion: what others nest may be deep."""
    left: list[tuple[Any, Any]] = [(given, None)]
    while left:
        value, way = left.pop()
        if isinstance(value, float) and not math.isfinite(value):
            place: list[str | int] = []
            while way is not None:
                way, step = way
                place.insert(0, step)
            return place
        if isinstance(value, dict | list):
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            left += [(one, (way, step)) for step, one in inner if isinstance(one, dict | list | float)]
    return None


class AdkRequest(BaseModel):
    """A body in either spelling; keys that nobody knows are ignored: google-adk's page sends some."""

    model_config = ConfigDict(
        extra="ignore", alias_generator=to_camel, populate_by_name=True, allow_inf_nan=False
    )

    @model_validator(mode="before")
    @classmethod
    def _each_once(cls, given: Any) -> Any:
        for name in cls.model_fields if isinstance(given, dict) else ():
            if name in given and to_camel(name) in given and name != to_camel(name):
                raise PydanticCustomError(
                    "given_twice",
                    "expected {field} once, got it in both spellings ({field} and {camel})",
                    {"field": name, "camel": to_camel(name)},
                )
        if _is_deeper(given, _DEEPEST):
            raise PydanticCustomError("too_deep", "expected at most {most} levels", {"most": _DEEPEST})
        return given


def _is_deeper(given: Any, most: int) -> bool:
    """Whether a value has more than `most` levels of lists and objects."""
    level = [given]
    for _ in range(most):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
    return bool(level)
