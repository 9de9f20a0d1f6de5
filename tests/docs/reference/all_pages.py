"""All generated pages of the reference."""

from pathlib import Path

from tests.docs.examples.pages import ROOT
from tests.docs.reference import commands, metrics, python_api, schemas, settings

DOCS = ROOT / "docs"
GENERATED = (DOCS / python_api.FOLDER, DOCS / commands.FOLDER)
"""Folders with only generated pages."""


def all_pages() -> dict[Path, str]:
    """Return the text of every generated page by its path."""
    sources = (python_api, commands, metrics, settings, schemas)
    return {DOCS / name: text for source in sources for name, text in source.pages().items()}


def rewrite() -> None:
    """Write the pages, and delete those of names that no longer exist."""
    pages = all_pages()
    for folder in GENERATED:
        folder.mkdir(parents=True, exist_ok=True)
        for path in set(folder.glob("*.md")) - set(pages):
            path.unlink()
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8")
