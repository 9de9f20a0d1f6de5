"""The JSON blocks of the documents that describe the format read, comments and trailing commas and all.

The documents went through a printer: page breaks end and open code fences, and long lines are broken inside texts and
comments. What a reader would do when typing a block again is done here first.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from proctor.files.eval_sets.documents import DocumentKind
from proctor.files.eval_sets.file_problems import check_file

_PAGE_BREAK = re.compile(r"\n```\n+```\n")

# How many lines of closing brackets the printer added at the end of each page, where a block continues after it.
_ADDED_CLOSINGS = {"004": [0, 0, 3, 7]}

_START = re.compile(
    r'(?:^# Do note[^{]*)?\{\s*"(?:eval_set_id|evalSetId|eval_id|criteria|scenarios)"', re.MULTILINE
)
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|#[^\n]*|[{}]')


def joined(block: str) -> str:
    """Return the block as a person would type it: broken texts and comments on one line."""
    return re.sub(
        r'"(?:[^"\\]|\\.)*"',
        lambda text: re.sub(r"-\n\s*", "-", text[0]).replace("\n", " "),
        _whole_comments(block),
    )


def _whole_comments(block: str) -> str:
    """Join lines: a line that is not JSON and follows a comment is the rest of it."""
    lines: list[str] = []
    for line in block.split("\n"):
        continues = lines and "# " in lines[-1] and re.match(r'\s*[^\s{}\[\]",0-9]', line)
        if continues:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return "\n".join(lines)


def _whole_pages(text: str, number: str) -> str:
    first, *pages = _PAGE_BREAK.split(text)
    for page, added in zip(pages, [*_ADDED_CLOSINGS.get(number, []), *[0] * len(pages)], strict=False):
        lines = first.rstrip().split("\n")
        first = "\n".join(lines[: len(lines) - added]) + "\n" + page
    return first


def blocks(document: Path) -> list[str]:
    """Every JSON block of a document that is an eval set, a case, a config or scenarios."""
    text = _whole_comments(_whole_pages(document.read_text(encoding="utf-8"), document.name[:3]))
    found: list[str] = []
    end = 0
    for start in _START.finditer(text):
        if start.start() < end:  # inside the block before
            continue
        end = _block_end(text, start.start())
        found.append(joined(text[start.start() : end]))
    return found


def _block_end(text: str, start: int) -> int:
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0 and token[0] == "}":
            return token.end()
    raise AssertionError("the block does not end")


EXPECTED = {
    "000": [DocumentKind.EVAL_SET],
    "001": [DocumentKind.CONFIG, DocumentKind.EVAL_SET],
    "002": [
        DocumentKind.EVAL_SET,
        DocumentKind.EVAL_CASE,
        *[DocumentKind.CONFIG] * 8,
        DocumentKind.SCENARIOS,
        DocumentKind.CONFIG,
    ],
    "003": [DocumentKind.EVAL_SET, DocumentKind.CONFIG],
    "004": [DocumentKind.EVAL_SET, DocumentKind.EVAL_SET, DocumentKind.CONFIG],
}


@pytest.mark.parametrize("number", EXPECTED)
def test_every_block_of_a_document_reads(shared: Path, tmp_path: Path, number: str) -> None:
    (document,) = (shared / "seeds").glob(f"{number}_*.txt")
    kinds: list[Any] = []
    for block in blocks(document):
        path = tmp_path / "block.json"
        path.write_text(block, encoding="utf-8")
        report = check_file(path)
        assert report.readable, (block, report.problems)
        assert report.cases > 0 or report.kind == DocumentKind.CONFIG
        kinds.append(report.kind)
    assert kinds == EXPECTED[number]


def test_no_block_is_overlooked(shared: Path) -> None:
    """Return every fenced block marked as JSON that was read."""
    for document in (shared / "seeds").glob("*.txt"):
        text = document.read_text(encoding="utf-8")
        fenced = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
        assert len(fenced) in {0, len(blocks(document))}


def test_the_comments_of_the_original_chapter_are_warned_about(shared: Path, tmp_path: Path) -> None:
    (document,) = (shared / "seeds").glob("004_*.txt")
    first = blocks(document)[0]
    assert "# Unique identifier" in first
    (tmp_path / "s.json").write_text(first, encoding="utf-8")
    report = check_file(tmp_path / "s.json")
    assert [problem.message for problem in report.problems] == [
        "comments are not JSON",
        "a trailing comma is not JSON",
    ]
