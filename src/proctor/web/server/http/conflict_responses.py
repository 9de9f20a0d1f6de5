"""Responses to a change of a file: the saved content, or every reason for the refusal."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header, Response
from fastapi.responses import JSONResponse

from proctor.authoring import edit_case as cases
from proctor.authoring.edit_text import StillUnreadableError
from proctor.common.safe_text import clean
from proctor.errors import EvalFileError, SetupError
from proctor.schema.format.wire_model import PageModel
from proctor.web.pages.eval_sets.eval_case import CaseRefusal, differing
from proctor.web.pages.eval_sets.load_eval_sets import field_notes

__all__ = [
    "REFUSALS",
    "REFUSAL_ERRORS",
    "IfMatch",
    "refusal_response",
    "requested_version",
    "saved_response",
    "version_required",
]

IfMatch = Annotated[str | None, Header(description="The version that was read: its ETag.")]

REFUSALS: dict[int | str, dict[str, Any]] = {
    409: {
        "model": CaseRefusal,
        "description": "Comments would be lost, or the file cannot be changed in place.",
    },
    412: {"model": CaseRefusal, "description": "The file has changed."},
    422: {"model": CaseRefusal, "description": "Not a valid case."},
    428: {"model": CaseRefusal, "description": "A change needs If-Match."},
}
"""The possible responses to a change, for the description of a route."""

REFUSAL_ERRORS = (
    cases.ChangedMeanwhileError,
    cases.NotACaseError,
    cases.CommentsWouldGoError,
    StillUnreadableError,
    EvalFileError,
)
"""The errors to which `refusal_response` gives more than a sentence."""


def saved_response(page: PageModel, version: str, status: int) -> Response:
    """Return the saved content, with its new version as ETag."""
    return JSONResponse(page.model_dump(mode="json"), status_code=status, headers={"ETag": f'"{version}"'})


def requested_version(if_match: str | None) -> str | None:
    """Return the version that a client has read; `None` if it names none."""
    version = (if_match or "").strip().removeprefix("W/").strip('"')
    return version if version and version != "*" else None


def version_required() -> Response:
    """Refuse a change without a version."""
    text = "If-Match is missing: send the ETag of the version that was read, else another person's change could be lost"
    return _refusal(428, text)


def refusal_response(error: SetupError, sent: object) -> Response:
    """Return why `sent` was not written; nothing of it is lost with a client that keeps what it sent."""
    if isinstance(error, cases.NotACaseError):
        return _refusal(422, str(error), fields=field_notes(error.findings))
    if isinstance(error, cases.CommentsWouldGoError):
        return _refusal(409, str(error), lost=error.lost)
    if isinstance(error, cases.ChangedMeanwhileError):
        current = error.theirs
        changed = [*differing(sent, current)] if sent is not None and current is not None else []
        return _refusal(412, str(error), theirs=current, version=error.version, changed=changed)
    return _refusal(422 if isinstance(error, StillUnreadableError) else 409, str(error))


def _refusal(status: int, detail: str, **fields: object) -> Response:
    values = {"fields": [], "lost": [], "theirs": None, "version": "", "changed": [], **fields}
    refusal = CaseRefusal.model_validate({"detail": clean(detail, lines=True), **values})
    return JSONResponse(refusal.model_dump(mode="json"), status_code=status)
