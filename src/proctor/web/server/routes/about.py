"""What this server is."""

from __future__ import annotations

from fastapi import APIRouter

from proctor.common.secrets import hide_secrets
from proctor.common.version import __version__
from proctor.errors import ProctorError
from proctor.runs.setup.settings import relative_to_working_folder
from proctor.runs.storage.open import store_url
from proctor.web.pages.start import AboutPage
from proctor.web.server.context import ContextDep, ServerContext
from proctor.web.server.runs.active_runs import ActiveRunsDep
from proctor.web.server.runs.run_command import startable

router = APIRouter()


@router.get("/about")
def get_about(context: ContextDep, active: ActiveRunsDep) -> AboutPage:
    """Return the version and the project of this server, and what it can do."""
    agents, why_not = _agents(context)
    why_not = why_not or active.no_runs_reason()
    return AboutPage(
        version=__version__,
        project=context.root.name,
        store=_store(context),
        agents=agents,
        any_agent=context.access.any_agent,
        can_run=not why_not,
        why_not=why_not,
        has_token=context.access.token is not None,
    )


def _agents(context: ServerContext) -> tuple[list[str], str]:
    """Return the agents' names and, if the project's settings cannot be read, the reason."""
    try:
        return list(startable(context)), ""
    except ProctorError as error:
        return [], str(error)


def _store(context: ServerContext) -> str:
    try:
        return hide_secrets(relative_to_working_folder(store_url(context.store_url)))
    except ProctorError:  # `why_not` reports it
        return ""
