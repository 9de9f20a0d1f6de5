"""The review of a blessing (accepting snapshots): per case the changes as paths of the format and as lines of the file."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Literal

from proctor.reports.evidence.blocks import Piece
from proctor.reports.evidence.value_text import value_difference, value_text
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.score import Outcome
from proctor.web.pages.case.texts import Marked, marked_pieces

__all__ = [
    "BlessCase", "BlessFile", "BlessPage", "BlessedFile", "BlessedPage", "CaseChange", "Hunk", "case_changes", "hunks_of",
]  # fmt: skip

_CONTEXT = 2
"""Unchanged lines around a change."""
_MOST_CHANGES = 500
"""The number of changes that one case lists."""


class CaseChange(PageModel):
    """One value of a case that would change."""

    path: str
    """Its path in the case: `conversation[1].final_response.parts[0].text`."""
    before: Marked | None
    """Null: the value is new."""
    after: Marked | None
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


class BlessCase(PageModel):
    """One case, and how it would change."""

    position: int
    eval_set_id: str
    eval_id: str
    outcome: Outcome
    trials: int
    trial: int | None
    """The trial whose behaviour the case would expect, from 0."""
    status: Literal["changes", "same", "refused"]
    """`same`: the case already expects this behaviour."""
    why: str
    """The reason of a refusal."""
    choose: bool
    """Whether the user has to choose a trial, because the trials differ."""
    path: str
    """Its file."""
    changes: list[CaseChange]
    hunks: list[Hunk]
    lost: list[str]
    """Comments in the replaced text, each with its line: they would be lost."""


class BlessFile(PageModel):
    """One file, with the losses that concern no single case."""

    path: str
    lost: list[str]
    """Comments outside of the cases that would be lost."""


class BlessPage(PageModel):
    """The changes that blessing a run would write. Nothing has been written."""

    run_id: str
    short: str
    agent: str
    etag: str
    """The version of the files, which `If-Match` has to name."""
    cases: list[BlessCase]
    files: list[BlessFile]
    problems: list[str]
    """Problems of whole files."""
    command: str
    """The equivalent command."""


class BlessedFile(PageModel):
    """A file that was written."""

    path: str
    cases: list[str]


class BlessedPage(PageModel):
    """The result of a blessing."""

    files: list[BlessedFile]
    etag: str
    """The new version of the files."""


# --- as lines ----------------------------------------------------------------------------------------------------------


def hunks_of(before: Sequence[str], after: Sequence[str]) -> list[Hunk]:
    """Return the differences between two files, with a few lines around each change."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    hunks = []
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        lines: list[HunkLine] = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [HunkLine(sign=" ", text=text) for text in before[a:b]]
                continue
            lines += [HunkLine(sign="-", text=text) for text in before[a:b]]
            lines += [HunkLine(sign="+", text=text) for text in after[c:d]]
        hunks.append(Hunk(before=group[0][1] + 1, after=group[0][3] + 1, lines=lines))
    return hunks


# --- as paths of the format --------------------------------------------------------------------------------------------


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
    texts = [[json.dumps(item, sort_keys=True, default=str) for item in side] for side in (before, after)]
    matcher = difflib.SequenceMatcher(None, texts[0], texts[1], autojunk=False)
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


def _whole(value: object) -> Marked:
    return marked_pieces([Piece(value_text(value), changed=True)])
