"""The model of the server's description of itself (`GET /api/about`)."""

from __future__ import annotations

from proctor.schema.format.wire_model import PageModel


class AboutPage(PageModel):
    """The version of Proctor, the project, and what the server can do."""

    version: str
    project: str
    """The name of the project's folder."""
    store: str
    """The store of runs."""
    agents: list[str]
    """The agents that the page may start, by name."""
    any_agent: bool
    """Whether the page may start any other agent, too."""
    can_run: bool
    why_not: str
    """Why the server cannot start runs; empty if it can."""
    has_token: bool
    """Whether clients need a token."""
