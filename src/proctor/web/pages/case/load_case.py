"""The pages of a case, read from a store: the case, its trials, their spans, the votes of LLM judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from proctor.analysis.calibration.labels import labels_for
from proctor.errors import UnknownNameError
from proctor.reports.content.run_list import short_ids
from proctor.runs.storage.lookup import case_of, judging_of, lacks_reasons, listed_run, view_case
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.manifest import PlannedCase, counting
from proctor.web.pages.case.case import CaseBefore, CasePage, CasePlace, case_page
from proctor.web.pages.case.judge_votes import JudgesPage, judges_page
from proctor.web.pages.case.spans import SpansPage, spans_page
from proctor.web.pages.case.trial import TrialPage, trial_page

if TYPE_CHECKING:
    from proctor.reports.content.case_data import CaseView
    from proctor.stores.base import RunEntry, Store

__all__ = ["CaseLoader", "alignment_steps"]

_MOST_OLDER_RUNS = 50
"""The older runs that are searched for the same case."""


def alignment_steps(expected: Invocation, actual: Invocation) -> Sequence[Mapping[str, Any]]:
    """Align the calls of a turn with the expected ones, as `tool_trajectory_avg_score` does without options."""
    from proctor.metrics.trajectory.alignment import align

    steps: list[Mapping[str, Any]] = align(expected.tool_calls, actual.tool_calls).to_details()["alignment"]
    return steps


class CaseLoader:
    """Loads the pages of one case of a run."""

    def __init__(self, store: Store, run: str, position: int, judging: int | None = None) -> None:
        """Find the case at `position`; `run` is an id, the beginning of one, `latest` or `latest~1`.

        Raises:
            UnknownNameError: there is no such run, case or judging.
        """
        self._store, self.run_id, self.position = store, store.find(run), position
        self._judging = judging_of(store, self.run_id, judging)
        self._planned = _find_planned(store, self.run_id, position)
        self.view: CaseView = view_case(
            store, listed_run(store, self.run_id), self._planned.case, self._judging
        )

    def page(self) -> CasePage:
        """Return the case, without its conversations."""
        hint = ""
        if lacks_reasons(self.view.case):
            hint = (
                "The store has the reasons of turns that failed, not of those that passed. "
                f"`proctor score {self.view.short} --details` computes and stores them (without a call of the agent)"
            )
        return case_page(
            self.view,
            self.position,
            self._planned.total,
            previous=_place(self._planned.previous),
            following=_place(self._planned.following),
            before=self._before(),
            hint=hint,
        )

    def trial(self, number: int) -> TrialPage:
        """Return one trial (from 0), turn by turn.

        Raises:
            UnknownNameError: the case has no such trial.
        """
        expected = case_of(self._store, self.run_id, self.position)
        return trial_page(
            self.view, self.position, self.place(number), expected=expected, align=alignment_steps
        )

    def spans(self, number: int) -> SpansPage:
        """Return one trial over time. Raises as `trial`."""
        trial = self.view.case.trials[self.place(number)].trial
        return spans_page(self.run_id, self.position, number, trial)

    def judges(self, number: int) -> JudgesPage:
        """Return the votes of LLM judges on one trial. Raises as `trial`."""
        labels = labels_for(self._store, self._store.load(self.run_id, self._judging))
        return judges_page(self.view, self.position, self.place(number), labels=labels)

    def place(self, number: int) -> int:
        """Return the index of the trial with this number among those of the case.

        Raises:
            UnknownNameError: the case has no such trial.
        """
        numbers = [trial.number for trial in self.view.case.trials]
        if number not in numbers:
            available = f"trials 0 to {numbers[-1]}" if numbers else "no trial"
            raise UnknownNameError(f"no trial {number}: the case {self.view.case.eval_id!r} has {available}")
        return numbers.index(number)

    def _before(self) -> CaseBefore | None:
        """Return the result of the case in the last earlier run of the same agent that decided it."""
        entries = self._store.index()
        ids = [one.run_id for one in entries]
        index = ids.index(self.run_id)
        older = (one for one in entries[index + 1 :] if one.agent == entries[index].agent)
        candidates = (one for one in older if self.view.case.eval_set_id in one.sets)
        for record in islice(candidates, _MOST_OLDER_RUNS):
            if (place := self._place_in(record)) is not None:
                position, judging = place
                outcome = self._store.outcomes(record.run_id, judging).get(position)
                if outcome is not None:
                    return CaseBefore(
                        run_id=record.run_id,
                        short=short_ids(ids)[record.run_id],
                        position=position,
                        outcome=outcome,
                        created_at=record.created_at,
                    )
        return None

    def _place_in(self, record: RunEntry) -> tuple[int, int] | None:
        """Return the position of the case in another run, and the number of that run's scoring."""
        case = self._planned.case
        positions = (
            one.position
            for one in self._store.planned(record.run_id)
            if (one.eval_set_id, one.eval_id) == (case.eval_set_id, case.eval_id)
        )
        position = next(positions, None)
        return None if position is None else (position, counting(self._store.judgings(record.run_id)).number)


@dataclass(slots=True)
class _Planned:
    """A planned case with its neighbours."""

    case: PlannedCase
    previous: PlannedCase | None
    following: PlannedCase | None
    total: int


def _find_planned(store: Store, run_id: str, position: int) -> _Planned:
    """Find a case and its neighbours, without reading the others."""
    cases = store.load(run_id).cases
    total = len(cases)
    if not 0 <= position < total:
        available = f"cases 0 to {total - 1}" if total else "no case"
        raise UnknownNameError(f"no case {position}: the run {run_id} has {available}")
    first = max(0, position - 1)
    names = getattr(cases, "names", None) or partial(_names, store, run_id)
    found: Iterator[tuple[str, str]] = names(first, position + 2)
    planned = {place: PlannedCase(place, *name, "", "") for place, name in enumerate(found, first)}
    return _Planned(planned[position], planned.get(position - 1), planned.get(position + 1), total)


def _names(store: Store, run_id: str, first: int, last: int) -> Iterator[tuple[str, str]]:
    """Return the same as `names` of stored cases, for a store without that method."""
    return ((one.eval_set_id, one.eval_id) for one in islice(store.planned(run_id), first, last))


def _place(case: PlannedCase | None) -> CasePlace | None:
    if case is None:
        return None
    return CasePlace(position=case.position, eval_set_id=case.eval_set_id, eval_id=case.eval_id)
