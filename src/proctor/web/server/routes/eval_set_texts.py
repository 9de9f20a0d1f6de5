"""The text of an eval set's file: read, looked at and put right, where the file cannot be read as a set."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict

from proctor.authoring.edit_text import check_text, replace_text, text_of
from proctor.web.pages.eval_sets.eval_sets import EvalSetText
from proctor.web.pages.eval_sets.load import text_page
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


class TextDraft(BaseModel):
    """The text of a file as it is to be."""

    model_config = ConfigDict(extra="forbid")

    text: str
    """With a line feed at the end of each line; the file keeps its own line ends."""
    unreadable_may_be: bool = False
    """Confirms that a text is kept which is no eval set."""


@router.get("/eval-sets/{eval_set}/text", responses=REFUSALS, response_model=EvalSetText)
def get_eval_set_text(here: Here, response: Response, eval_set: str) -> Any:
    """Return the text of a set's file, readable or not; the ETag is what a change has to name."""
    file = editing(here).sets.find(eval_set)
    try:
        page = text_page(file, text_of(file))
    except REFUSED as error:
        return refused(error, None)
    response.headers["ETag"] = f'"{page.version}"'
    return page


@router.put("/eval-sets/{eval_set}/text", responses=REFUSALS, response_model=EvalSetText)
def save_eval_set_text(here: Here, eval_set: str, draft: TextDraft, if_match: IfMatch = None) -> Any:
    """Give a set's file another text; refused where that is no eval set, unless it is confirmed."""
    if (version := version_named(if_match)) is None:
        return unnamed()
    known = editing(here)
    file = known.sets.find(eval_set)
    try:
        found = replace_text(file, draft.text, version=version, unreadable_may_be=draft.unreadable_may_be)
    except REFUSED as error:
        return refused(error, draft.text)
    finally:
        known.looks.forget(file)
    return written(text_page(file, found), found.version, 200)


@router.post("/eval-sets/{eval_set}/text/check", responses=REFUSALS, response_model=EvalSetText)
def check_eval_set_text(here: Here, eval_set: str, draft: TextDraft) -> Any:
    """Say what is wrong with a text, by line and column; nothing is written."""
    file = editing(here).sets.find(eval_set)
    try:
        return text_page(file, check_text(file, draft.text))
    except REFUSED as error:
        return refused(error, draft.text)
