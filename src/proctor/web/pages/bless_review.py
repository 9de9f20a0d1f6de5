"""A blessing reviewed before it is written: what each case would become, and writing only what was looked at."""

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
from proctor.runs.failed_attempts import find_current_run
from proctor.runs.lookup import listed_run
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import KEEP_WRITTEN
from proctor.schema.results.manifest import PlannedCase, counting
from proctor.schema.results.outcome import Outcome
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
"""Two that agree to the same review at once: the second finds the file changed."""
_CHANGED = "the eval set was changed since this was reviewed; nothing was written: review it again"


class ChangedSinceError(SetupError):
    """A file is not any more what was reviewed."""


class CommentsLostError(SetupError):
    """Comments would go, and nobody has agreed to that."""


class Review:
    """A run whose cases are to be blessed, in the files below a folder."""

    def __init__(self, store: Store, run: str, root: Path) -> None:
        """`root`: nothing outside of this folder is read or written.

        Raises:
            UnknownNameError: there is no such run.
        """
        self._store, self._root = store, root.resolve()
        self._run_id = find_current_run(store, run)
        self._listed = listed_run(store, self._run_id)
        self._manifest = store.manifest(self._run_id)
        self._planned = list(store.planned(self._run_id))
        self._outcomes = store.outcomes(self._run_id, counting(store.judgings(self._run_id)).number)

    # --- looking -----------------------------------------------------------------------------------------------------

    def page(
        self, positions: Sequence[int] | None, trials: Mapping[int, int], *, force: bool = False
    ) -> BlessPage:
        """Return what would become of the cases at `positions` (`None`: of all that failed).

        `trials`: by position the trial (from 0) to learn from; `force`: also where a case was changed since it was run.

        Raises:
            UnknownNameError: there is no such case.
        """
        etag = self.etag()
        wanted = self._wanted(positions)
        blessings, refused = self._blessed(wanted, trials, force=force)
        cases = [self._refused(case, refused[_name(case)]) for case in wanted if _name(case) in refused]
        problems = [
            text for name, one in refused.items() if name not in map(_name, wanted) for text in [str(one)]
        ]
        files = []
        for one in blessings:
            mine = _Changes(one)
            cases += [
                mine.case(case, self._outcome(case), self._trials(case)) for case in wanted if mine.has(case)
            ]
            problems += [str(each) for each in one.refused if not isinstance(each, RefusedCase)]
            files.append(BlessFile(path=str(one.path), lost=mine.lost_elsewhere()))
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
        """Return a name for what the run's files are now."""
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
        """Write what was reviewed: these cases, from these trials, into files that are what they were (`etag`).

        Raises:
            ChangedSinceError: a file is another one by now; nothing was written.
            CommentsLostError: comments would go, and `lose_comments` does not agree to it; nothing was written.
            SetupError: a case cannot be blessed; nothing was written.
        """
        with _WRITING:
            if self.etag() != etag:
                raise ChangedSinceError(_CHANGED)
            blessings, refused = self._blessed(self._wanted(positions), trials, force=force)
            problems = [*refused.values(), *(each for one in blessings for each in one.refused)]
            if problems:
                raise SetupProblems(problems)
            lost = [f"{one.path}:{comment}" for one in blessings for comment in one.lost]
            if lost and not lose_comments:
                raise CommentsLostError(f"these comments would go: {'; '.join(lost)}. Nothing was written")
            return self._written([one for one in blessings if one.cases])

    def _written(self, changing: Sequence[Blessing]) -> BlessedPage:
        if any(text_of_file(one.path) != one.before for one in changing):
            raise ChangedSinceError(_CHANGED)
        for one in changing:
            one.write()
        files = [BlessedFile(path=str(one.path), cases=one.cases) for one in changing]
        return BlessedPage(files=files, etag=self.etag())

    # --- cases -------------------------------------------------------------------------------------------------------

    def _wanted(self, positions: Sequence[int] | None) -> list[PlannedCase]:
        if positions is None:
            failed = {place for place, outcome in self._outcomes.items() if outcome is Outcome.FAILED}
            return [case for case in self._planned if case.position in failed]
        for position in positions:
            if not 0 <= position < len(self._planned):
                raise UnknownNameError(
                    f"no case {position}: the run {self._run_id} has {len(self._planned)} cases"
                )
        return [self._planned[position] for position in sorted(set(positions))]

    def _blessed(
        self, wanted: Sequence[PlannedCase], trials: Mapping[int, int], *, force: bool
    ) -> tuple[list[Blessing], dict[str, SetupError]]:
        """What would be written, and why some cases stay as they are, by `set/case`."""
        refused: dict[str, SetupError] = {_name(case): why for case in wanted if (why := self._outside(case))}
        names = [_name(case) for case in wanted if _name(case) not in refused]
        if not names:
            return [], refused
        chosen = {_name(case): trials[case.position] + 1 for case in wanted if case.position in trials}
        try:
            found = bless(self._run_id, names, store=self._store, trial=chosen, force=force)
        except SetupProblems as problems:
            return [], {**refused, **_by_case(problems.problems)}
        for one in found:
            refused |= {each.case: each for each in one.refused if isinstance(each, RefusedCase)}
        return found, refused

    def _outside(self, case: PlannedCase) -> SetupError | None:
        path = next((one for one in self._paths(case.eval_set_id)), None)
        if path is None or path.is_relative_to(self._root):
            return None
        return SetupError(
            f"{path} is outside of the project {self._root}: `proctor bless {self._listed.short}` in a terminal changes it"
        )

    def _paths(self, eval_set_id: str | None = None) -> Iterator[Path]:
        for one in self._manifest.sets:
            if one.path is not None and eval_set_id in (None, one.eval_set_id):
                yield (Path(self._manifest.folder or ".") / one.path).resolve()

    def _refused(self, case: PlannedCase, why: SetupError) -> BlessCase:
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
    """Problems by the case that they are about; those of a whole file by what they say."""
    return {one.case if isinstance(one, RefusedCase) else str(one): one for one in problems}


def _name(case: PlannedCase) -> str:
    return f"{case.eval_set_id}/{case.eval_id}"


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The lines of a case in its file, from 1."""

    first: int
    end: int


class _Changes:
    """What of a file would change, case by case."""

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
        learnt = self._blessing.trials.get(case.eval_id)
        path = str(self._blessing.path)
        if case.eval_id not in self._blessing.cases:
            return _case(case, outcome, trials, status="same", trial=learnt, path=path)
        found = _case(case, outcome, trials, status="changes", trial=learnt, path=path)
        before = self._source.case(self._source.position(case.eval_id) or 0)
        found.changes = case_changes(_plain(before), _plain(self._after[case.eval_id]))
        found.hunks = [hunk for hunk in self._hunks if self._touches(hunk, case.eval_id)]
        found.lost = [
            one for one in self._blessing.lost if self._is_in(int(one.partition(":")[0]), case.eval_id)
        ]
        return found

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
