"""What people do with a stored run: name it, note something, star it, make it a baseline, delete it. Its evidence stays unchanged."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Header
from fastapi.responses import JSONResponse
from pydantic import Field

from proctor.analysis.compare.baselines import remove_baseline, set_baseline
from proctor.errors import SetupError
from proctor.runs.storage.queries import prune_runs
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.manifest import NO_ANNOTATION, RunState
from proctor.stores.base import Store
from proctor.stores.baselines import baseline_names, is_baseline
from proctor.stores.open import store_file
from proctor.web.pages.base import copy_fields
from proctor.web.server.context import ContextDep
from proctor.web.server.http.errors import Detail, answer

router = APIRouter()


class Annotation(PageModel):
    """What people wrote about a run."""

    name: Annotated[str, Field(max_length=200)] = ""
    note: Annotated[str, Field(max_length=10_000)] = ""
    starred: bool = False


class AnnotationChange(PageModel):
    """What changes in it: missing keys stay unchanged."""

    name: Annotated[str, Field(max_length=200)] | None = None
    note: Annotated[str, Field(max_length=10_000)] | None = None
    starred: bool | None = None


class RunManagement(Annotation):
    """What can be done with a run, and what that would mean."""

    baselines: list[str]
    """The names under which it is a baseline."""
    why_no_baseline: str
    """Why it cannot become one; empty if it can."""
    why_not_deleted: str
    """Why it cannot be deleted; empty if it can."""
    trials: int
    scorings: int
    labels: int
    """Labels of people, which are deleted with the run."""


@router.get("/runs/{run}/management")
def get_management(context: ContextDep, run: str) -> RunManagement:
    """Return the annotation of a run, its baselines, and what would be deleted with it."""
    with context.runs() as store:
        return _management(store, store.find(run))


@router.put("/runs/{run}/annotation")
def put_annotation(context: ContextDep, run: str, annotation: AnnotationChange) -> RunManagement:
    """Write name, note or star of a run in place of what was; what is left out stays. The run itself stays unchanged."""
    with context.changing() as store:
        run_id = store.find(run)
        changed = annotation.model_dump(exclude_none=True)
        if "name" in changed:
            changed["name"] = " ".join(changed["name"].split())
        store.annotate(run_id, replace(store.annotations().get(run_id, NO_ANNOTATION), **changed))
        return _management(store, run_id)


@router.put(
    "/runs/{run}/baselines/{name}",
    response_model=RunManagement,
    responses={
        412: {
            "model": Detail,
            "description": "The baseline is another run than the one that If-Match names.",
        },
        428: {"model": Detail, "description": "Replacing a baseline needs If-Match."},
    },
)
def put_baseline(
    context: ContextDep,
    run: str,
    name: str,
    if_match: Annotated[
        str | None, Header(description="The id of the run that this one replaces as the baseline.")
    ] = None,
) -> RunManagement | JSONResponse:
    """Make a run the baseline of this name. It replaces only the run that If-Match names."""
    with context.changing() as store, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page shows the outcome of the run next to the button
        run_id = store.find(run)
        if (refusal := _refuse_replacement(store, name, run_id, if_match)) is not None:
            return refusal
        set_baseline(name, run_id, store)
        return _management(store, run_id)


def _refuse_replacement(store: Store, name: str, run_id: str, if_match: str | None) -> JSONResponse | None:
    """Return the answer to a request that would replace a baseline without naming its run; `None` if nothing is lost."""
    expected = (if_match or "").strip().removeprefix("W/").strip('"')
    present = next((one for one, names in baseline_names(store).items() if name in names), "")
    exists = is_baseline(name, store)
    if run_id == present or (expected == present and bool(present) == exists):
        return None
    if expected:
        now = f"run {present}" if present else "a file that cannot be read"
        text = f"the baseline {name} is {now}, no longer run {expected}"
        return answer(412, f"nothing was written: {text if exists else f'there is no baseline {name}'}")
    was = (
        f"run {present}: send its id as If-Match"
        if present
        else "a file that cannot be read: remove it first"
    )
    return answer(428, f"nothing was written: the baseline {name} is {was} to replace it")


@router.delete("/runs/{run}/baselines/{name}")
def delete_baseline(context: ContextDep, run: str, name: str) -> RunManagement:
    """Remove the baseline of this name if it is that run, which stays."""
    with context.changing() as store:
        run_id = store.find(run)
        if name not in baseline_names(store).get(run_id, ()):
            raise SetupError(f"run {run_id} is not the baseline {name}")
        remove_baseline(name, store)
        return _management(store, run_id)


@router.delete("/runs/{run}", status_code=204)
def delete_run(context: ContextDep, run: str) -> None:
    """Delete a run with its evidence. It is named by its complete id; a run in progress and a baseline are not deleted."""
    with context.changing() as store, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that artefacts remain, which a copy of the store may use
        if (run_id := store.find(run)) != run:
            raise SetupError(f"{run} means run {run_id}: a run is deleted by its complete id only")
        prune_runs(store, runs=[run_id])


def _management(store: Store, run_id: str) -> RunManagement:
    annotation = store.annotations().get(run_id, NO_ANNOTATION)
    standing = store.standing(run_id)
    names = baseline_names(store).get(run_id, [])
    is_running = standing.state is RunState.RUNNING
    baseline_text = f"it is the baseline {' and '.join(names)}: remove that first" if names else ""
    return copy_fields(
        RunManagement,
        annotation,
        standing,
        baselines=names,
        why_no_baseline=_baseline_problem(store, standing.state),
        why_not_deleted="it is in progress" if is_running else baseline_text,
        scorings=len(store.scorings(run_id)),
        labels=len(store.labels(run_id)),
    )


def _baseline_problem(store: Store, state: RunState) -> str:
    if store_file(store.url) is None:
        return "this store is not a file: baselines are kept next to one"
    return "" if state is RunState.FINISHED else f"it is {state.value}"
