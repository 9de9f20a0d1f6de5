"""Eval sets: list, create and migrate them; read, change, add and remove their cases and their text.

Several people may edit at once: a change names the version that was read (`If-Match`), and is refused if the file has
changed since.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Query, Response
from pydantic import Field

from proctor.authoring import edit_case as cases, edit_header as heads
from proctor.authoring.edit_case import check_case
from proctor.authoring.edit_eval_set import create_eval_set
from proctor.authoring.edit_text import check_text, read_set_text, replace_text
from proctor.authoring.eval_set_files import ListedFile
from proctor.errors import EvalFileError, SetupError
from proctor.files.edit.editable_file import reason_not_editable
from proctor.schema.format.wire_model import PageModel
from proctor.web.pages.eval_sets.load_eval_sets import field_notes, head_page, saved_case, text_page
from proctor.web.pages.eval_sets.set_pages import (
    CaseChecked,
    CasePreview,
    CaseRemoved,
    CaseSaved,
    CreatedSet,
    EvalCaseList,
    EvalCasePage,
    EvalSetHead,
    EvalSetList,
    EvalSetPage,
    EvalSetText,
    diff_lines,
)
from proctor.web.server.context import ContextDep
from proctor.web.server.eval_set_edits import (
    REFUSAL_ERRORS,
    REFUSALS,
    IfMatch,
    edit_session,
    refusal_response,
    requested_version,
    saved_response,
    version_required,
)

router = APIRouter()
_Versioned = TypeVar("_Versioned", EvalCasePage, EvalSetHead, EvalSetText)

CaseId = Annotated[str, Query(alias="id", description="The id of the case; any characters are allowed.")]


class NewEvalSet(PageModel):
    """A new set."""

    name: str
    """Its id, and the name of its file: letters, digits and `_`."""
    folder: str = ""
    """Relative to the project's folder, with `/` as the separator."""
    form: Literal["json", "yaml", "lines"] = "json"


class Draft(PageModel):
    """The new keys of a case, or of a set without its cases."""

    value: dict[str, object]
    comments_may_go: bool = False
    """Confirms that comments in the replaced text are lost."""


class CaseVersion(PageModel):
    """A case in the version that was read."""

    eval_id: str
    version: str


class SelectedCases(PageModel):
    """Several cases of one set."""

    cases: Annotated[list[CaseVersion], Field(min_length=1, max_length=100_000)]


class UndoName(PageModel):
    """The change to undo."""

    undo: str


class TextDraft(PageModel):
    """The new text of a file."""

    text: str
    """With a line feed at the end of each line; the file keeps its own line ends."""
    unreadable_may_be: bool = False
    """Confirms that a text is saved which is not an eval set."""


def _change_file(
    context: ContextDep,
    eval_set: str,
    sent: object,
    change: Callable[[ListedFile], CaseSaved | EvalSetHead | EvalSetText],
    status: int = 200,
) -> Response:
    """Change the file of a set; respond with the new content, or with the reason for a refusal."""
    session = edit_session(context)
    file = session.sets.find(eval_set)
    try:
        page = change(file)
    except REFUSAL_ERRORS as error:
        return refusal_response(error, sent)
    finally:
        session.loader.forget(file)
    return saved_response(page, page.version, status)


def _change_version(
    context: ContextDep,
    eval_set: str,
    sent: object,
    if_match: str | None,
    change: Callable[[ListedFile, str], CaseSaved | EvalSetHead | EvalSetText],
) -> Response:
    """Change the file of a set; `change` receives the version that the client has read."""
    if (version := requested_version(if_match)) is None:
        return version_required()
    return _change_file(context, eval_set, sent, lambda file: change(file, version))


def _with_etag(response: Response, page: _Versioned) -> _Versioned:
    """Return a page, with its version as the ETag that a change has to name."""
    response.headers["ETag"] = f'"{page.version}"'
    return page


def _preview(
    context: ContextDep,
    eval_set: str,
    value: dict[str, object],
    preview: Callable[[ListedFile], cases.EditPreview],
) -> CasePreview | Response:
    try:
        draft = preview(edit_session(context).sets.find(eval_set))
    except (cases.NotACaseError, EvalFileError) as error:
        return refusal_response(error, value)
    return CasePreview(
        lines=diff_lines(draft.before, draft.after), lost=draft.lost, warnings=field_notes(draft.warnings)
    )


# --- sets --------------------------------------------------------------------------------------------------------------


@router.get("/eval-sets")
def list_eval_sets(context: ContextDep) -> EvalSetList:
    """Return every eval set of the project, by path."""
    return edit_session(context).loader.all()


