"""Text in Markdown that stays text: code spans, fences, table cells, and sentences of Proctor.

Text from files, agents and models is only written in code, where servers create no mention, link, image or HTML. The
delimiter of a code span or fence is longer than any run of backticks inside. A sentence of Proctor may contain names: each
word that is not plain is code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from proctor.common.inline_code import code_mark, longest_run
from proctor.common.safe_text import clean, cut_text, show_spaces

LONGEST = 300
"""Characters of a code span."""

_PLAIN = re.compile(
    r"[(\"']*(?:(?:[-+](?=[0-9]))?[A-Za-z0-9À-ɏ✓✕±×→≥…–⚠][A-Za-z0-9À-ɏ%.,;'’\"()^…–±+-]*:?|\d[\d,]*/\d[\d,]*[;.)]*|\$[0-9][0-9.,]*[,;)]*|%[):.,;]*)"
)
_OPERATORS = frozenset("<>=+-–·→±×≥%!?")
_BLOCKS = frozenset("<>=+-")
"""Operators that begin a list, a quotation, a heading or HTML at the start."""
_LINKED = re.compile(r"www\.|gh-|[0-9a-f]{7,40}\W*$", re.IGNORECASE)
"""Plain words that servers link: addresses, issues, commits."""
_LIST_NUMBER = re.compile(r"\d+[.)]")


def code(text: str, longest: int = LONGEST) -> str:
    """Return any text as a code span on one line; browsers would show several spaces as one."""
    return code_mark(show_spaces(cut_text(clean(text), longest)))


def escaped_sentence(text: str) -> str:
    """Return a sentence of Proctor; words that could be more than text are code."""
    text = clean(text)
    first, *others = text.lstrip(" ").split(" ")
    space = " " if text.startswith(" ") else ""  # four of them begin a block of code
    words = [_shown_word(first, is_first=True), *(_shown_word(word, is_first=False) for word in others)]
    return space + " ".join(words)


def _shown_word(word: str, *, is_first: bool) -> str:
    if is_code := _MARKED.fullmatch(word):
        return f"{is_code[1]}{code(is_code[2])}{is_code[3]}"
    return word if not word or _is_plain(word, is_first=is_first) else _code_word(word)


_MARKED = re.compile(r"(\(?)`([^`]+)`(\)?[.,;:]?)")
"""A word that is marked as code already."""
_PUNCTUATED = re.compile(r"(\(?)([^()]*[^(),;])(\)?[,;]?)")


def _code_word(word: str) -> str:
    """Return a word as code, without the punctuation of the sentence around it."""
    parts = _PUNCTUATED.fullmatch(word)
    return f"{parts[1]}{code(parts[2])}{parts[3]}" if parts else code(word)


def _is_plain(word: str, *, is_first: bool) -> bool:
    if is_first and _LIST_NUMBER.fullmatch(word):
        return False
    is_operator = word in _OPERATORS and not (is_first and word in _BLOCKS)
    return is_operator or (_PLAIN.fullmatch(word) is not None and _LINKED.match(word) is None)


def fence(lines: Iterable[str], language: str = "") -> str:
    """Return lines as a fenced block; each of them is one line, whatever it contains."""
    clean_lines = [clean(line) for line in lines]
    ticks = "`" * max(3, max(map(longest_run, clean_lines), default=0) + 1)
    return "\n".join([f"{ticks}{language}", *clean_lines, ticks, "", ""])


def table(headings: Sequence[str], rows: Iterable[str], *, right: Sequence[bool] = ()) -> str:
    """Return a table; `right` are the columns whose texts are aligned to the right."""
    aligned = [*right, *(False for _ in headings[len(right) :])]
    rule = ["---:" if is_right else "---" for is_right in aligned]
    return "\n".join([table_row(headings), table_row(rule), *rows, "", ""])


def table_row(cells: Sequence[str]) -> str:
    """Return a row of Markdown texts. Renderers differ about a backslash before a pipe, so that the two are parted."""
    texts = (cell.replace("\\|", "\\ |").replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(texts)} |"


def collapsible(summary: str, text: str, *, is_open: bool = False) -> str:
    """Return Markdown behind a summary, which are words of Proctor; the tags are the only HTML of a report."""
    return f"<details{' open' if is_open else ''}>\n<summary>{summary}</summary>\n\n{text}</details>\n\n"
