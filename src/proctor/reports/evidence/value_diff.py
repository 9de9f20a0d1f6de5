"""Differences between two JSON values or two texts: pieces of text, those that differ marked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any

from proctor.common.json_values import equal_json, json_line
from proctor.common.safe_text import cut_text
from proctor.reports.content.text_blocks import DiffPiece, Pieces

LONGEST_VALUE = 48
"""Characters of a value that are shown at a glance."""

DEEPEST = 30
"""Levels of nesting into which a difference is followed; below, values are compared as a whole."""

_LEAST_TEXT = 16
_CONTEXT = 16
_Members = list[tuple[bool, Pieces]]


def cut_value(text: str, longest: int) -> str:
    """Cut a value's JSON; a string keeps its closing quote."""
    if len(text) <= longest:
        return text
    end = '…"' if text.startswith('"') else "…"
    return text[: max(1, longest - len(end))] + end


def value_pair(expected: object, actual: object, *, longest: int = LONGEST_VALUE) -> tuple[str, str]:
    """Return two values as JSON, cut so that the place where they first differ is seen in both."""
    left, right = json_line(expected), json_line(actual)
    if max(len(left), len(right)) <= longest:
        return left, right
    both = zip(left, right, strict=False)
    common = next((n for n, (a, b) in enumerate(both) if a != b), min(len(left), len(right)))
    skipped = max(0, common - longest // 3)
    return _window(left, skipped, longest), _window(right, skipped, longest)


def value_difference(
    expected: object, actual: object, *, full: bool = False, depth: int = 0
) -> tuple[Pieces, Pieces]:
    """Return two values as JSON in pieces: inside objects, lists and texts only what differs is marked.

    Members that are alike give way to `…` where the value is long; `full` shows all.
    """
    marked = _differing_parts(expected, actual, full=full, depth=depth) if depth < DEEPEST else None
    return marked or _whole(expected, actual, full=full)


def _differing_parts(
    expected: object, actual: object, *, full: bool, depth: int
) -> tuple[Pieces, Pieces] | None:
    """Return two values with their different parts marked; `None` if they are not of one kind that has parts."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return _members(expected, actual, "{}", full=full, depth=depth)
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        return _members(dict(enumerate(expected)), dict(enumerate(actual)), "[]", full=full, depth=depth)
    if isinstance(expected, str) and isinstance(actual, str) and len(expected) >= _LEAST_TEXT:
        return _texts(json_line(expected), json_line(actual), full=full)
    return None


def _whole(expected: object, actual: object, *, full: bool) -> tuple[Pieces, Pieces]:
    left, right = value_pair(expected, actual, longest=10**9 if full else LONGEST_VALUE)
    return [DiffPiece(left, changed=True)], [DiffPiece(right, changed=True)]


def _texts(expected: str, actual: str, *, full: bool) -> tuple[Pieces, Pieces] | None:
    expected_pieces, actual_pieces = word_difference(expected, actual)
    if full:
        return expected_pieces, actual_pieces
    if any(piece.changed and len(piece.text) > LONGEST_VALUE for piece in (*expected_pieces, *actual_pieces)):
        return None
    return elide(expected_pieces, context=_CONTEXT), elide(actual_pieces, context=_CONTEXT)


def _members(
    expected: Mapping[Any, object], actual: Mapping[Any, object], brackets: str, *, full: bool, depth: int
) -> tuple[Pieces, Pieces] | None:
    expected_members: _Members = []
    actual_members: _Members = []
    for name in {**expected, **actual}:
        key = DiffPiece(f"{json_line(name)}: " if brackets == "{}" else "")
        if name not in actual:
            expected_members.append((False, [key, DiffPiece(json_line(expected[name]), changed=True)]))
        elif name not in expected:
            actual_members.append((False, [key, DiffPiece(json_line(actual[name]), changed=True)]))
        elif equal_json(expected[name], actual[name]):
            expected_members.append((True, [key, DiffPiece(json_line(expected[name]))]))
            actual_members.append((True, [key, DiffPiece(json_line(actual[name]))]))
        else:
            left, right = value_difference(expected[name], actual[name], full=full, depth=depth + 1)
            expected_members.append((False, [key, *left]))
            actual_members.append((False, [key, *right]))
    # equal as JSON, and not for the metric: 1 and 1.0
    if all(same for same, _ in (*expected_members, *actual_members)):
        return None
    return _bracketed_pieces(expected_members, brackets, full=full), _bracketed_pieces(
        actual_members, brackets, full=full
    )


def _bracketed_pieces(members: _Members, brackets: str, *, full: bool) -> Pieces:
    if not full and sum(len(piece.text) for _, pieces in members for piece in pieces) > LONGEST_VALUE:
        members = _without_alike(members)
    inside: Pieces = []
    for index, (_, pieces) in enumerate(members):
        inside += [DiffPiece(", "), *pieces] if index else pieces
    return merge_pieces([DiffPiece(brackets[0]), *inside, DiffPiece(brackets[1])])


def _without_alike(members: _Members) -> _Members:
    result: _Members = []
    for same, group in groupby(members, key=lambda member: member[0]):
        result += [(True, [DiffPiece("…")])] if same else group
    return result


def merge_pieces(pieces: Pieces) -> Pieces:
    """Join neighbours with the same mark."""
    return [
        DiffPiece(text, changed)
        for changed, group in groupby(pieces, key=lambda piece: piece.changed)
        if (text := "".join(piece.text for piece in group))
    ]


def _window(text: str, start: int, longest: int) -> str:
    window = text[start : start + longest]
    return f"{'…' if start else ''}{window}{'…' if start + longest < len(text) else ''}"


# --- words of two texts -----------------------------------------------------------------------------------------------


MOST_WORDS = 400
"""Words compared on either side, common beginning and end aside; of longer stretches the sentences are compared first."""

_LEAST_IN_COMMON = 0.2
_MARKS = (
    r"\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u06d6-\u06ed\u0900-\u0963\u0970-\u0dff\u0e31-\u0e3a\u0e47-\u0eff"
    r"\u200c\u200d\ufe0f\U0001f3fb-\U0001f3ff"
)
"""Characters that belong to the letter or the emoji before them: vowel signs, accents, joiners, skin tones."""
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    rf"|\w[\w{_MARKS}]*|\s+|[^\w\s](?:\u200d[^\w\s]|[{_MARKS}])*"
)
_SENTENCE_ENDS = frozenset(".!?\n。！？।؟")


def word_difference(expected: str, actual: str) -> tuple[Pieces, Pieces]:
    """Return both texts in pieces; joined again, the pieces of each are the whole text.

    Texts that share next to nothing are one changed piece each: chance matches of small words would only confuse.
    """
    expected_words, actual_words = _WORD.findall(expected), _WORD.findall(actual)
    start, end = _common_ends(expected_words, actual_words)
    middle = expected_words[start : len(expected_words) - end], actual_words[start : len(actual_words) - end]
    changes = _changes(*middle)
    sides = (
        [
            (False, expected_words[:start]),
            *((changed, words) for changed, words, _ in changes),
            (False, expected_words[len(expected_words) - end :]),
        ],
        [
            (False, actual_words[:start]),
            *((changed, words) for changed, _, words in changes),
            (False, actual_words[len(actual_words) - end :]),
        ],
    )
    return _join_stretches(sides[0]), _join_stretches(sides[1])


def _common_ends(expected: list[str], actual: list[str]) -> tuple[int, int]:
    shorter = min(len(expected), len(actual))
    start = 0
    while start < shorter and expected[start] == actual[start]:
        start += 1
    end = 0
    while end < shorter - start and expected[-1 - end] == actual[-1 - end]:
        end += 1
    return start, end


_Change = tuple[bool, list[str], list[str]]


def _changes(expected: list[str], actual: list[str]) -> list[_Change]:
    """Stretches of both sides in order: (differs, words expected, words made)."""
    if max(len(expected), len(actual)) > MOST_WORDS:
        return _sentence_changes(expected, actual)
    matcher = SequenceMatcher(None, expected, actual, autojunk=False)
    if matcher.quick_ratio() < _LEAST_IN_COMMON or matcher.ratio() < _LEAST_IN_COMMON:
        return [(True, expected, actual)]
    changes = [(tag != "equal", expected[a:b], actual[c:d]) for tag, a, b, c, d in matcher.get_opcodes()]
    return [
        (changed or _is_bridge(changes, index), left, right)
        for index, (changed, left, right) in enumerate(changes)
    ]


def _sentence_changes(expected: list[str], actual: list[str]) -> list[_Change]:
    """Compare the sentences of two long texts, and the words of those that differ."""
    left, right = _sentences(expected), _sentences(actual)
    if min(len(left), len(right)) < 2 or max(len(left), len(right)) > MOST_WORDS:
        return [(True, expected, actual)]
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    changes: list[_Change] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        sides = [word for one in left[a:b] for word in one], [word for one in right[c:d] for word in one]
        if tag == "replace" and max(map(len, sides)) <= MOST_WORDS:
            changes += _changes(*sides)
        else:
            changes.append((tag != "equal", *sides))
    return changes


def _sentences(words: list[str]) -> list[tuple[str, ...]]:
    result: list[list[str]] = [[]]
    for word in words:
        result[-1].append(word)
        if word[-1] in _SENTENCE_ENDS:
            result.append([])
    return [tuple(one) for one in result if one]


def _is_bridge(changes: list[_Change], index: int) -> bool:
    """Return whether only white space separates two changes, so that they are one change."""
    inside = 0 < index < len(changes) - 1
    return inside and all(word.isspace() for word in changes[index][1])


def _join_stretches(stretches: list[tuple[bool, list[str]]]) -> Pieces:
    pieces: Pieces = []
    for changed, words in stretches:
        text = "".join(words)
        if not text:
            continue
        if pieces and pieces[-1].changed == changed:
            text = pieces.pop().text + text
        pieces.append(DiffPiece(text, changed))
    return pieces


def elide(pieces: Pieces, *, context: int = 40, longest: int = 400) -> Pieces:
    """Return `pieces` with the middle of long unchanged stretches, and the tail of long changed ones, cut out.

    `context` characters are kept on the sides of an unchanged stretch that touch a change.
    """
    last = len(pieces) - 1
    return [
        DiffPiece(cut_text(piece.text, longest), changed=True)
        if piece.changed
        else DiffPiece(_middle_out(piece.text, context if n else 0, context if n < last else 0, context))
        for n, piece in enumerate(pieces)
    ]


def _middle_out(text: str, head: int, tail: int, context: int) -> str:
    if len(text) <= max(head + tail, context) + 40:  # nothing is gained by hiding a few words
        return text
    if not head and not tail:
        return cut_text(text, 80)
    before, after = (
        _whole_words(text[:head], from_end=False),
        _whole_words(text[len(text) - tail :], from_end=True),
    )
    return f"{before} … {after if tail else ''}".strip(" ")


def _whole_words(text: str, *, from_end: bool) -> str:
    """Drop the word that a cut went through, where that leaves anything."""
    whole_words = text.partition(" ")[2] if from_end else text.rpartition(" ")[0]
    return whole_words or text
