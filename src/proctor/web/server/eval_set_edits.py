"""Editing eval sets: the loaded sets, the changes that can be undone, and the responses to a change.

A change is answered with the saved content, or with every reason for its refusal.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

from fastapi import Header, Response
from fastapi.responses import JSONResponse

from proctor.authoring import edit_case as cases
from proctor.authoring.edit_case import restore
from proctor.authoring.edit_text import StillUnreadableError
from proctor.authoring.eval_set_files import ListedFile, ProjectSets
from proctor.common.safe_text import clean
from proctor.errors import EvalFileError, SetupError, UnknownNameError
from proctor.schema.format.wire_model import PageModel
from proctor.web.pages.eval_sets.load_eval_sets import EvalSetLoader, field_notes
from proctor.web.pages.eval_sets.set_pages import CaseRefusal, differing
from proctor.web.server.context import ServerContext

_MOST_UNDOS = 20


class EditSession:
    """The eval sets of one project."""

    def __init__(self, sets: ProjectSets) -> None:
        self.sets = sets
        self.loader = EvalSetLoader(sets)
        self._undos: OrderedDict[str, tuple[ListedFile, str, str]] = OrderedDict()
        self._lock = Lock()

    def remember(self, file: ListedFile, before: str, now: str) -> str:
        """Store a file's texts before and after a change; return the name for `undo`."""
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._undos[name] = (file, before, now)
            while len(self._undos) > _MOST_UNDOS:
                self._undos.popitem(last=False)
        return name

    def undo(self, file: ListedFile, name: str) -> None:
        """Restore a file's text from before a change.

        Raises:
            UnknownNameError: there is no change of this name.
            ChangedMeanwhileError: the file was changed since.
        """
        with self._lock:
            undo = self._undos.get(name)
        if undo is None or undo[0].id != file.id:
            raise UnknownNameError(
                "this can no longer be undone: the server was restarted, or too many cases were removed since"
            )
        restore(file, undo[2], undo[1])
        with self._lock:
            self._undos.pop(name, None)
        self.loader.forget(file)


def edit_session(context: ServerContext) -> EditSession:
    """Return the session of a project."""
    return _edit_session(context.root, context.agents)


@lru_cache(maxsize=16)
def _edit_session(root: Path, agents: Path | None) -> EditSession:
    return EditSession(ProjectSets(root, agents))


# --- responses to a change --------------------------------------------------------------------------------------------


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
