"""The review of a blessing (accepting snapshots): show how each case would change, then write exactly what was reviewed.

Changes are shown as values with their paths, as the file has them, and as lines of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from proctor.authoring.bless import Blessing, OnCase, OpenFile, RefusedCase, bless_opened, set_in_project
from proctor.errors import SetupError, SetupProblems, UnknownNameError
from proctor.files.edit.editable_file import text_of_file
from proctor.runs.attempts import find_current_run
from proctor.runs.storage.lookup import EndedCases, listed_run
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.manifest import PlannedCase
from proctor.schema.results.score import Outcome
from proctor.web.pages.bless_changes import CaseChange, FileChanges, Hunk
from proctor.web.pages.runs.case_table import strip_of

if TYPE_CHECKING:
    from proctor.stores.base import Store


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
    changed_since: bool = False
    """Whether it is refused because the case was changed since it was run; `force` includes it."""
    strip: str = ""
    """One letter for the outcome of each trial, if there are several (see `CaseRow`)."""
    flaky: bool = False
    differ: bool = False
    """Whether the trials did not all end with the same outcome."""
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


class BlessedFile(PageModel):
    """A file that was written."""

    path: str
    cases: list[str]


class BlessedPage(PageModel):
    """The result of a blessing."""

    files: list[BlessedFile]
    etag: str
    """The new version of the files."""


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

    def __init__(self, store: Store, run: str, root: Path, open_file: OpenFile) -> None:
        """`root`: files outside of this folder are neither read nor written; `open_file`: it opens an eval set (`OpenFile`).

        Raises:
            UnknownNameError: there is no such run.
        """
        self._root, self._open_file = root.resolve(), open_file
        self._run = EndedCases.read(store, find_current_run(store, run))
        self._listed = listed_run(store, self._run.run_id)
        self._result = store.load(self._run.run_id)

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
            self._case(case, **_refusal_fields(why))
            for case in selected
            if (why := refusals.get(_name(case))) is not None
        ]
        files = []
        for blessing in blessings:
            changes = FileChanges(blessing)
            for case in filter(changes.has, selected):
                if on_case is not None:
                    on_case()
                cases.append(self._case(case, **changes.fields(case)))
            files.append(BlessFile(path=str(blessing.path), lost=changes.lost_elsewhere()))
        return BlessPage(
            run_id=self._run.run_id,
            short=self._listed.short,
            agent=self._listed.run.agent,
            etag=etag,
            cases=sorted(cases, key=lambda case: case.position),
            files=files,
            problems=[str(problem) for name, problem in refusals.items() if name not in names],
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
        on_case: OnCase | None = None,
    ) -> BlessedPage:
        """Write the reviewed cases with these trials into the files, which must have the reviewed version (`etag`).

        `on_case`: called before each step of a case and before the first file is written; an exception that it raises ends
        the work, and nothing was written.

        Raises:
            ChangedSinceError: a file has changed; nothing was written.
            CommentsLostError: comments would be lost, and `lose_comments` is not set; nothing was written.
            SetupError: a case cannot be blessed; nothing was written.
        """
        with _WRITING:
            if self.etag() != etag:
                raise ChangedSinceError(_CHANGED)
            blessings, refusals = self._bless(self._select(positions), trials, force=force, on_case=on_case)
            if refusals:
                raise SetupProblems([*refusals.values()])
            lost = [f"{one.path}:{comment}" for one in blessings for comment in one.lost]
            if lost and not lose_comments:
                raise CommentsLostError(
                    f"these comments would be lost: {'; '.join(lost)}. Nothing was written"
                )
            if on_case is not None:
                on_case()
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
            return self._run.cases_that(Outcome.FAILED)
        total = len(self._result.cases)
        for position in positions:
            if not 0 <= position < total:
                raise UnknownNameError(f"no case {position}: the run {self._run.run_id} has {total} cases")
        return [*self._run.store.planned(self._run.run_id, sorted(set(positions)))]

    def _bless(
        self,
        selected: Sequence[PlannedCase],
        trials: Mapping[int, int],
        *,
        force: bool,
        on_case: OnCase | None = None,
    ) -> tuple[list[Blessing], dict[str, SetupError]]:
        """Return the changes to write, and by `set/case` (for a whole file by its text) why others are refused."""
        refusals = self._outside_root(selected)
        cases = [case for case in selected if _name(case) not in refusals]
        if not cases:
            return [], refusals
        chosen = {_name(case): trials[case.position] + 1 for case in selected if case.position in trials}
        try:
            blessings = bless_opened(
                self._open_file,
                self._run,
                cases,
                chosen,
                on_case or (lambda: None),
                force=force,
                root=self._root,
            )
        except SetupProblems as problems:
            return [], refusals | _problems_by_case(problems.problems)
        return blessings, refusals | _problems_by_case(chain.from_iterable(one.refused for one in blessings))

    def _outside_root(self, cases: Sequence[PlannedCase]) -> dict[str, SetupError]:
        outside = {name: self._refuse_outside(name) for name in {case.eval_set_id for case in cases}}
        return {_name(case): why for case in cases if (why := outside[case.eval_set_id]) is not None}

    def _refuse_outside(self, eval_set_id: str) -> SetupError | None:
        path = next((one for one in self._paths(eval_set_id)), None)
        if path is None or path.is_relative_to(self._root):
            return None
        return SetupError(
            f"{path} is outside of the project {self._root}: this page changes only files of the project"
        )

    def _paths(self, eval_set_id: str | None = None) -> Iterator[Path]:
        folder = Path(self._run.manifest.folder or ".")
        for one in self._run.manifest.sets:
            if one.path is not None and eval_set_id in (None, one.eval_set_id):
                yield (set_in_project(folder, one.path, self._root) or folder / one.path).resolve()

    def _case(self, case: PlannedCase, **fields: object) -> BlessCase:
        sets = (each.num_runs for each in self._run.manifest.sets if each.eval_set_id == case.eval_set_id)
        name = {"position": case.position, "eval_set_id": case.eval_set_id, "eval_id": case.eval_id}
        outcome = self._run.outcomes.get(case.position, Outcome.NOT_RUN)
        trials = next(sets, self._run.manifest.num_runs)
        return BlessCase.model_validate(
            {**name, "outcome": outcome, "trials": trials, **self._trial_fields(case, trials), **fields}
        )

    def _trial_fields(self, case: PlannedCase, trials: int) -> dict[str, object]:
        """Return the fields about several trials of a case."""
        if trials < 2:
            return {}
        result = self._result.cases[case.position]
        outcomes = [trial.outcome for trial in result.trials]
        return {"strip": strip_of(outcomes), "flaky": result.flaky, "differ": len({*outcomes}) > 1}


def _refusal_fields(why: SetupError) -> dict[str, object]:
    fields: dict[str, object] = {"status": "refused", "why": str(why)}
    if isinstance(why, RefusedCase):
        fields |= {"choose": why.choose, "changed_since": why.changed_since}
    return fields


def _problems_by_case(problems: Iterable[SetupError]) -> dict[str, SetupError]:
    """Return problems by the case that they concern; those of a whole file by their text."""
    return {one.case if isinstance(one, RefusedCase) else str(one): one for one in problems}


def _name(case: PlannedCase) -> str:
    return f"{case.eval_set_id}/{case.eval_id}"
