"""What this server is."""

from __future__ import annotations

from fastapi import APIRouter

from proctor.common.secrets import without_secrets
from proctor.common.version import __version__
from proctor.errors import ProctorError
from proctor.runs.queries import store_url
from proctor.runs.setup.project_defaults import as_seen_from_here
from proctor.web.pages.about import AboutPage
from proctor.web.server.context import Here, ServerContext
from proctor.web.server.runs.live import LiveHere
from proctor.web.server.runs.run_command import startable

router = APIRouter()


@router.get("/about")
def get_about(here: Here, live: LiveHere) -> AboutPage:
    """What this server is, and what can be done with it."""
    agents, why_not = _agents(here)
    why_not = why_not or live.why_no_runs()
    return AboutPage(
        version=__version__,
        project=here.root.name,
        store=_store(here),
        agents=agents,
        any_agent=here.access.any_agent,
        can_run=not why_not,
        why_not=why_not,
        has_token=here.access.token is not None,
    )


def _agents(here: ServerContext) -> tuple[list[str], str]:
    """The agents' names; where the project's settings cannot be read, why."""
    try:
        return list(startable(here)), ""
    except ProctorError as error:
        return [], str(error)


def _store(here: ServerContext) -> str:
    try:
        return without_secrets(as_seen_from_here(store_url(here.store_url)))
    except ProctorError:  # `why_not` says it
        return ""
