"""What this server is."""

from __future__ import annotations

from fastapi import APIRouter

from proctor.reports.pages.about import AboutPage
from proctor.server.context import Here
from proctor.version import __version__

router = APIRouter()


@router.get("/about")
def get_about(here: Here) -> AboutPage:
    """What this server is, and what can be done with it."""
    return AboutPage(version=__version__, project=here.root.name)
