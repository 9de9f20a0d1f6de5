"""Labels of people: what they say of a trial, of a turn, of a rubric, held against a judge by `proctor judge`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from proctor.analysis.calibration.labels import label_at
from proctor.schema.analysis.label import HumanLabel
from proctor.web.pages.case.judges import LabelPart, label_part
from proctor.web.server.context import Here
from proctor.web.server.routes.case import Number, Position, Turn

router = APIRouter()

_ADDRESS = "/runs/{run}/cases/{position}/trials/{number}/labels/{metric}"


class LabelToPut(BaseModel):
    """What a person says."""

    model_config = ConfigDict(extra="forbid")

    passes: bool
    turn: Annotated[int, Field(ge=0, le=2**31)] | None = None
    """From 0; null: the trial as a whole."""
    rubric_id: Annotated[str, Field(max_length=1_000)] = ""
    note: Annotated[str, Field(max_length=10_000)] = ""


@router.put(_ADDRESS)
def put_label(
    here: Here, run: str, position: Position, number: Number, metric: str, label: LabelToPut
) -> LabelPart:
    """Keep a label; one of the same thing that was there before is replaced."""
    said = HumanLabel(
        eval_id="",
        passes=label.passes,
        trial=number,
        turn=label.turn,
        rubric_id=label.rubric_id,
        metric=metric,
        note=label.note,
    )
    with here.writing() as store:
        return label_part(label_at(store, run, position, said))


@router.delete(_ADDRESS, status_code=204)
def delete_label(
    here: Here,
    run: str,
    position: Position,
    number: Number,
    metric: str,
    turn: Turn = None,
    rubric_id: Annotated[str, Query(max_length=1_000)] = "",
) -> None:
    """Take a label back; one that is not there is no mistake."""
    said = HumanLabel(eval_id="", passes=False, trial=number, turn=turn, rubric_id=rubric_id, metric=metric)
    with here.writing() as store:
        label_at(store, run, position, said, forget=True)
