"""Names and values in sentences, marked as code as in Markdown: "`get_order` was not called".

A mark begins and ends with the same number of backticks: one, or more than any run of backticks inside. Inside a word, a
backtick is a character like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from proctor.common.safe_text import shorten

_TICKS = re.compile("`+")
_MARK = re.compile(r"(?<![\w`])(`+)(?!`)([^\n]{1,1000}?)(?<!`)\1(?![\w`])")


def code_mark(text: str) -> str:
    """Return a text of one line, marked as code."""
    ticks = "`" * (longest_run(text) + 1)
    padding = " " if text[:1] in {"`", " "} or text[-1:] in {"`", " "} else ""
    return f"{ticks}{padding}{text}{padding}{ticks}" if text.strip() else "` `"


def longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max(map(len, _TICKS.findall(text)), default=0)


def code_parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a sentence, each with whether it is code; code has no marks."""
    at = 0
    for mark in _MARK.finditer(text):
        if mark.start() > at:
            yield text[at : mark.start()], False
        yield _marked(mark), True
        at = mark.end()
    if at < len(text):
        yield text[at:], False


def _marked(mark: re.Match[str]) -> str:
    text = mark[2]
    is_padded = text[0] == text[-1] == " " and bool(text.strip())
    return text[1:-1] if is_padded else text


def shorten_prose(text: str, width: int, *, mark: str = "…") -> str:
    """Return a sentence cut to `width` columns, ending in `mark`; code that is cut keeps the end of its mark."""
    short = shorten(text, width, mark=mark)
    end = len(short) - len(mark)
    cut = next((one for one in _MARK.finditer(text) if one.start() < end < one.end()), None)
    if short == text or cut is None:
        return short
    closing = " " * text.startswith(" ", cut.start(2)) + cut[1]
    short = shorten(text, width - len(closing), mark=mark)
    if len(short) - len(mark) > cut.start(2) + len(closing) - len(cut[1]):
        return short + closing
    return text[: cut.start()].rstrip() + mark
