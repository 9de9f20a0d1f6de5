"""The eval sets of a project, and one of them with its cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.results.page_model import PageModel
from proctor.web.pages.eval_sets.eval_case import FieldNote

EXCERPT = 160
"""Characters of what a user asks that a list of cases shows."""


class ProblemNote(PageModel):
    """One thing that is wrong or doubtful in a file."""

    severity: str
    """`error` or `warning`."""
    file: str | None
    """Another file than the set's own: the config that would judge it."""
    line: int
    column: int
    field: str
    message: str
    hint: str
    position: int | None
    """The case that it is about."""


class EvalSetRow(PageModel):
    """One eval set in the list of all."""

    id: str
    """Names the set in addresses; no path."""
    path: str
    eval_set_id: str | None
    """Null where the file cannot be read."""
    name: str | None
    form: str
    """How it is written: `json`, `yaml` or `lines`."""
    kind: str
    """Which generation of the format, in words."""
    can_edit: bool
    is_old: bool
    """It is in a format that is only read, and can be migrated."""
    cases: int | None
    errors: int
    warnings: int
    first_problem: str | None


class EvalSetList(PageModel):
    """All eval sets of a project, by path."""

    items: list[EvalSetRow]
    folders: list[str]
    """Folders in which a set can be made, from the project's own (`""`)."""


class EvalSetPage(EvalSetRow):
    """One eval set, without its cases."""

    description: str | None
    why_not: str
    """Why its cases cannot be edited; empty where they can."""
    has_head: bool
    """It has keys of its own that can be edited: `EvalSetHead`."""
    migrates_to: str | None
    """The path of the new file that migrating would write."""
    problems: list[ProblemNote]
    command: str
    """Runs this set."""


class EvalSetHead(PageModel):
    """The keys of a set, without its cases, as its file has them."""

    eval_set_id: str
    """Where the file names none: the one that it goes by."""
    version: str
    """What `If-Match` has to say to change them; the same as its ETag."""
    value: Any
    """Every key that the set has but the cases, in the file's own spelling."""
    doubtful: list[FieldNote]


class EvalSetText(PageModel):
    """The text of a set's file, or one that it is to have."""

    path: str
    text: str
    """Each line ended by a line feed; the file keeps its own line ends."""
    version: str
    """What `If-Match` has to say to change it; the same as its ETag."""
    readable: bool
    """It can be opened as an eval set."""
    problems: list[ProblemNote]


class EvalCaseRow(PageModel):
    """One case in the list of a set's cases."""

    position: int
    eval_id: str
    line: int
    kind: str
    """`turns` or `scenario`."""
    turns: int
    """Recorded turns; of a scenario those that come before it."""
    asks: str
    """The beginning of what the user says first."""
    calls: int
    """Expected tool calls in all turns."""
    tags: list[str]
    rubrics: int
    """Of the case and of all its turns."""
    has_state: bool
    """It states a final state."""
    errors: int
    warnings: int


class EvalCaseList(PageModel):
    """Cases of a set, in the order of the file."""

    items: list[EvalCaseRow]
    total: int


class SetMade(PageModel):
    """A set that was made."""

    id: str
    path: str


def eval_case_row(
    case: EvalCase, position: int, line: int, problems: Sequence[ProblemNote] = ()
) -> EvalCaseRow:
    """Return what the list of cases shows of one."""
    scenario = case.conversation_scenario
    turns = case.conversation if scenario is None else case.opening
    tags = (case.model_extra or {}).get("tags")
    first = scenario.starting_prompt if scenario else text_of(turns[0].user_content) if turns else ""
    return EvalCaseRow(
        position=position,
        eval_id=case.eval_id,
        line=line,
        kind="turns" if scenario is None else "scenario",
        turns=len(turns or ()),
        asks=first if len(first) <= EXCERPT else f"{first[:EXCERPT]}…",
        calls=sum(len(turn.tool_calls) for turn in turns or ()),
        tags=[tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else [],
        rubrics=len(case.rubrics or ()) + sum(len(turn.rubrics or ()) for turn in turns or ()),
        has_state=bool(case.final_session_state),
        errors=sum(one.severity == "error" for one in problems),
        warnings=sum(one.severity == "warning" for one in problems),
    )
