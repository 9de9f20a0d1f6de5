"""What the page says of itself."""

from __future__ import annotations

from proctor.reports.pages.base import PageModel


class AboutPage(PageModel):
    """Which Proctor this is, and of which project."""

    version: str
    project: str
    """The name of the project's folder."""