@router.post("/eval-sets", status_code=201, responses=REFUSALS, response_model=CreatedSet)
def create_set(context: ContextDep, form: NewEvalSet) -> CreatedSet | Response:
    """Create a set without cases."""
    file = edit_session(context).sets.new(form.name, form.folder, form.form)
    try:
        create_eval_set(file.path)
    except EvalFileError as error:
        return refusal_response(error, None)
    return CreatedSet(id=file.id, path=file.label)


@router.get("/eval-sets/{eval_set}")
def get_eval_set(context: ContextDep, eval_set: str) -> EvalSetPage:
    """Return one set with all errors and warnings about it."""
    session = edit_session(context)
    return session.loader.page(session.sets.find(eval_set))


@router.post("/eval-sets/{eval_set}/migrate", status_code=201)
def migrate_eval_set(context: ContextDep, eval_set: str) -> CreatedSet:
    """Convert a set of an old format into a new file next to the old one, which stays."""
    from proctor.files.eval_sets.convert import convert

    session = edit_session(context)
    file = session.sets.find(eval_set)
    loaded = session.loader.load(file)
    if loaded.source is None or not reason_not_editable(loaded.source):
        raise SetupError(f"{file.label}: not a set in an old format ({loaded.kind})")
    target = session.sets.beside(file)
    convert(file.path, target.path, allow_duplicate_ids=True)
    return CreatedSet(id=target.id, path=target.label)


# --- the keys of a set -------------------------------------------------------------------------------------------------


@router.get("/eval-sets/{eval_set}/head")
def get_eval_set_head(context: ContextDep, response: Response, eval_set: str) -> EvalSetHead:
    """Return every key of a set except its cases; a change has to name the ETag."""
    return _with_etag(response, head_page(heads.head_of(edit_session(context).sets.find(eval_set))))


@router.put("/eval-sets/{eval_set}/head", responses=REFUSALS, response_model=EvalSetHead)
def save_eval_set_head(
    context: ContextDep, eval_set: str, draft: Draft, if_match: IfMatch = None
) -> Response:
    """Change the keys of a set; its cases, and equal keys, keep their bytes in the file."""

    def change(file: ListedFile, version: str) -> EvalSetHead:
        may_go = draft.comments_may_go
        return head_page(heads.replace_head(file, draft.value, version=version, comments_may_go=may_go))

    return _change_version(context, eval_set, draft.value, if_match, change)


@router.post("/eval-sets/{eval_set}/head/preview", responses=REFUSALS, response_model=CasePreview)
def preview_eval_set_head(context: ContextDep, eval_set: str, draft: Draft) -> CasePreview | Response:
    """Return how saving the keys of a set would change its file, line by line; nothing is written."""
    return _preview(context, eval_set, draft.value, lambda file: heads.preview_head(file, draft.value))


# --- cases -------------------------------------------------------------------------------------------------------------


@router.get("/eval-sets/{eval_set}/cases")
def list_eval_cases(
    context: ContextDep,
    eval_set: str,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=100_000)] = 10_000,
) -> EvalCaseList:
    """Return cases of a set, in the order of the file."""
    session = edit_session(context)
    return session.loader.cases(session.sets.find(eval_set), offset, limit)


@router.get("/eval-sets/{eval_set}/case")
def get_eval_case(context: ContextDep, response: Response, eval_set: str, case: CaseId) -> EvalCasePage:
    """Return one case with all its keys; a change has to name the ETag."""
    session = edit_session(context)
    return _with_etag(response, session.loader.case(session.sets.find(eval_set), case))


@router.post("/eval-sets/{eval_set}/case", status_code=201, responses=REFUSALS, response_model=CaseSaved)
def add_eval_case(context: ContextDep, eval_set: str, draft: Draft) -> Response:
    """Append a new case to a set."""
    return _change_file(
        context, eval_set, draft.value, lambda file: saved_case(cases.add_case(file, draft.value)), 201
    )


@router.put("/eval-sets/{eval_set}/case", responses=REFUSALS, response_model=CaseSaved)
def save_eval_case(
    context: ContextDep, eval_set: str, case: CaseId, draft: Draft, if_match: IfMatch = None
) -> Response:
    """Change a case; its equal parts keep their bytes in the file."""

    def change(file: ListedFile, version: str) -> CaseSaved:
        may_go = draft.comments_may_go
        return saved_case(
            cases.replace_case(file, case, draft.value, version=version, comments_may_go=may_go)
        )

    return _change_version(context, eval_set, draft.value, if_match, change)


