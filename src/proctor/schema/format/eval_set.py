"""A set of cases: what a file of the format holds."""

from typing import Annotated

from pydantic import AliasChoices, ConfigDict, Field

from proctor.schema.format.case import EvalCase
from proctor.schema.format.wire_model import WRITTEN_IN_SNAKE_CASE, Timestamp, WireModel


class EvalSet(WireModel):
    """Cases under one id.

    Its own keys are always written in snake_case, by alias too (as ADK writes them and alone reads them);
    both spellings are read, and `id` for `eval_set_id`.
    """

    model_config = ConfigDict(alias_generator=WRITTEN_IN_SNAKE_CASE, populate_by_name=True)

    eval_set_id: Annotated[
        str,
        Field(
            validation_alias=AliasChoices("eval_set_id", "evalSetId", "id"), serialization_alias="eval_set_id"
        ),
    ]
    name: str | None = None
    description: str | None = None
    eval_cases: list[EvalCase]
    creation_timestamp: Timestamp = 0.0
