"""The common checks of the bodies of google-adk's requests."""

from __future__ import annotations

import math
from typing import Any

from fastapi import HTTPException, Request
from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from proctor.schema.format.wire_model import to_camel

_DEEPEST = 200
"""The most levels of a body, which google-adk's sessions can return, too (pydantic writes 255)."""


class FiniteRequest(Request):  # type: ignore[misc]  # starlette is optional, and not followed by mypy
    """A request that refuses infinite numbers and NaN, which would silently become `null` in a file."""

    async def json(self) -> Any:
        """Return the body.

        Raises:
            HTTPException: 422, with the place of such a number.
        """
        body = await super().json()
        if (place := _non_finite_path(body)) is not None:
            message = "Input should be a finite number: JSON has no other (write one, or null)"
            raise HTTPException(422, [{"type": "finite_number", "loc": ["body", *place], "msg": message}])
        return body


def _non_finite_path(given: object) -> list[str | int] | None:
    """Return the path of the first number that is infinite or NaN; without recursion, because a body may be deep."""
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
    """A body in either spelling; unknown keys are ignored, because google-adk's page sends some."""

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


def _is_deeper(given: object, most: int) -> bool:
    """Return whether a value has more than `most` levels of lists and objects."""
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
