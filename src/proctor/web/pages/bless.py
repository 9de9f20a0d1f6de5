"""The review of a blessing (accepting snapshots): show how each case would change, then write exactly what was reviewed.

Changes are shown as paths of the format and as lines of the file.
"""

from __future__ import annotations

import difflib
import json
import shlex
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from proctor.authoring.bless import Blessing, OnCase, RefusedCase, bless
from proctor.common.json_values import json_line
from proctor.common.safe_text import lines_of
from proctor.errors import SetupError, SetupProblems, UnknownNameError
from proctor.files.edit.editable_file import text_of_file
from proctor.files.edit.line_changes import group_changes
from proctor.reports.content.text_blocks import Piece
from proctor.reports.evidence.value_diff import value_difference
from proctor.runs.storage.failed_attempts import find_current_run
from proctor.runs.storage.lookup import listed_run
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import KEEP_WRITTEN
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.manifest import PlannedCase, counting
from proctor.schema.results.score import Outcome
from proctor.web.pages.case.page_parts import Marked, marked_pieces

if TYPE_CHECKING:
    from proctor.stores.base import Store

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
    trial: int | None = None
    """The trial whose behaviour the case would expect, from 0."""
    status: Literal["changes", "same", "refused"]
    """`same`: the case already expects this behaviour."""
    why: str = ""
    """The reason of a refusal."""
    choose: bool = False
    """Whether the user has to choose a trial, because the trials differ."""
    path: str = ""
    """Its file."""
    changes: list[CaseChange] = Field(default_factory=list)
    hunks: list[Hunk] = Field(default_factory=list)
    lost: list[str] = Field(default_factory=list)
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


# --- changes as paths of the format ------------------------------------------------------------------------------------


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
    return marked_pieces([Piece(json_line(value), changed=True)])


# --- the review --------------------------------------------------------------------------------------------------------

_WRITING = Lock()
"""Serializes writers: of two people who confirm the same review at once, the second finds the file changed."""
_CHANGED = "the eval set has changed since this review; nothing was written: review it again"


class ChangedSinceError(SetupError):
    """A file has changed since the review."""


class CommentsLostError(SetupError):
    """Comments would be lost, and the request does not confirm that."""


