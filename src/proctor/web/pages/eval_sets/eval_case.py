"""One case of an eval set, to be edited: what it says, and what a change of it would come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from proctor.schema.results.page_model import PageModel

_AROUND = 3  # lines before and behind what changes


class FieldNote(PageModel):
    """Something about one field of a case."""

    pointer: str
    """Where, as a JSON pointer (RFC 6901): `/conversation/0/user_content`; empty for the case itself."""
    message: str
    hint: str


class EvalCasePage(PageModel):
    """One case as its file has it."""

    eval_set: str
    """The set's id in addresses."""
    eval_set_id: str
    path: str
    form: str
    eval_id: str
    position: int
    line: int
    total: int
    """Cases of the set."""
    previous: str | None
    """The id of the case before this one."""
    next: str | None
    version: str
    """What `If-Match` has to say to change it; the same as its ETag."""
    can_edit: bool
    why_not: str
    value: Any
    """The case: every key that it has, in the file's own spelling."""
    doubtful: list[FieldNote]
    personas: list[str]
    """Ids of personas that a scenario may name."""


class CaseSaved(PageModel):
    """A case that was written."""

    eval_id: str
    position: int
    line: int
    version: str
    value: Any
    doubtful: list[FieldNote]


class CaseRemoved(PageModel):
    """Cases that are no longer there."""

    eval_ids: list[str]
    undo: str
    """Gives the file its text back, for a while and as long as nobody changes it: `restore_eval_case`."""


class CasePreview(PageModel):
    """What saving would do to the file."""

    lines: list[DiffLine]
    lost: list[str]
    """Comments that would go, each as `LINE: COMMENT`."""
    doubtful: list[FieldNote]


class CaseChecked(PageModel):
    """What there is to say about a case that is being written."""

    wrong: list[FieldNote]
    """Why it is no case; it cannot be saved so."""
    refused: list[FieldNote]
    """What it expects and no run could check: it can be saved, and no run of it begins."""
    doubtful: list[FieldNote]


class DiffLine(PageModel):
    """One line of a file's difference."""

    sign: str
    """`-` goes, `+` comes, a space stays, `…` stands for lines left out."""
    number: int | None
    """The line in the new text; of a line that goes, in the old one."""
    text: str


class CaseRefusal(PageModel):
    """Why a case was not written."""

    detail: str
    fields: list[FieldNote]
    """What is wrong, field by field (422)."""
    lost: list[str]
    """Comments that would be lost (409): confirm, or edit the file."""
    theirs: Any
    """What the file says now (412); null where the case is gone."""
    version: str
    """Of what the file says now."""
    changed: list[str]
    """JSON pointers at which that differs from what was sent (412)."""


def pointer(path: Sequence[str | int]) -> str:
    """Return a path as a JSON pointer."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def differing(one: Any, other: Any, path: tuple[str | int, ...] = ()) -> Iterator[str]:
    """Return the pointers at which two JSON values differ, each at the lowest place that has a name in both."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            if key in one and key in other:
                yield from differing(one[key], other[key], (*path, key))
            else:
                yield pointer((*path, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differing(left, right, (*path, index))
    elif type(one) is not type(other) or one != other:
        yield pointer(path)


def diff_lines(before: str, after: str) -> list[DiffLine]:
    """Return what differs between two texts, with a few lines around it; texts may be long, and differ little."""
    old, new = before.split("\n"), after.split("\n")
    if old == new:
        return []
    head = next(
        (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    tail = next(
        (
            i
            for i, (a, b) in enumerate(zip(reversed(old[head:]), reversed(new[head:]), strict=False))
            if a != b
        ),
        min(len(old), len(new)) - head,
    )
    first, last_old, last_new = max(0, head - _AROUND), len(old) - tail, len(new) - tail
    middle = _middle(old[head:last_old], new[head:last_new], head)
    before_it = [_line(" ", at, new[at]) for at in range(first, head)]
    after_it = [_line(" ", at, new[at]) for at in range(last_new, min(len(new), last_new + _AROUND))]
    return [*before_it, *middle, *after_it]


def _middle(old: list[str], new: list[str], head: int) -> Iterator[DiffLine]:
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from (_line("-", head + at, old[at]) for at in range(a, b))
            yield from (_line("+", head + at, new[at]) for at in range(c, d))
        elif d - c <= 2 * _AROUND + 1:
            yield from (_line(" ", head + at, new[at]) for at in range(c, d))
        else:
            yield from (_line(" ", head + at, new[at]) for at in range(c, c + _AROUND))
            yield DiffLine(sign="…", number=None, text=f"{d - c - 2 * _AROUND} lines")
            yield from (_line(" ", head + at, new[at]) for at in range(d - _AROUND, d))


def _line(sign: str, at: int, text: str) -> DiffLine:
    return DiffLine(sign=sign, number=at + 1, text=text.removesuffix("\r"))
