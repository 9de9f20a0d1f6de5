"""Where the built web page (ui/) is."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = "PROCTOR_PAGE_DIR"
"""The environment variable that names another folder with a built page: for tests, and for work on the page."""

HOW_TO_BUILD_THE_PAGE = (
    "`make ui` in the checkout builds it (it needs node 20.19 or newer, with npm); unless the installation is an "
    "editable one, install again then. A released package has it"
)


def page_folder() -> Path:
    """Return where the built page is, or would be."""
    named = os.environ.get(FOLDER)
    return Path(named) if named else Path(__file__).resolve().parents[2] / "page"


def is_built() -> bool:
    """Tell whether there is a page."""
    return (page_folder() / "index.html").is_file()
