"""Audits of eval sets: the list, one audit, and one case with its mutants. No route about runs has them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from proctor.runs.storage.open import NoRunsError
from proctor.web.pages.audit.audit_page import AuditPage, AuditsPage, audit_page, audits_of_run, audits_page
from proctor.web.pages.audit.audited_case import AuditedCasePage, audited_case_page
from proctor.web.server.context import ContextDep
from proctor.web.server.http.errors import as_json

router = APIRouter()

AuditName = Annotated[str, Path(description="The id of an audit, or the beginning of it.")]


@router.get("/audits")
def list_audits(
    context: ContextDep,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    before: Annotated[str | None, Query(description="`next` of the previous page.")] = None,
    eval_set: Annotated[str | None, Query(alias="set", description="An eval set's id.")] = None,
    run: Annotated[
        str | None,
        Query(description="Only the newest audits of the cases that this run used, with its config."),
    ] = None,
) -> AuditsPage:
    """List the stored audits, newest first; without a store the list is empty."""
    try:
        with context.runs() as store:
            if run is not None:
                return audits_of_run(store, run)
            return audits_page(store, limit=limit, before=before, eval_set=eval_set)
    except NoRunsError:
        return AuditsPage(items=[], next=None, total=0)


@router.get("/audits/{audit}", response_model=AuditPage)
def get_audit(context: ContextDep, audit: AuditName) -> Response:
    """Return one audit: what the eval sets catch, and what they are blind to."""
    with context.runs() as store:
        return as_json(audit_page(store, audit))


@router.get("/audits/{audit}/cases/{position}", response_model=AuditedCasePage)
def get_audited_case(
    context: ContextDep,
    audit: AuditName,
    position: Annotated[int, Path(ge=0, le=2**31, description="The position of the case, from 0.")],
) -> Response:
    """Return one case of an audit: its mutants, and each that survives with what was recorded."""
    with context.runs() as store:
        return as_json(audited_case_page(store, audit, position))
