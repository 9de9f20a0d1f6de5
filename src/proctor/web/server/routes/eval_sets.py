"""Eval sets: listed, made, migrated; their cases read, changed, added and removed, by several people at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from proctor.authoring import edit_case as cases, edit_header as heads
from proctor.authoring.case_checks import check_case
from proctor.authoring.edit_eval_set import create_eval_set
from proctor.authoring.eval_set_files import SetFile
from proctor.errors import EvalFileError, SetupError
from proctor.files.edit.case import changeable
from proctor.web.pages.eval_sets.eval_case import (
    CaseChecked,
    CasePreview,
    CaseRemoved,
    CaseSaved,
    EvalCasePage,
    diff_lines,
)
from proctor.web.pages.eval_sets.eval_sets import EvalCaseList, EvalSetHead, EvalSetList, EvalSetPage, SetMade
from proctor.web.pages.eval_sets.load import field_notes, head_page, saved
from proctor.web.server.context import Here
from proctor.web.server.edit_sessions import editing
from proctor.web.server.http.conflict_responses import (
    REFUSALS,
    REFUSED,
    IfMatch,
    refused,
    unnamed,
    version_named,
    written,
)

router = APIRouter()

CaseId = Annotated[str, Query(alias="id", description="The id of the case, whatever characters it has.")]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewEvalSet(_Body):
    """A set to be made."""

    name: str
    """Its id; the file is called so, too: letters, digits and `_`."""
    folder: str = ""
    """Below the project's own, with `/` between the parts."""
    form: Literal["json", "yaml", "lines"] = "json"


class CaseDraft(_Body):
    """A case as it is to be."""

    value: dict[str, Any]
    comments_may_go: bool = False
    """Confirms that comments in what is replaced are lost."""


class HeadDraft(_Body):
    """The keys of a set, without its cases, as they are to be."""

    value: dict[str, Any]
    comments_may_go: bool = False
    """Confirms that comments in what is replaced are lost."""


class CaseVersion(_Body):
    """A case as it was read."""

    eval_id: str
    version: str


class CasesChosen(_Body):
    """Several cases of one set."""

    cases: Annotated[list[CaseVersion], Field(min_length=1, max_length=100_000)]


class UndoName(_Body):
    """What is to be undone."""

    undo: str


# --- sets --------------------------------------------------------------------------------------------------------------


@router.get("/eval-sets")
def list_eval_sets(here: Here) -> EvalSetList:
    """Return every eval set of the project, by path."""
    return editing(here).looks.all()


@router.post("/eval-sets", status_code=201, responses=REFUSALS, response_model=SetMade)
def create_set(here: Here, wanted: NewEvalSet) -> Any:
    """Make a new set without cases."""
    file = editing(here).sets.new(wanted.name, wanted.folder, wanted.form)
    try:
        create_eval_set(file.path)
    except EvalFileError as error:
        return refused(error, None)
    return SetMade(id=file.id, path=file.label)


@router.get("/eval-sets/{eval_set}")
def get_eval_set(here: Here, eval_set: str) -> EvalSetPage:
    """Return one set with everything that is wrong or doubtful in it."""
    known = editing(here)
    return known.looks.page(known.sets.find(eval_set))


@router.post("/eval-sets/{eval_set}/migrate", status_code=201)
def migrate_eval_set(here: Here, eval_set: str) -> SetMade:
    """Write a set of an old format anew, in today's, beside the old file; that one stays."""
    from proctor.files.eval_sets.convert import convert

    known = editing(here)
    file = known.sets.find(eval_set)
    look = known.looks.look(file)
    if look.source is None or not changeable(look.source):
        raise SetupError(f"{file.label}: this is no set in an old format ({look.kind})")
    target = known.sets.beside(file)
    convert(file.path, target.path, allow_duplicate_ids=True)
    return SetMade(id=target.id, path=target.label)


# --- their own keys ----------------------------------------------------------------------------------------------------


@router.get("/eval-sets/{eval_set}/head")
def get_eval_set_head(here: Here, response: Response, eval_set: str) -> EvalSetHead:
    """Return every key of a set but its cases; the ETag is what a change has to name."""
    page = head_page(heads.head_of(editing(here).sets.find(eval_set)))
    response.headers["ETag"] = f'"{page.version}"'
    return page


@router.put("/eval-sets/{eval_set}/head", responses=REFUSALS, response_model=EvalSetHead)
def save_eval_set_head(here: Here, eval_set: str, draft: HeadDraft, if_match: IfMatch = None) -> Any:
    """Give a set other keys; its cases, and what does not differ, keep their bytes in the file."""
    if (version := version_named(if_match)) is None:
        return unnamed()
    known = editing(here)
    file = known.sets.find(eval_set)
    try:
        found = heads.replace_head(file, draft.value, version=version, comments_may_go=draft.comments_may_go)
    except REFUSED as error:
        return refused(error, draft.value)
    finally:
        known.looks.forget(file)
    return written(head_page(found), found.version, 200)


@router.post("/eval-sets/{eval_set}/head/preview", responses=REFUSALS, response_model=CasePreview)
def preview_eval_set_head(here: Here, eval_set: str, draft: HeadDraft) -> Any:
    """Return what saving the keys of a set would do to its file, line by line; nothing is written."""
    return _previewed(here, eval_set, draft.value, lambda file: heads.preview_head(file, draft.value))