@router.post("/eval-sets/{eval_set}/case/preview", responses=REFUSALS, response_model=CasePreview)
def preview_eval_case(
    context: ContextDep, eval_set: str, case: CaseId, draft: Draft
) -> CasePreview | Response:
    """Return how saving a case would change the file, line by line; nothing is written."""
    return _preview(context, eval_set, draft.value, lambda file: cases.preview(file, case, draft.value))


@router.post("/eval-sets/{eval_set}/case/check")
def check_eval_case(context: ContextDep, eval_set: str, case: CaseId, draft: Draft) -> CaseChecked:
    """Validate a case that is being edited, field by field; nothing is written."""
    session = edit_session(context)
    file = session.sets.find(eval_set)
    try:
        source = session.loader.source(file)
    except EvalFileError:
        source = None
    checks = check_case(draft.value, file.path, source, case)
    return CaseChecked(
        errors=field_notes(checks.errors),
        refused=field_notes(checks.refused),
        warnings=field_notes(checks.warnings),
    )


@router.delete("/eval-sets/{eval_set}/case", responses=REFUSALS, response_model=CaseRemoved)
def remove_eval_case(
    context: ContextDep, eval_set: str, case: CaseId, if_match: IfMatch = None
) -> CaseRemoved | Response:
    """Remove a case from a set."""
    if (version := requested_version(if_match)) is None:
        return version_required()
    return _remove_cases(context, eval_set, {case: version})


@router.post("/eval-sets/{eval_set}/cases/remove", responses=REFUSALS, response_model=CaseRemoved)
def remove_eval_cases(context: ContextDep, eval_set: str, chosen: SelectedCases) -> CaseRemoved | Response:
    """Remove several cases from a set: all of them, or none if one was changed since it was read."""
    return _remove_cases(context, eval_set, {case.eval_id: case.version for case in chosen.cases})


def _remove_cases(context: ContextDep, eval_set: str, versions: dict[str, str]) -> CaseRemoved | Response:
    session = edit_session(context)
    file = session.sets.find(eval_set)
    try:
        before, now = cases.remove_cases(file, versions)
    except (cases.ChangedMeanwhileError, EvalFileError) as error:
        return refusal_response(error, None)
    finally:
        session.loader.forget(file)
    return CaseRemoved(eval_ids=[*versions], undo=session.remember(file, before, now))


@router.post("/eval-sets/{eval_set}/undo", responses=REFUSALS, response_model=EvalSetPage)
def restore_eval_case(context: ContextDep, eval_set: str, form: UndoName) -> EvalSetPage | Response:
    """Restore a removed case: the file becomes what it was, byte for byte."""
    session = edit_session(context)
    file = session.sets.find(eval_set)
    try:
        session.undo(file, form.undo)
    except cases.ChangedMeanwhileError as error:
        return refusal_response(error, None)
    return session.loader.page(file)


# --- the text of a file that cannot be read as a set -------------------------------------------------------------------


@router.get("/eval-sets/{eval_set}/text", responses=REFUSALS, response_model=EvalSetText)
def get_eval_set_text(context: ContextDep, response: Response, eval_set: str) -> EvalSetText | Response:
    """Return the text of a set's file, valid or not; a change has to name the ETag."""
    file = edit_session(context).sets.find(eval_set)
    try:
        return _with_etag(response, text_page(file, read_set_text(file)))
    except REFUSAL_ERRORS as error:
        return refusal_response(error, None)


@router.put("/eval-sets/{eval_set}/text", responses=REFUSALS, response_model=EvalSetText)
def save_eval_set_text(
    context: ContextDep, eval_set: str, draft: TextDraft, if_match: IfMatch = None
) -> Response:
    """Replace the text of a set's file; a text that is not an eval set needs a confirmation."""

    def change(file: ListedFile, version: str) -> EvalSetText:
        may_be = draft.unreadable_may_be
        return text_page(file, replace_text(file, draft.text, version=version, unreadable_may_be=may_be))

    return _change_version(context, eval_set, draft.text, if_match, change)


@router.post("/eval-sets/{eval_set}/text/check", responses=REFUSALS, response_model=EvalSetText)
def check_eval_set_text(context: ContextDep, eval_set: str, draft: TextDraft) -> EvalSetText | Response:
    """Report the problems of a text by line and column; nothing is written."""
    file = edit_session(context).sets.find(eval_set)
    try:
        return text_page(file, check_text(file, draft.text))
    except REFUSAL_ERRORS as error:
        return refusal_response(error, draft.text)
