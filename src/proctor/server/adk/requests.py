"""What bodies of google-adk's requests have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from proctor.schema.base import to_camel


class AdkRequest(BaseModel):
    """A body in either spelling; keys that nobody knows are ignored: google-adk's page sends some."""

    model_config = ConfigDict(
        extra="ignore", alias_generator=to_camel, populate_by_name=True, allow_inf_nan=False
    )