# --- cases -------------------------------------------------------------------------------------------------------------


@router.get("/eval-sets/{eval_set}/cases")
def list_eval_cases(
    here: Here,
    eval_set: str,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=100_000)] = 10_000,
) -> EvalCaseList:
    """Return cases of a set, in the order of the file."""
    known = editing(here)
    return known.looks.cases(known.sets.find(eval_set), offset, limit)


@router.get("/eval-sets/{eval_set}/case")
def get_eval_case(here: Here, response: Response, eval_set: str, case: CaseId) -> EvalCasePage:
    """Return one case with every key that it has; the ETag is what a change has to name."""
    known = editing(here)
    page = known.looks.case(known.sets.find(eval_set), case)
    response.headers["ETag"] = f'"{page.version}"'
    return page


@router.post("/eval-sets/{eval_set}/case", status_code=201, responses=REFUSALS, response_model=CaseSaved)
def add_eval_case(here: Here, eval_set: str, draft: CaseDraft) -> Any:
    """Put a new case behind those of a set."""
    return _changed(here, eval_set, draft.value, lambda file: cases.add_case(file, draft.value), 201)


@router.put("/eval-sets/{eval_set}/case", responses=REFUSALS, response_model=CaseSaved)
def save_eval_case(
    here: Here, eval_set: str, case: CaseId, draft: CaseDraft, if_match: IfMatch = None
) -> Any:
    """Make a case say something else; what does not differ keeps its bytes in the file."""
    if (version := version_named(if_match)) is None:
        return unnamed()
    return _changed(
        here,
        eval_set,
        draft.value,
        lambda file: cases.replace_case(
            file, case, draft.value, version=version, comments_may_go=draft.comments_may_go
        ),
        200,
    )


@router.post("/eval-sets/{eval_set}/case/preview", responses=REFUSALS, response_model=CasePreview)
def preview_eval_case(here: Here, eval_set: str, case: CaseId, draft: CaseDraft) -> Any:
    """Return what saving would do to the file, line by line; nothing is written."""
    return _previewed(here, eval_set, draft.value, lambda file: cases.preview(file, case, draft.value))


@router.post("/eval-sets/{eval_set}/case/check")
def check_eval_case(here: Here, eval_set: str, draft: CaseDraft) -> CaseChecked:
    """Say what is wrong with a case as it is being written, field by field; nothing is written."""
    file = editing(here).sets.find(eval_set)
    found = check_case(draft.value, file.path)
    return CaseChecked(
        wrong=field_notes(found.wrong),
        refused=field_notes(found.refused),
        doubtful=field_notes(found.doubtful),
    )


@router.delete("/eval-sets/{eval_set}/case", responses=REFUSALS, response_model=CaseRemoved)
def remove_eval_case(here: Here, eval_set: str, case: CaseId, if_match: IfMatch = None) -> Any:
    """Take a case out of a set."""
    if (version := version_named(if_match)) is None:
        return unnamed()
    return _removed(here, eval_set, {case: version})


@router.post("/eval-sets/{eval_set}/cases/remove", responses=REFUSALS, response_model=CaseRemoved)
def remove_eval_cases(here: Here, eval_set: str, chosen: CasesChosen) -> Any:
    """Take several cases out of a set at once: all of them, or none where one was changed since it was read."""
    return _removed(here, eval_set, {one.eval_id: one.version for one in chosen.cases})


def _removed(here: Here, eval_set: str, versions: dict[str, str]) -> Any:
    known = editing(here)
    file = known.sets.find(eval_set)
    try:
        before, now = cases.remove_cases(file, versions)
    except (cases.ChangedMeanwhileError, EvalFileError) as error:
        return refused(error, None)
    finally:
        known.looks.forget(file)
    return CaseRemoved(eval_ids=[*versions], undo=known.remember(file, before, now))


@router.post("/eval-sets/{eval_set}/undo", responses=REFUSALS, response_model=EvalSetPage)
def restore_eval_case(here: Here, eval_set: str, wanted: UndoName) -> Any:
    """Bring a removed case back: the file is what it was, byte for byte."""
    known = editing(here)
    file = known.sets.find(eval_set)
    try:
        known.undo(file, wanted.undo)
    except cases.ChangedMeanwhileError as error:
        return refused(error, None)
    return known.looks.page(file)


# --- what is refused ---------------------------------------------------------------------------------------------------


def _changed(
    here: Here, eval_set: str, value: Any, change: Callable[[SetFile], cases.CaseContent], status: int
) -> Response:
    known = editing(here)
    file = known.sets.find(eval_set)
    try:
        found = change(file)
    except REFUSED as error:
        return refused(error, value)
    finally:
        known.looks.forget(file)
    return written(saved(found), found.version, status)


def _previewed(here: Here, eval_set: str, value: Any, look: Callable[[SetFile], cases.Draft]) -> Any:
    try:
        found = look(editing(here).sets.find(eval_set))
    except (cases.NotACaseError, EvalFileError) as error:
        return refused(error, value)
    return CasePreview(
        lines=diff_lines(found.before, found.after), lost=found.lost, doubtful=field_notes(found.warnings)
    )
