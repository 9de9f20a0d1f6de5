"""Splits an answer into sentences by rules: the same text always gives the same sentences, and no text is lost.

Rules are used instead of a model: votes on a sentence can only be counted if all of them are about the same sentences,
cached answers need the same words, and no answer can talk a rule out of a sentence. In a script without full stops
(Thai, Lao, Khmer) a line is one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_STOPS = ".!?…"
_WIDE_STOPS = "。！？｡؟۔।॥።։။៕"
_CLOSING = "\"'”’»›)]}*_`」』）】》"
_END = re.compile(
    rf"(?:[{re.escape(_STOPS)}]+[{re.escape(_CLOSING)}]*(?=\s))|(?:[{_WIDE_STOPS}]+[{re.escape(_CLOSING)}]*)"
)
_NEXT = re.compile(r"\s*(\S)")
_ITEM = re.compile(r"\s*(?:[-*+•‣–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_BEFORE = r"(?:^|[\s(\[\"'«„])"
_SHORT = re.compile(
    rf"{_BEFORE}(?:[A-Za-z]|(?:[A-Za-z]\.\s?)+[A-Za-z]|mr|mrs|ms|dr|prof|st|mt|vs|bzw|ca|hr|fr|sra?|ud)$",
    re.IGNORECASE,
)
"""Abbreviations that never end a sentence: `Dr. Ito`, `e.g. Rome`, `U.S. cities`."""
_SHORT_BEFORE_NUMBER = re.compile(
    rf"{_BEFORE}(?:nos?|nr|figs?|vol|pp?|sec|ch|art|approx|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)$",
    re.IGNORECASE,
)
"""Abbreviations that end no sentence before a number: `No. 5`, `Jan. 3`."""


def sentences(text: str) -> list[str]:
    """Return the sentences of `text` unchanged, without the white space around each.

    List items and headings are separate sentences; a table is one, and so is a block of code. A piece without letters and
    digits (a rule, a lone emoji) belongs to the sentence before it.
    """
    result: list[str] = []
    for block in _blocks(text):
        for sentence in _split(block):
            if result and not any(map(str.isalnum, sentence)):
                result[-1] += f"\n{sentence}"
            else:
                result.append(sentence)
    return result


def _blocks(text: str) -> Iterator[str]:
    """Yield the pieces of the text that no sentence crosses."""
    lines: list[str] = []
    is_in_fence = False
    for line in text.splitlines():
        fence = _FENCE.match(line)
        if (is_in_fence or not fence) and lines and (is_in_fence or _continues(lines[-1], line)):
            lines.append(line)
        else:
            yield from _join(lines)
            lines = [line]
        if fence:
            is_in_fence = not is_in_fence
            if not is_in_fence:
                yield from _join(lines)
                lines = []
    yield from _join(lines)


def _join(lines: list[str]) -> Iterator[str]:
    if block := "\n".join(lines).strip():
        yield block


def _continues(before: str, line: str) -> bool:
    """Return whether a line continues the line before it: a table, or a sentence that was wrapped."""
    if _is_row(before) or _is_row(line):
        return _is_row(before) and _is_row(line)
    if not before.strip() or not line.strip():
        return False
    if _HEADING.match(before) or _HEADING.match(line) or _ITEM.match(line):
        return False
    return line.lstrip()[0].islower() or line.startswith(("   ", "\t"))


def _is_row(line: str) -> bool:
    return line.strip().startswith("|") or line.count("|") >= 2


def _split(block: str) -> Iterator[str]:
    if _is_row(block.partition("\n")[0]) or _FENCE.match(block):
        yield block
        return
    begin = (
        len(mark[0]) - 1 if (mark := _ITEM.match(block)) else 0
    )  # the number of an item does not end a sentence
    start = 0
    for stop in _END.finditer(block, begin):
        if _ends_here(block, stop):
            yield block[start : stop.end()].strip()
            start = stop.end()
    if rest := block[start:].strip():
        yield rest


def _ends_here(block: str, stop: re.Match[str]) -> bool:
    """Return whether a stop ends its sentence: not after an abbreviation, nor before a lower-case letter."""
    if stop[0][0] in _WIDE_STOPS:
        return True
    after = _NEXT.match(block, stop.end())
    if after is None or after[1].islower():
        return after is None
    if stop[0] != ".":
        return True
    before = block[max(0, stop.start() - 12) : stop.start()]
    return not (_SHORT.search(before) or (after[1].isdigit() and _SHORT_BEFORE_NUMBER.search(before)))
