"""The base of the models that pages and `--json` show."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class PageModel(BaseModel):
    """A part of a page. Every field is always present; an unknown value is null."""

    model_config = ConfigDict(extra="forbid", json_schema_serialization_defaults_required=True)
