"""The models of the pages about eval sets: the list, one set with its cases, and the editor of a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.format.wire_model import PageModel

_AROUND = 3  # unchanged lines before and after a change


class FieldNote(PageModel):
    """A message about one field of a case."""

    pointer: str
    """The field as a JSON pointer (RFC 6901): `/conversation/0/user_content`; empty for the case itself."""
    message: str
    hint: str


class EvalCasePage(PageModel):
    """One case as in its file."""

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
    """The value of `If-Match` for a change; the same as the ETag."""
    can_edit: bool
    why_not: str
    value: Any
    """The case with all its keys, in the file's spelling."""
    warnings: list[FieldNote]
    personas: list[str]
    """The ids of the personas that a scenario may name."""


class CaseSaved(PageModel):
    """A case that was written."""

    eval_id: str
    position: int
    line: int
    version: str
    value: Any
    warnings: list[FieldNote]


class CaseRemoved(PageModel):
    """Cases that were removed."""

    eval_ids: list[str]
    undo: str
    """The name of the change for `restore_eval_case`, which works until the file changes again."""


class CasePreview(PageModel):
    """The change of the file that saving would make."""

    lines: list[DiffLine]
    lost: list[str]
    """Comments that would be lost, each as `LINE: COMMENT`."""
    warnings: list[FieldNote]


class CaseChecked(PageModel):
    """The problems of a case that is being edited."""

    errors: list[FieldNote]
    """Errors that prevent saving."""
    refused: list[FieldNote]
    """Problems at which every run ends: the case can be saved, but not run."""
    warnings: list[FieldNote]


class DiffLine(PageModel):
    """One line of a file's difference."""

    sign: str
    """`-` removed, `+` added, space unchanged, `…` lines left out."""
    number: int | None
    """The line number in the new text; for a removed line, in the old text."""
    text: str


class CaseRefusal(PageModel):
    """Why a case was not written."""

    detail: str
    fields: list[FieldNote]
    """The errors, field by field (422)."""
    lost: list[str]
    """Comments that would be lost (409): confirm, or edit the file."""
    theirs: Any
    """The present content of the file (412); null if the case was removed."""
    version: str
    """The version of that content."""
    changed: list[str]
    """JSON pointers at which it differs from the sent content (412)."""


def pointer(path: Sequence[str | int]) -> str:
    """Return a path as a JSON pointer."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def differing(one: object, other: object, path: tuple[str | int, ...] = ()) -> Iterator[str]:
    """Yield the pointers at which two JSON values differ, as deep as both have the same structure."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        one, other = dict(enumerate(one)), dict(enumerate(other))
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            yield from differing(one.get(key, _MISSING), other.get(key, _MISSING), (*path, key))
    elif type(one) is not type(other) or one != other:
        yield pointer(path)


_MISSING = object()


def diff_lines(before: str, after: str) -> list[DiffLine]:
    """Return the differences between two texts, with a few lines around them; fast for long texts with few changes."""
    old, new = before.split("\n"), after.split("\n")
    if old == new:
        return []
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    first, last_old, last_new = max(0, head - _AROUND), len(old) - tail, len(new) - tail
    middle = _middle(old[head:last_old], new[head:last_new], head)
    before_it = [_line(" ", at, new[at]) for at in range(first, head)]
    after_it = [_line(" ", at, new[at]) for at in range(last_new, min(len(new), last_new + _AROUND))]
    return [*before_it, *middle, *after_it]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of equal lines at the beginning of two texts."""
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


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


EXCERPT = 160
"""The characters of a user's message that a list of cases shows."""


class ProblemNote(PageModel):
    """An error or a warning about a file."""

    severity: str
    """`error` or `warning`."""
    file: str | None
    """The config, if the problem is in that file instead of the set's file."""
    line: int
    column: int
    field: str
    message: str
    hint: str
    position: int | None
    """The position of the case that it concerns."""


