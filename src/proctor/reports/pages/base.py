"""What the data of all pages has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class PageModel(BaseModel):
    """A part of a page. Every field is always there; what is not known is null."""

    model_config = ConfigDict(extra="forbid", json_schema_serialization_defaults_required=True)
