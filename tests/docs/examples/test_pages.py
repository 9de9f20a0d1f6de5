"""Every example in README, docs/ and examples/ works as the page describes, and every link has a target."""

import re
from pathlib import Path

import pytest

from tests.docs.examples.pages import ROOT, blocks, pages
from tests.docs.examples.runner import Reader

_CONTINUES = re.compile(r"^<!-- continues: (\S+) -->$", re.MULTILINE)
"""A page whose examples need the files and runs of another page names that page in a comment."""
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)[^)]*\)")


def _name(page: Path) -> str:
    return page.resolve().relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def readers() -> dict[Path, Reader]:
    """The readers of the pages that others continue, at the end of each page."""
    return {}


@pytest.mark.slow
@pytest.mark.parametrize("page", pages(), ids=_name)
def test_examples_do_what_the_page_says(
    page: Path, readers: dict[Path, Reader], tmp_path_factory: pytest.TempPathFactory
) -> None:
    _read(page.resolve(), readers, tmp_path_factory)


def _read(page: Path, readers: dict[Path, Reader], folders: pytest.TempPathFactory) -> Reader:
    """Run the examples of a page, once, after those of the page that it continues."""
    if page not in readers:
        text = page.read_text(encoding="utf-8")
        before = [
            _read((page.parent / name).resolve(), readers, folders) for name in _CONTINUES.findall(text)
        ]
        reader = Reader(folders.mktemp("page"), before=before[0] if before else None)
        for block in blocks(text, _name(page)):
            reader.follow(block)
        readers[page] = reader
    return readers[page]


@pytest.mark.parametrize("page", pages(), ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    lost = []
    for match in _LINK.finditer(text):
        path, _, anchor = match["target"].partition("#")
        if "://" in path or path.startswith("mailto:"):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in _anchors(target)):
            lost.append(match["target"])
    assert lost == []


def _anchors(page: Path) -> set[str]:
    """The anchors that a page's headings get where it is shown."""
    headings = re.findall(r"^#+\s+(.*?)\s*$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}
