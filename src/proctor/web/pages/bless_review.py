"""The review of a blessing: show how each case would change, then write exactly what was reviewed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from proctor.authoring.bless import Blessing, RefusedCase, bless
from proctor.errors import SetupError, SetupProblems, UnknownNameError
from proctor.files.edit.editable_file import text_of_file
from proctor.files.edit.preview import check_edit
from proctor.files.eval_sets.source import open_eval_set
from proctor.reports.content.source_locations import lines_of
from proctor.runs.storage.failed_attempts import find_current_run
from proctor.runs.storage.lookup import listed_run
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import KEEP_WRITTEN
from proctor.schema.results.manifest import PlannedCase, counting
from proctor.schema.results.score import Outcome
from proctor.web.pages.bless import (
    BlessCase,
    BlessedFile,
    BlessedPage,
    BlessFile,
    BlessPage,
    Hunk,
    case_changes,
    hunks_of,
)

if TYPE_CHECKING:
    from proctor.stores.base import Store

__all__ = ["ChangedSinceError", "CommentsLostError", "Review"]


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
        self, positions: Sequence[int] | None, trials: Mapping[int, int], *, force: bool = False
    ) -> BlessPage:
        """Return how the cases at `positions` (`None`: all that failed) would change.

        `trials`: by position, the trial (from 0) to accept; `force`: include cases that were changed since they were run.

        Raises:
            UnknownNameError: there is no such case.
        """
        etag = self.etag()
        selected = self._select(positions)
        blessings, refusals = self._bless(selected, trials, force=force)
        names = {_name(case) for case in selected}
        cases = [self._refusal(case, refusals[_name(case)]) for case in selected if _name(case) in refusals]
        problems = [str(problem) for name, problem in refusals.items() if name not in names]
        files = []
        for blessing in blessings:
            changes = _Changes(blessing)
            changed = filter(changes.has, selected)
            cases += [changes.case(case, self._outcome(case), self._trials(case)) for case in changed]
            problems += [str(each) for each in blessing.refused if not isinstance(each, RefusedCase)]
            files.append(BlessFile(path=str(blessing.path), lost=changes.lost_elsewhere()))
        return BlessPage(
            run_id=self._run_id,
            short=self._listed.short,
            agent=self._listed.run.agent,
            etag=etag,
            cases=sorted(cases, key=lambda case: case.position),
            files=files,
            problems=list(dict.fromkeys(problems)),
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
            problems = [*refusals.values(), *(each for one in blessings for each in one.refused)]
            if problems:
                raise SetupProblems(problems)
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
        self, selected: Sequence[PlannedCase], trials: Mapping[int, int], *, force: bool
    ) -> tuple[list[Blessing], dict[str, SetupError]]:
        """Return the changes to write, and by `set/case` why other cases cannot be blessed."""
        refusals = {_name(case): why for case in selected if (why := self._outside_root(case)) is not None}
        names = [_name(case) for case in selected if _name(case) not in refusals]
        if not names:
            return [], refusals
        chosen = {_name(case): trials[case.position] + 1 for case in selected if case.position in trials}
        try:
            blessings = bless(self._run_id, names, store=self._store, trial=chosen, force=force)
        except SetupProblems as problems:
            return [], {**refusals, **_by_case(problems.problems)}
        for refusal in (one for blessing in blessings for one in blessing.refused):
            if isinstance(refusal, RefusedCase):
                refusals[refusal.case] = refusal
        return blessings, refusals

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

    def _refusal(self, case: PlannedCase, why: SetupError) -> BlessCase:
        return _case(
            case, self._outcome(case), self._trials(case), status="refused", why=str(why),
            choose=isinstance(why, RefusedCase) and why.choose,
        )  # fmt: skip

    def _outcome(self, case: PlannedCase) -> Outcome:
        return self._outcomes.get(case.position, Outcome.NOT_RUN)

    def _trials(self, case: PlannedCase) -> int:
        sets = (one.num_runs for one in self._manifest.sets if one.eval_set_id == case.eval_set_id)
        return next(sets, self._manifest.num_runs)


def _by_case(problems: Sequence[SetupError]) -> dict[str, SetupError]:
    """Return problems by the case that they concern; those of a whole file by their text."""
    return {one.case if isinstance(one, RefusedCase) else str(one): one for one in problems}


def _name(case: PlannedCase) -> str:
    return f"{case.eval_set_id}/{case.eval_id}"


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The lines of a case in its file, from 1."""

    first: int
    end: int


class _Changes:
    """The changes of a file, case by case."""

    def __init__(self, blessing: Blessing) -> None:
        self._blessing = blessing
        self._source = open_eval_set(blessing.path)
        self._after: dict[str, EvalCase] = {}
        self._hunks: list[Hunk] = []
        if blessing.cases:
            self._after = check_edit(blessing.path, self._source, blessing.after, changed=blessing.cases)
            self._hunks = hunks_of(lines_of(blessing.before), lines_of(blessing.after))
        self._stretches = self._lines()

    def has(self, case: PlannedCase) -> bool:
        return case.eval_id in (*self._blessing.cases, *self._blessing.unchanged)

    def case(self, case: PlannedCase, outcome: Outcome, trials: int) -> BlessCase:
        trial = self._blessing.trials.get(case.eval_id)
        path = str(self._blessing.path)
        if case.eval_id not in self._blessing.cases:
            return _case(case, outcome, trials, status="same", trial=trial, path=path)
        page = _case(case, outcome, trials, status="changes", trial=trial, path=path)
        before = self._source.case(self._source.position(case.eval_id) or 0)
        page.changes = case_changes(_plain(before), _plain(self._after[case.eval_id]))
        page.hunks = [hunk for hunk in self._hunks if self._touches(hunk, case.eval_id)]
        page.lost = [
            one for one in self._blessing.lost if self._is_in(int(one.partition(":")[0]), case.eval_id)
        ]
        return page

    def lost_elsewhere(self) -> list[str]:
        lines = {one: int(one.partition(":")[0]) for one in self._blessing.lost}
        return [
            one
            for one, line in lines.items()
            if not any(self._is_in(line, name) for name in self._blessing.cases)
        ]

    def _touches(self, hunk: Hunk, eval_id: str) -> bool:
        line = hunk.before
        for one in hunk.lines:
            if one.sign != " " and self._is_in(line, eval_id):
                return True
            line += one.sign != "+"
        return False

    def _is_in(self, line: int, eval_id: str) -> bool:
        stretch = self._stretches.get(eval_id)
        return stretch is not None and stretch.first <= line < stretch.end

    def _lines(self) -> dict[str, _Stretch]:
        starts = [(self._source.line(index), eval_id) for index, eval_id in enumerate(self._source.ids())]
        starts.sort()
        ends = [line for line, _ in starts[1:]] + [10**9]
        return {
            eval_id: _Stretch(line, max(end, line + 1))
            for (line, eval_id), end in zip(starts, ends, strict=True)
        }


def _plain(case: EvalCase) -> object:
    return case.model_dump(mode="json", by_alias=False, exclude_none=True, context=KEEP_WRITTEN)


def _case(
    case: PlannedCase,
    outcome: Outcome,
    trials: int,
    *,
    status: str,
    why: str = "",
    choose: bool = False,
    trial: int | None = None,
    path: str = "",
) -> BlessCase:
    return BlessCase.model_validate(
        {
            "position": case.position, "eval_set_id": case.eval_set_id, "eval_id": case.eval_id, "outcome": outcome,
            "trials": trials, "trial": trial, "status": status, "why": why, "choose": choose, "path": path,
            "changes": [], "hunks": [], "lost": [],
        }
    )  # fmt: skip
