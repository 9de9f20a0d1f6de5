"""What bodies of google-adk's requests have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from proctor.schema.base import to_camel


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
        return given
