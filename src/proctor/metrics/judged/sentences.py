"""Splits an answer into sentences, by rule: the same text always gives the same ones, and nothing of it is left out.

A rule, and not a model: votes on a sentence can only be counted if all of them saw the same sentences, what was asked
before can only be remembered if it is asked again in the same words, and nothing that the answer says can talk a rule
out of a sentence. Where a script has no full stop (Thai, Lao, Khmer) a line is one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["sentences"]

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
"""What has a full stop of its own and goes on in any way: `Dr. Ito`, `e.g. Rome`, `U.S. cities`."""
_SHORT_BEFORE_NUMBER = re.compile(
    rf"{_BEFORE}(?:nos?|nr|figs?|vol|pp?|sec|ch|art|approx|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)$",
    re.IGNORECASE,
)
"""The same where a number follows: `No. 5`, `Jan. 3`."""


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`, as they stand in it, without the white space around each.

    List items and headings are sentences of their own; a table is one, and so is a block of code. What has no letter
    and no digit (a rule, a lone emoji) belongs to the sentence before it.
    """
    found: list[str] = []
    for block in _blocks(text):
        for sentence in _split(block):
            if found and not any(map(str.isalnum, sentence)):
                found[-1] += f"\n{sentence}"
            else:
                found.append(sentence)
    return found


def _blocks(text: str) -> Iterator[str]:
    """Pieces of the text that no sentence goes beyond."""
    gathered: list[str] = []
    fenced = False
    for line in text.splitlines():
        marks = _FENCE.match(line)
        if (fenced or not marks) and gathered and (fenced or _goes_on(gathered[-1], line)):
            gathered.append(line)
        else:
            yield from _joined(gathered)
            gathered = [line]
        if marks:
            fenced = not fenced
            if not fenced:
                yield from _joined(gathered)
                gathered = []
    yield from _joined(gathered)


def _joined(lines: list[str]) -> Iterator[str]:
    if block := "\n".join(lines).strip():
        yield block


def _goes_on(before: str, line: str) -> bool:
    """Whether a line goes on with what the line before it began: a table, or a sentence that was broken for its length."""
    if _is_row(before) or _is_row(line):
        return _is_row(before) and _is_row(line)
    if (
        not before.strip()
        or not line.strip()
        or _HEADING.match(before)
        or _HEADING.match(line)
        or _ITEM.match(line)
    ):
        return False
    return line.lstrip()[0].islower() or line.startswith(("   ", "\t"))


def _is_row(line: str) -> bool:
    return line.strip().startswith("|") or line.count("|") >= 2


def _split(block: str) -> Iterator[str]:
    if _is_row(block.partition("\n")[0]) or _FENCE.match(block):
        yield block
        return
    begin = len(mark[0]) - 1 if (mark := _ITEM.match(block)) else 0  # the number of an item ends no sentence
    start = 0
    for stop in _END.finditer(block, begin):
        if _ends_here(block, stop):
            yield block[start : stop.end()].strip()
            start = stop.end()
    if rest := block[start:].strip():
        yield rest


def _ends_here(block: str, stop: re.Match[str]) -> bool:
    """Whether a stop ends its sentence: not after an abbreviation, nor where a small letter follows."""
    if stop[0][0] in _WIDE_STOPS:
        return True
    after = _NEXT.match(block, stop.end())
    if after is None or after[1].islower():
        return after is None
    if stop[0] != ".":
        return True
    before = block[max(0, stop.start() - 12) : stop.start()]
    return not (_SHORT.search(before) or (after[1].isdigit() and _SHORT_BEFORE_NUMBER.search(before)))
