"""Readers find every page: in two clicks from README for common tasks, and from the index for the others."""

import re
from pathlib import Path

import pytest

from tests.docs.examples.pages import ROOT

DOCS = ROOT / "docs"
README = ROOT / "README.md"
INDEX = DOCS / "index.md"
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]*)(?:#([^)\s]*))?\)")

TASKS = {
    "test a Python function": "smallest agent",
    "test my ADK agent": "google-adk",
    "add an LLM judge": "LLM judge",
    "check tool calls loosely": "tool calls loosely",
    "ignore an argument": "Ignore an argument",
    "test state": "state",
    "simulate a user": "Simulate users",
    "repeat and see flakiness": "flaky",
    "compare two versions": "Compare two versions",
    "gate a pull request": "pull request",
    "re-score without re-running": "Re-score",
    "resume": "Resume",
    "write a metric": "Write a metric",
    "test a remote agent": "remote|server|HTTP",
    "score production traces": "Score traces",
}
"""What people want to do, as the text of a link in README, and what the heading that it leads to contains."""


def _links(page: Path) -> list[tuple[str, Path, str]]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = _LINK.findall(text)
    return [
        (title, (page.parent / path).resolve() if path else page, anchor)
        for title, path, anchor in found
        if "://" not in path
    ]


def _headings(page: Path) -> dict[str, str]:
    """Return the headings of a page by their anchors."""
    found = re.findall(r"^#+\s+(.*?)\s*$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-"): one for one in found}


@pytest.mark.parametrize("task", TASKS)
def test_readme_leads_to_each_task(task: str) -> None:
    targets = [(page, anchor) for title, page, anchor in _links(README) if title == task]
    assert targets, "README has no link with this text"
    page, anchor = targets[0]
    headings = _headings(page)
    heading = headings[anchor] if anchor else next(iter(headings.values()))
    assert re.search(TASKS[task], heading, re.IGNORECASE)


def _reachable(start: Path, clicks: int) -> set[Path]:
    found = {start}
    for _ in range(clicks):
        found |= {target for page in found for _, target, _ in _links(page) if target.suffix == ".md"}
    return found


def _pages() -> set[Path]:
    return set(DOCS.rglob("*.md"))


def test_every_page_is_two_clicks_from_the_index() -> None:
    assert _pages() - _reachable(INDEX, clicks=2) == set()


def test_index_lists_every_page_that_people_write() -> None:
    generated = {DOCS / "reference" / name for name in ("python", "commands")}
    missing = _pages() - _reachable(INDEX, clicks=1)
    assert {page for page in missing if page.parent not in generated} == set()


def test_site_lists_every_page() -> None:
    listed = set(
        re.findall(
            r"^ +- ([\w/-]+\.md)$", (ROOT / "site/mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    assert listed - {"samples.md", "retail.md"} == {page.relative_to(DOCS).as_posix() for page in _pages()}


def test_every_page_is_of_one_kind() -> None:
    kinds = {page.relative_to(DOCS).parts[0] for page in _pages() - {INDEX}}
    assert kinds == {"tutorial", "how-to", "reference", "explanation"}
