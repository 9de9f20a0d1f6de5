"""What bodies of google-adk's requests have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from proctor.schema.base import to_camel

_DEEPEST = 200
"""Levels of a body: what google-adk's sessions, too, can tell again (pydantic writes 255)."""


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
