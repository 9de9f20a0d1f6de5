"""Rubrics: properties that an answer must have, described in text; and the judge's verdict on each."""

import hashlib
from typing import Any

from pydantic import model_validator

from proctor.schema.format.wire_model import WireModel


class RubricContent(WireModel):
    """What must hold."""

    text_property: str | None = None


class Rubric(WireModel):
    """One property that an answer must have.

    `type` is upper snake case (`FINAL_RESPONSE_QUALITY`, `TOOL_USE_QUALITY`, `TRAJECTORY_QUALITY`); null: any.
    The short form `Rubric(criterion="…", points=1)` reads too: without `rubric_id` it gets one made from the text
    (always the same for the same text); `criterion` and `points` are kept as they are.
    """

    rubric_id: str
    rubric_content: RubricContent
    description: str | None = None
    type: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_short_form(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not isinstance(text := data.get("criterion"), str):
            return data
        data = dict(data)
        if "rubric_content" not in data and "rubricContent" not in data:
            data["rubric_content"] = {"text_property": text}
        if "rubric_id" not in data and "rubricId" not in data:
            data["rubric_id"] = stable_rubric_id(text)
        return data


class RubricScore(WireModel):
    """The verdict on one rubric: `score` is 1 (fulfilled), 0 (not fulfilled) or a mean of such; null: no verdict."""

    rubric_id: str
    rationale: str | None = None
    score: float | None = None


def stable_rubric_id(text: str) -> str:
    """Return the id of a rubric without one, derived from its text alone, so that the results of different runs match."""
    return "rubric_" + hashlib.sha256(text.strip().encode()).hexdigest()[:8]
