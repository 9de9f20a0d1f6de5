"""What the page says of itself."""

from __future__ import annotations

from proctor.schema.results.page_model import PageModel


class AboutPage(PageModel):
    """Which Proctor this is, of which project, and what can be done with it."""

    version: str
    project: str
    """The name of the project's folder."""
    store: str
    """Where runs are kept."""
    agents: list[str]
    """The agents that the page may start, by name."""
    any_agent: bool
    """Whether it may start any other, too."""
    can_run: bool
    why_not: str
    """Why no run can be started; empty where one can."""
    has_token: bool
    """Whether clients had to show a token."""
