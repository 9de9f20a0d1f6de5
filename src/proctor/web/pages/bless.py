"""What a blessing would write, for review before anything is written: case by case, in words of the format and as lines."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Literal

from proctor.reports.evidence.blocks import Piece
from proctor.reports.evidence.value_text import value_difference, value_text
from proctor.schema.results.outcome import Outcome
from proctor.schema.results.page_model import PageModel
from proctor.web.pages.case.texts import Marked, marked

__all__ = [
    "BlessCase", "BlessFile", "BlessPage", "BlessedFile", "BlessedPage", "CaseChange", "Hunk", "case_changes", "hunks_of",
]  # fmt: skip

_CONTEXT = 2
"""Lines around a change."""
_MOST_CHANGES = 500
"""Changes of one case that are told."""


class CaseChange(PageModel):
    """One thing of a case that would be another one."""

    path: str
    """Where it is in the case: `conversation[1].final_response.parts[0].text`."""
    before: Marked | None
    """Null: it is new."""
    after: Marked | None
    """Null: it goes."""


class HunkLine(PageModel):
    """A line of the file."""

    sign: Literal[" ", "-", "+"]
    text: str


class Hunk(PageModel):
    """A stretch of the file in which something changes."""

    before: int
    """Its first line, from 1."""
    after: int
    lines: list[HunkLine]


class BlessCase(PageModel):
    """One case, and what becomes of it."""

    position: int
    eval_set_id: str
    eval_id: str
    outcome: Outcome
    trials: int
    trial: int | None
    """The one that is learnt from, from 0."""
    status: Literal["changes", "same", "refused"]
    """`same`: it expects already what was done."""
    why: str
    """Why it is refused."""
    choose: bool
    """Whether a trial has to be chosen first: they did not go alike."""
    path: str
    """Its file."""
    changes: list[CaseChange]
    hunks: list[Hunk]
    lost: list[str]
    """Comments that stand in what is replaced, each with its line: they would go."""


class BlessFile(PageModel):
    """One file, and what is to be known of it as a whole."""

    path: str
    lost: list[str]
    """Comments that would go, of no case in particular."""


class BlessPage(PageModel):
    """What a blessing of a run would write. Nothing has been written."""

    run_id: str
    short: str
    agent: str
    etag: str
    """The state of the files that this was made from: what `If-Match` has to name."""
    cases: list[BlessCase]
    files: list[BlessFile]
    problems: list[str]
    """What is wrong with whole files."""
    command: str
    """What does the same in a terminal."""


class BlessedFile(PageModel):
    """A file that was written."""

    path: str
    cases: list[str]


class BlessedPage(PageModel):
    """What was written."""

    files: list[BlessedFile]
    etag: str
    """The state of the files now."""


# --- as lines ----------------------------------------------------------------------------------------------------------


def hunks_of(before: Sequence[str], after: Sequence[str]) -> list[Hunk]:
    """Return where two files differ, with a few lines around each change."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    found = []
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        lines: list[HunkLine] = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [HunkLine(sign=" ", text=text) for text in before[a:b]]
                continue
            lines += [HunkLine(sign="-", text=text) for text in before[a:b]]
            lines += [HunkLine(sign="+", text=text) for text in after[c:d]]
        found.append(Hunk(before=group[0][1] + 1, after=group[0][3] + 1, lines=lines))
    return found


# --- in words of the format --------------------------------------------------------------------------------------------


def case_changes(before: Any, after: Any) -> list[CaseChange]:
    """Return what of a case is another one, as JSON, with the path of each thing."""
    return [change for change, _ in zip(_changes(before, after, ""), range(_MOST_CHANGES), strict=False)]


def _changes(before: Any, after: Any, path: str) -> Iterator[CaseChange]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in {**before, **after}:
            below = f"{path}.{name}" if path else str(name)
            yield from _either(before, after, name, below)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, path)
    elif before != after or type(before) is not type(after):
        wanted, made = value_difference(before, after, full=True)
        yield CaseChange(path=path, before=marked(wanted), after=marked(made))


def _either(
    before: Mapping[str, Any], after: Mapping[str, Any], name: str, path: str
) -> Iterator[CaseChange]:
    if name not in before:
        yield CaseChange(path=path, before=None, after=_whole(after[name]))
    elif name not in after:
        yield CaseChange(path=path, before=_whole(before[name]), after=None)
    else:
        yield from _changes(before[name], after[name], path)


def _of_lists(before: Sequence[Any], after: Sequence[Any], path: str) -> Iterator[CaseChange]:
    """Elements that are alike stay beside each other; what is between them is compared in order."""
    texts = [[json.dumps(each, sort_keys=True, default=str) for each in side] for side in (before, after)]
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


def _whole(value: Any) -> Marked:
    return marked([Piece(value_text(value), changed=True)])
