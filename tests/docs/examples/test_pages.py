"""Every example in README, docs/ and examples/ works as the page describes, and every link has a target."""

import re
from pathlib import Path

import pytest

from tests.docs.examples.pages import ROOT, Block, blocks, pages
from tests.docs.examples.runner import Reader

_CONTINUES = re.compile(r"^<!-- continues: (\S+) -->$", re.MULTILINE)
"""A page whose examples need the files and runs of another page names that page in a comment."""
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)[^)]*\)")


def _name(page: Path) -> str:
    return page.resolve().relative_to(ROOT).as_posix()


@pytest.mark.slow
@pytest.mark.parametrize("page", pages(), ids=_name)
def test_examples_do_what_the_page_says(page: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in _examples(page):
        reader.follow(block)


def _examples(page: Path) -> list[Block]:
    """The blocks of a page, after those of the page that it continues."""
    text = page.read_text(encoding="utf-8")
    before = [block for name in _CONTINUES.findall(text) for block in _examples(page.parent / name)]
    return before + blocks(text, _name(page))


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