class Review:
    """The blessing of a run's cases in the files below a folder."""

    def __init__(self, store: Store, run: str, root: Path) -> None:
        """`root`: files outside of this folder are neither read nor written.

        Raises:
            UnknownNameError: there is no such run.
        """
        self._store, self._root = store, root.resolve()
        self._run_id = find_current_run(store, run)
        self._listed = listed_run(store, self._run_id)
        self._manifest = store.manifest(self._run_id)
        self._planned = list(store.planned(self._run_id))
        self._outcomes = store.outcomes(self._run_id, counting(store.judgings(self._run_id)).number)

    # --- preview -----------------------------------------------------------------------------------------------------

    def page(
        self,
        positions: Sequence[int] | None,
        trials: Mapping[int, int],
        *,
        force: bool = False,
        on_case: OnCase | None = None,
    ) -> BlessPage:
        """Return how the cases at `positions` (`None`: all that failed) would change.

        `trials`: by position, the trial (from 0) to accept; `force`: include cases that were changed since they were run;
        `on_case`: called before each step of a case; an exception that it raises ends the work.

        Raises:
            UnknownNameError: there is no such case.
        """
        etag = self.etag()
        selected = self._select(positions)
        blessings, refusals = self._bless(selected, trials, force=force, on_case=on_case)
        names = {_name(case) for case in selected}
        cases = [
            self._case(
                case, status="refused", why=str(why), choose=isinstance(why, RefusedCase) and why.choose
            )
            for case in selected
            if (why := refusals.get(_name(case))) is not None
        ]
        files = []
        for blessing in blessings:
            changes = _Changes(blessing)
            for case in filter(changes.has, selected):
                if on_case is not None:
                    on_case()
                cases.append(self._case(case, **changes.fields(case)))
            files.append(BlessFile(path=str(blessing.path), lost=changes.lost_elsewhere()))
        return BlessPage(
            run_id=self._run_id,
            short=self._listed.short,
            agent=self._listed.run.agent,
            etag=etag,
            cases=sorted(cases, key=lambda case: case.position),
            files=files,
            problems=[str(problem) for name, problem in refusals.items() if name not in names],
            command=shlex.join(["proctor", "bless", self._listed.short]),
        )

    def etag(self) -> str:
        """Return the version of the run's files."""
        digest = blake2b(digest_size=16)
        for path in sorted(self._paths()):
            digest.update(str(path).encode() + b"\0")
            try:
                digest.update(blake2b(path.read_bytes()).digest())
            except OSError:
                digest.update(b"-")
        return digest.hexdigest()

    # --- writing -----------------------------------------------------------------------------------------------------

    def write(
        self,
        positions: Sequence[int],
        trials: Mapping[int, int],
        etag: str,
        *,
        force: bool = False,
        lose_comments: bool = False,
    ) -> BlessedPage:
        """Write the reviewed cases with these trials into the files, which must have the reviewed version (`etag`).

        Raises:
            ChangedSinceError: a file has changed; nothing was written.
            CommentsLostError: comments would be lost, and `lose_comments` is not set; nothing was written.
            SetupError: a case cannot be blessed; nothing was written.
        """
        with _WRITING:
            if self.etag() != etag:
                raise ChangedSinceError(_CHANGED)
            blessings, refusals = self._bless(self._select(positions), trials, force=force)
            if refusals:
                raise SetupProblems([*refusals.values()])
            lost = [f"{one.path}:{comment}" for one in blessings for comment in one.lost]
            if lost and not lose_comments:
                raise CommentsLostError(
                    f"these comments would be lost: {'; '.join(lost)}. Nothing was written"
                )
            return self._write_files([one for one in blessings if one.cases])

    def _write_files(self, changing: Sequence[Blessing]) -> BlessedPage:
        if any(text_of_file(one.path) != one.before for one in changing):
            raise ChangedSinceError(_CHANGED)
        for one in changing:
            one.write()
        files = [BlessedFile(path=str(one.path), cases=one.cases) for one in changing]
        return BlessedPage(files=files, etag=self.etag())

    # --- cases -------------------------------------------------------------------------------------------------------

    def _select(self, positions: Sequence[int] | None) -> list[PlannedCase]:
        if positions is None:
            failed = {place for place, outcome in self._outcomes.items() if outcome is Outcome.FAILED}
            return [case for case in self._planned if case.position in failed]
        for position in positions:
            if not 0 <= position < len(self._planned):
                raise UnknownNameError(
                    f"no case {position}: the run {self._run_id} has {len(self._planned)} cases"
                )
        return [self._planned[position] for position in sorted(set(positions))]

    def _bless(
        self,
        selected: Sequence[PlannedCase],
        trials: Mapping[int, int],
        *,
        force: bool,
        on_case: OnCase | None = None,
    ) -> tuple[list[Blessing], dict[str, SetupError]]:
        """Return the changes to write, and by `set/case` (for a whole file by its text) why others are refused."""
        outside = {_name(case): self._outside_root(case) for case in selected}
        refusals = {name: why for name, why in outside.items() if why is not None}
        names = [name for name, why in outside.items() if why is None]
        if not names:
            return [], refusals
        chosen = {_name(case): trials[case.position] + 1 for case in selected if case.position in trials}
        try:
            blessings = bless(
                self._run_id, names, store=self._store, trial=chosen, force=force, on_case=on_case
            )
        except SetupProblems as problems:
            return [], refusals | _by_case(problems.problems)
        refused = (problem for blessing in blessings for problem in blessing.refused)
        return blessings, refusals | _by_case(refused)

    def _outside_root(self, case: PlannedCase) -> SetupError | None:
        path = next((one for one in self._paths(case.eval_set_id)), None)
        if path is None or path.is_relative_to(self._root):
            return None
        return SetupError(
            f"{path} is outside of the project {self._root}: use `proctor bless {self._listed.short}` in a terminal"
        )

    def _paths(self, eval_set_id: str | None = None) -> Iterator[Path]:
        for one in self._manifest.sets:
            if one.path is not None and eval_set_id in (None, one.eval_set_id):
                yield (Path(self._manifest.folder or ".") / one.path).resolve()

    def _case(self, case: PlannedCase, **fields: object) -> BlessCase:
        sets = (each.num_runs for each in self._manifest.sets if each.eval_set_id == case.eval_set_id)
        name = {"position": case.position, "eval_set_id": case.eval_set_id, "eval_id": case.eval_id}
        outcome = self._outcomes.get(case.position, Outcome.NOT_RUN)
        trials = next(sets, self._manifest.num_runs)
        return BlessCase.model_validate({**name, "outcome": outcome, "trials": trials, **fields})


def _by_case(problems: Iterable[SetupError]) -> dict[str, SetupError]:
    """Return problems by the case that they concern; those of a whole file by their text."""
    return {one.case if isinstance(one, RefusedCase) else str(one): one for one in problems}


def _name(case: PlannedCase) -> str:
    return f"{case.eval_set_id}/{case.eval_id}"


class _Changes:
    """The changes of a file, case by case."""

    def __init__(self, blessing: Blessing) -> None:
        self._blessing = blessing
        self._known = {*blessing.cases, *blessing.unchanged}
        self._text = lines_of(blessing.before)
        self._starts = [change.before for change in blessing.line_changes]

    def has(self, case: PlannedCase) -> bool:
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
            "changes": case_changes(_plain(changed.before), _plain(changed.after)),
            "hunks": self._hunks(changed.lines),
            "lost": [comment for comment in self._blessing.lost if _line_of(comment) in changed.lines],
        }

    def _hunks(self, lines: range) -> list[Hunk]:
        """Return the changes in some lines of the file, with a few lines around each."""
        first, last = (bisect_left(self._starts, line - 1) for line in (lines.start, lines.stop))
        groups = group_changes(self._text, self._blessing.line_changes[first:last], _CONTEXT)
        return [
            Hunk(
                before=group.before + 1,
                after=group.after + 1,
                lines=[HunkLine.model_validate({"sign": sign, "text": text}) for sign, text in group.lines],
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


def _plain(case: EvalCase) -> object:
    return case.model_dump(mode="json", by_alias=False, exclude_none=True, context=KEEP_WRITTEN)
