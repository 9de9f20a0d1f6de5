"""The folder of the built web page (ui/)."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = "PROCTOR_PAGE_DIR"
"""The environment variable that names another folder with a built page, for tests and for work on the page."""

HOW_TO_BUILD_THE_PAGE = (
    "`make ui` in the checkout builds it (it needs node 20.19 or newer, with npm); then install again, unless the "
    "installation is editable. A released package contains the page"
)


def page_folder() -> Path:
    """Return the folder of the built page, whether it exists or not."""
    folder = os.environ.get(FOLDER)
    return Path(folder) if folder else Path(__file__).resolve().parents[2] / "page"


def is_built() -> bool:
    """Return whether the page is built."""
    return (page_folder() / "index.html").is_file()
