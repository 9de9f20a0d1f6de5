"""The pages are short and plain: words of a page, words of a sentence, and no private dialect."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.figures import DIALECT
from tests.docs.examples.pages import ROOT, pages

MOST_WORDS = 1_000
"""Of a tutorial or how-to page, outside of code; tables count."""
MOST_WORDS_OF_README = 450
LONGEST_SENTENCE = 18
"""Mean number of words in a sentence of a page."""
MOST_DIALECT = 3
"""In 1,000 words of all pages."""

_FENCE = re.compile(r"^(\s*)(`{3,})[^\n]*\n.*?^\s*\2\s*$", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(r"^([*-]|\d+\.) ")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """Return the text of a page without code blocks and comments."""
    text = _FENCE.sub("\n", page.read_text(encoding="utf-8"))
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)


def paragraphs(text: str) -> Iterator[str]:
    """Yield each paragraph and item of a list; headings and tables are none."""
    lines: list[str] = []
    for line in [*map(str.strip, text.splitlines()), ""]:
        ends = not line or line.startswith(("|", "#")) or _ITEM.match(line)
        if ends and lines:
            yield " ".join(lines)
            lines = []
        if line and not line.startswith(("|", "#")):
            lines.append(_ITEM.sub("", line))


def sentence_lengths(text: str) -> list[int]:
    """Return the number of words of each sentence; a code span counts as one word."""
    plain = (re.sub(r"`[^`]*`", "code", _LINK.sub(r"\1", one)) for one in paragraphs(text))
    sentences = (sentence for one in plain for sentence in re.split(r"(?<=[.!?])[*)\"”]*\s+", one))
    counts = (len(re.findall(r"[\w'’-]+", sentence)) for sentence in sentences)
    return [count for count in counts if count]


@pytest.mark.parametrize("folder", ["tutorial", "how-to"])
def test_tutorial_and_how_to_pages_are_short(folder: str) -> None:
    words = {page: len(prose(page).split()) for page in (ROOT / "docs" / folder).rglob("*.md")}
    assert words
    assert {_name(page): count for page, count in words.items() if count > MOST_WORDS} == {}


def test_readme_is_short() -> None:
    words = _LINK.sub(r"\1", prose(ROOT / "README.md"))
    assert len(re.findall(r"\w[\w'’./-]*", words)) <= MOST_WORDS_OF_README


def test_sentences_are_short() -> None:
    lengths = {page: sentence_lengths(prose(page)) for page in pages()}
    means = {_name(page): sum(counts) / len(counts) for page, counts in lengths.items() if counts}
    assert {name: round(mean, 1) for name, mean in means.items() if mean > LONGEST_SENTENCE} == {}


@pytest.mark.slow
def test_pages_have_no_private_dialect() -> None:
    text = "\n".join(map(prose, pages()))
    assert 1_000 * len(DIALECT.findall(text)) / len(re.findall(r"\w+", text)) <= MOST_DIALECT


def test_nothing_is_installed_by_name_from_an_index() -> None:
    found = re.compile(r"pip install (?:-\S+ )*['\"]?proctor\b")
    quoted = "`pip install 'proctor[http]'`"  # the page on problems quotes the message about a missing extra
    names = [
        _name(page) for page in pages() if found.search(page.read_text(encoding="utf-8").replace(quoted, ""))
    ]
    assert names == []


def test_sentences_and_words_are_counted() -> None:
    text = (
        "# A heading\n\nOne two three. Four [five](six.md) `seven eight`!\n\n* nine: ten\n\n| a | table |\n"
    )
    assert sentence_lengths(text) == [3, 3, 2]
