"""How a file of cases would change by a blessing: each case as values with their paths and as lines of the file."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Literal

from proctor.authoring.bless import Blessing
from proctor.common.json_values import json_line, sorted_json
from proctor.files.edit.line_changes import group_changes
from proctor.reports.content.text_blocks import DiffPiece
from proctor.reports.evidence.value_diff import value_difference
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.manifest import PlannedCase
from proctor.web.pages.case.page_parts import MarkedText, marked_pieces

_CONTEXT = 2
"""Unchanged lines around a change."""
_MOST_CHANGES = 500
"""The number of changes that one case lists."""


class CaseChange(PageModel):
    """One value of a case that would change."""

    path: str
    """Its path in the case, as the file has it: `conversation[1].final_response.parts[0].text`, in YAML `turns[1].expect`."""
    before: MarkedText | None
    """Null: the value is new."""
    after: MarkedText | None
    """Null: the value is removed."""


class HunkLine(PageModel):
    """A line of the file."""

    sign: Literal[" ", "-", "+"]
    text: str


class Hunk(PageModel):
    """A group of adjacent changes in the file."""

    before: int
    """Its first line, from 1."""
    after: int
    lines: list[HunkLine]


# --- changes as values with their paths ------------------------------------------------------------------------------------


def case_changes(before: object, after: object) -> list[CaseChange]:
    """Return the values in which two JSON documents of a case differ, each with its path."""
    return [change for change, _ in zip(_changes(before, after, ""), range(_MOST_CHANGES), strict=False)]


def _changes(before: object, after: object, path: str) -> Iterator[CaseChange]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in {**before, **after}:
            below = f"{path}.{name}" if path else str(name)
            yield from _member_changes(before, after, name, below)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_changes(before, after, path)
    elif before != after or type(before) is not type(after):
        old, new = value_difference(before, after, full=True)
        yield CaseChange(path=path, before=marked_pieces(old), after=marked_pieces(new))


def _member_changes(
    before: Mapping[str, object], after: Mapping[str, object], name: str, path: str
) -> Iterator[CaseChange]:
    if name not in before:
        yield CaseChange(path=path, before=None, after=_whole(after[name]))
    elif name not in after:
        yield CaseChange(path=path, before=_whole(before[name]), after=None)
    else:
        yield from _changes(before[name], after[name], path)


def _list_changes(before: Sequence[object], after: Sequence[object], path: str) -> Iterator[CaseChange]:
    """Pair equal elements; compare the elements between them in order."""
    old_texts, new_texts = [*map(sorted_json, before)], [*map(sorted_json, after)]
    if old_texts == new_texts:
        return
    matcher = difflib.SequenceMatcher(None, old_texts, new_texts, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        for old, new in zip_longest(range(a, b), range(c, d)):
            if old is None:
                yield CaseChange(path=f"{path}[{new}]", before=None, after=_whole(after[new]))
            elif new is None:
                yield CaseChange(path=f"{path}[{old}]", before=_whole(before[old]), after=None)
            else:
                yield from _changes(before[old], after[new], f"{path}[{new}]")


def _whole(value: object) -> MarkedText:
    return marked_pieces([DiffPiece(json_line(value), changed=True)])


# --- the changes of a file --------------------------------------------------------------------------------------------


class FileChanges:
    """The changes of a file, case by case."""

    def __init__(self, blessing: Blessing) -> None:
        self._blessing = blessing
        self._known = {*blessing.cases, *blessing.unchanged}
        self._lines = blessing.lines
        self._starts = [change.before for change in blessing.line_changes]

    def has(self, case: PlannedCase) -> bool:
        """Whether the file has this case, changed or not."""
        return case.eval_id in self._known

    def fields(self, case: PlannedCase) -> dict[str, object]:
        """Return the fields of `BlessCase` that show how the file changes."""
        name = case.eval_id
        place = {"trial": self._blessing.trials.get(name), "path": str(self._blessing.path)}
        if (changed := self._blessing.changed.get(name)) is None:
            return {**place, "status": "same"}
        return {
            **place,
            "status": "changes",
            "changes": case_changes(changed.before, changed.after),
            "hunks": self._hunks(changed.lines),
            "lost": [comment for comment in self._blessing.lost if _line_of(comment) in changed.lines],
        }

    def _hunks(self, lines: range) -> list[Hunk]:
        """Return the changes in some lines of the file, with a few lines around each."""
        first, last = (bisect_left(self._starts, line - 1) for line in (lines.start, lines.stop))
        groups = group_changes(self._lines, self._blessing.line_changes[first:last], _CONTEXT)
        return [
            Hunk.model_validate(
                {
                    "before": group.before + 1,
                    "after": group.after + 1,
                    "lines": [{"sign": sign, "text": text} for sign, text in group.lines],
                }
            )
            for group in groups
        ]

    def lost_elsewhere(self) -> list[str]:
        """Return the comments that would be lost outside of the changed cases."""
        changed = [case.lines for case in self._blessing.changed.values()]
        return [
            comment
            for comment in self._blessing.lost
            if not any(_line_of(comment) in lines for lines in changed)
        ]


def _line_of(comment: str) -> int:
    """Return the line of a lost comment, which is `LINE: COMMENT`."""
    return int(comment.partition(":")[0])
