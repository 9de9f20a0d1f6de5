"""The eval sets of a project, and one of them with its cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.format.wire_model import PageModel
from proctor.web.pages.eval_sets.eval_case import FieldNote

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
    doubtful: list[FieldNote]


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


class SetMade(PageModel):
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
