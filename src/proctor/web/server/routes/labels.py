"""The labels of people for the verdicts of LLM judges: give them one by one, see the progress, calibrate the judge.

Several people may label at once: each label has the name of its person, and a change names the label that was read.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field, StringConstraints

from proctor.analysis.calibration.calibrate import HELD_OUT, calibrate_sync
from proctor.analysis.calibration.labels import label_case, unlabel_case
from proctor.schema.analysis.calibration import HumanLabel
from proctor.schema.format.wire_model import PageModel
from proctor.web.pages.analysis.known_judges import CalibrationPart, calibration_part
from proctor.web.pages.analysis.labelling import ItemsToLabel, LabellingPage
from proctor.web.pages.case.judge_votes import LabelPart, label_part
from proctor.web.server.context import ContextDep
from proctor.web.server.http.errors import as_json

router = APIRouter()

_LABEL = "/runs/{run}/cases/{position}/trials/{number}/labels/{metric}"
_LABELLING = "/runs/{run}/labelling/{metric}"
_CHANGED: dict[int | str, dict[str, Any]] = {412: {"description": "The label has changed."}}
_MOST = 200

Position = Annotated[int, Path(ge=0, le=2**31, description="The position of the case in its run, from 0.")]
Number = Annotated[int, Path(ge=0, le=2**31, description="The trial, from 0.")]
LabellerName = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")
]
Labeller = Annotated[LabellerName, Query(description="The name of the person; empty: without a name.")]


class LabelToPut(PageModel):
    """The label that a person gives."""

    passes: bool
    turn: Annotated[int, Field(ge=0, le=2**31)] | None = None
    """From 0; null: the trial as a whole."""
    rubric_id: Annotated[str, Field(max_length=1_000)] = ""
    note: Annotated[str, Field(max_length=10_000)] = ""
    labeller: LabellerName = ""
    """The name of the person; empty: without a name."""
    replaces: float | None = None
    """`labelled_at` of the label that was read; null: this person has given none for the same thing."""


@router.put(_LABEL, responses=_CHANGED)
def put_label(
    context: ContextDep, run: str, position: Position, number: Number, metric: str, label: LabelToPut
) -> LabelPart:
    """Store a label; it replaces the one that was read. If that has changed, nothing is stored."""
    new = HumanLabel(
        eval_id="",
        passes=label.passes,
        trial=number,
        turn=label.turn,
        rubric_id=label.rubric_id,
        metric=metric,
        note=label.note,
        labeller=label.labeller,
    )
    with context.changing() as store:
        return label_part(label_case(store, run, position, new, replaces=label.replaces))


class LabelToDelete(PageModel):
    """The label that a person takes back."""

    turn: Annotated[int, Field(ge=0, le=2**31)] | None = None
    """From 0; by default the trial as a whole."""
    rubric_id: Annotated[str, Field(max_length=1_000)] = ""
    labeller: LabellerName = ""
    labelled_at: float | None = None
    """That of the label that was read; by default any is removed."""


@router.delete(_LABEL, status_code=204, responses=_CHANGED)
def delete_label(
    context: ContextDep,
    run: str,
    position: Position,
    number: Number,
    metric: str,
    label: Annotated[LabelToDelete, Query()],
) -> None:
    """Remove a label; if there is none, nothing happens."""
    old = HumanLabel(
        eval_id="",
        passes=False,
        trial=number,
        turn=label.turn,
        rubric_id=label.rubric_id,
        metric=metric,
        labeller=label.labeller,
    )
    with context.changing() as store:
        unlabel_case(store, run, position, old, labelled_at=label.labelled_at)


# --- all labels of a judge in a run -----------------------------------------------------------------------------------


@router.get(_LABELLING, response_model=LabellingPage)
def get_labelling(context: ContextDep, run: str, metric: str, labeller: Labeller = "") -> Response:
    """Return the progress towards a calibration, and the agreement of the people."""
    with context.runs() as store:
        return as_json(context.labellings.load(store, run, metric).page(labeller))


@router.get(f"{_LABELLING}/next", response_model=ItemsToLabel)
def list_next(
    context: ContextDep,
    run: str,
    metric: str,
    labeller: Labeller = "",
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 20,
    *,
    second: Annotated[
        bool, Query(description="Those that others have labelled, and this person has not.")
    ] = False,
) -> Response:
    """List the next verdicts to label, without the verdicts; the order depends on ids, votes and scores alone."""
    with context.runs() as store:
        return as_json(context.labellings.load(store, run, metric).next(labeller, limit, second=second))


@router.post(f"{_LABELLING}/calibration", status_code=201)
def calibrate_judge(context: ContextDep, run: str, metric: str) -> CalibrationPart:
    """Calibrate the judge with the labels of this run, and store the result, as `proctor judge calibrate` does."""
    with context.changing() as store:
        unit = context.labellings.load(store, run, metric).unit
        report = calibrate_sync(store.find(run), metric=metric, unit=unit, held_out=HELD_OUT, store=store)
    return calibration_part(report.calibration)
