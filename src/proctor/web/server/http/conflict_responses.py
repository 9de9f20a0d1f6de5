"""How a change of a file is answered: with what was written, or with all that there is to say about why it was not."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header, Response
from fastapi.responses import JSONResponse

from proctor.authoring import edit_case as cases
from proctor.authoring.edit_text import StillUnreadableError
from proctor.common.safe_text import clean
from proctor.errors import EvalFileError, SetupError
from proctor.schema.results.page_model import PageModel
from proctor.web.pages.eval_sets.eval_case import CaseRefusal, differing
from proctor.web.pages.eval_sets.load import field_notes

__all__ = ["REFUSALS", "REFUSED", "IfMatch", "refused", "unnamed", "version_named", "written"]

IfMatch = Annotated[str | None, Header(description="The version that was read: its ETag.")]

REFUSALS: dict[int | str, dict[str, Any]] = {
    409: {
        "model": CaseRefusal,
        "description": "Comments would be lost, or the file cannot be changed in place.",
    },
    412: {"model": CaseRefusal, "description": "The file says something else by now."},
    422: {"model": CaseRefusal, "description": "This is no case."},
    428: {"model": CaseRefusal, "description": "Without If-Match nothing is changed."},
}
"""What may be answered to a change, for the description of a route."""

REFUSED = (
    cases.ChangedMeanwhileError,
    cases.NotACaseError,
    cases.CommentsWouldGoError,
    StillUnreadableError,
    EvalFileError,
)
"""What `refused` answers with more than a sentence."""


def written(page: PageModel, version: str, status: int) -> Response:
    """Answer with what was written, and the version that it has now."""
    return JSONResponse(page.model_dump(mode="json"), status_code=status, headers={"ETag": f'"{version}"'})


def version_named(if_match: str | None) -> str | None:
    """The version that a client has read; `None` where it names none."""
    named = (if_match or "").strip().removeprefix("W/").strip('"')
    return named if named and named != "*" else None


def unnamed() -> Response:
    """Refuse a change that does not say what it changes."""
    text = "name the version that was read, as If-Match: its ETag; else the change of somebody else could be lost"
    return _answer(428, text)


def refused(error: SetupError, sent: Any) -> Response:
    """Say why `sent` was not written; nothing of it is lost with a client that keeps what it sent."""
    if isinstance(error, cases.NotACaseError):
        return _answer(422, str(error), fields=field_notes(error.findings))
    if isinstance(error, cases.CommentsWouldGoError):
        return _answer(409, str(error), lost=error.lost)
    if isinstance(error, cases.ChangedMeanwhileError):
        there = error.theirs
        changed = [*differing(sent, there)] if sent is not None and there is not None else []
        return _answer(412, str(error), theirs=there, version=error.version, changed=changed)
    return _answer(422 if isinstance(error, StillUnreadableError) else 409, str(error))


def _answer(status: int, detail: str, **more: Any) -> Response:
    refusal = CaseRefusal(
        **{
            "detail": clean(detail, lines=True),
            "fields": [],
            "lost": [],
            "theirs": None,
            "version": "",
            "changed": [],
        }
        | more
    )
    return JSONResponse(refusal.model_dump(mode="json"), status_code=status)