class EvalSetRow(PageModel):
    """One eval set in the list of all."""

    id: str
    """The set's id in addresses; it is not a path."""
    path: str
    eval_set_id: str | None
    """Null if the file cannot be read."""
    name: str | None
    form: str
    """The syntax: `json`, `yaml` or `lines`."""
    kind: str
    """The generation of the format, as text."""
    can_edit: bool
    is_old: bool
    """The set has an old format: it cannot be edited, but migrated."""
    cases: int | None
    errors: int
    warnings: int
    first_problem: str | None


class EvalSetList(PageModel):
    """All eval sets of a project, by path."""

    items: list[EvalSetRow]
    folders: list[str]
    """The folders for new sets, relative to the project's folder (`""`)."""


class EvalSetPage(EvalSetRow):
    """One eval set, without its cases."""

    description: str | None
    why_not: str
    """Why its cases cannot be edited; empty if they can."""
    has_head: bool
    """Whether its keys can be edited: `EvalSetHead`."""
    migrates_to: str | None
    """The path of the file that a migration would create."""
    problems: list[ProblemNote]
    command: str
    """The command that runs this set."""


class EvalSetHead(PageModel):
    """The keys of a set in its file, without the cases."""

    eval_set_id: str
    """The id in the file, else the one that Proctor derives."""
    version: str
    """The value of `If-Match` for a change; the same as the ETag."""
    value: Any
    """All keys of the set except the cases, in the file's spelling."""
    warnings: list[FieldNote]


class EvalSetText(PageModel):
    """The text of a set's file, or a draft of it."""

    path: str
    text: str
    """Lines end with a line feed; the file keeps its own line ends."""
    version: str
    """The value of `If-Match` for a change; the same as the ETag."""
    readable: bool
    """Whether it can be opened as an eval set."""
    problems: list[ProblemNote]


class EvalCaseRow(PageModel):
    """One case in the list of a set's cases."""

    position: int
    eval_id: str
    line: int
    kind: str
    """`turns` or `scenario`."""
    turns: int
    """The number of recorded turns; for a scenario those of its opening."""
    asks: str
    """The beginning of the user's first message."""
    calls: int
    """Expected tool calls in all turns."""
    tags: list[str]
    rubrics: int
    """The number of rubrics of the case and of all its turns."""
    has_state: bool
    """Whether it states a final state."""
    errors: int
    warnings: int


class EvalCaseList(PageModel):
    """Cases of a set, in the order of the file."""

    items: list[EvalCaseRow]
    total: int


class CreatedSet(PageModel):
    """A new set."""

    id: str
    path: str


def eval_case_row(
    case: EvalCase, position: int, line: int, problems: Sequence[ProblemNote] = ()
) -> EvalCaseRow:
    """Return the row of a case in the list of cases."""
    is_scenario = case.conversation_scenario is not None
    turns = (case.opening if is_scenario else case.conversation) or []
    first = first_message(case)
    return EvalCaseRow(
        position=position,
        eval_id=case.eval_id,
        line=line,
        kind="scenario" if is_scenario else "turns",
        turns=len(turns),
        asks=first if len(first) <= EXCERPT else f"{first[:EXCERPT]}…",
        calls=sum(len(turn.tool_calls) for turn in turns),
        tags=case_tags(case),
        rubrics=len(case.rubrics or ()) + sum(len(turn.rubrics or ()) for turn in turns),
        has_state=bool(case.final_session_state),
        errors=sum(problem.severity == "error" for problem in problems),
        warnings=sum(problem.severity == "warning" for problem in problems),
    )


def case_tags(case: EvalCase) -> list[str]:
    """Return the tags of a case."""
    tags = (case.model_extra or {}).get("tags")
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []


def first_message(case: EvalCase) -> str:
    """Return the first message of the user; empty if there is none."""
    if case.conversation_scenario is not None:
        return case.conversation_scenario.starting_prompt
    return text_of(case.conversation[0].user_content) if case.conversation else ""
