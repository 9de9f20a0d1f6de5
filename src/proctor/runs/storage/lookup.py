"""Look up a run or a case in a store, with the data that a view of it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from proctor.common.registry import METRICS
from proctor.errors import SetupError, UnknownNameError, did_you_mean
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.results.manifest import NO_ANNOTATION, PlannedCase
from proctor.schema.results.run_result import CaseResult, Outcome, TrialResult

if TYPE_CHECKING:
    from proctor.reports.content.case_data import StoredCase
    from proctor.reports.content.run_list import ListedRun
    from proctor.schema.results.manifest import Manifest
    from proctor.stores.base import Store

_MOST_NAMES = 5_000
"""The most case ids that are searched for the closest match."""


@dataclass(frozen=True, slots=True)
class EndedCases:
    """A run and how each of its cases ended: for work on some of thousands of cases."""

    store: Store
    run_id: str
    manifest: Manifest
    outcomes: dict[int, Outcome]
    """By position; a case that is missing was not decided."""

    @classmethod
    def read(cls, store: Store, run_id: str) -> EndedCases:
        """Read them from the scoring that counts."""
        outcomes = store.outcomes(run_id, store.record(run_id).scoring)
        return cls(store, run_id, store.manifest(run_id), outcomes)

    def cases_that(self, outcome: Outcome) -> list[PlannedCase]:
        """Return the cases with this outcome, in order."""
        positions = sorted(position for position, one in self.outcomes.items() if one is outcome)
        return [*self.store.planned(self.run_id, positions)]


def listed_run(store: Store, run_id: str) -> ListedRun:
    """Return a run as an entry of a list."""
    from proctor.reports.content.run_list import ListedRun
    from proctor.reports.content.symbols import short_ids

    short = short_ids([entry.run_id for entry in store.index(None)])[run_id]
    manifest = store.manifest(run_id)
    annotation = store.annotations().get(run_id, NO_ANNOTATION)
    return ListedRun(store.record(run_id), short, manifest.agent.commit, manifest.imported_from, annotation)


def find_case(planned: Iterator[PlannedCase], name: str) -> PlannedCase:
    """Return the case with the name `name`: its id, or `set/case`.

    Raises:
        UnknownNameError: no case has this name; the message has the closest id.
        SetupError: several cases have this name.
    """
    matches: list[PlannedCase] = []
    names: list[str] = []
    for case in planned:
        if name in (case.eval_id, f"{case.eval_set_id}/{case.eval_id}"):
            matches.append(case)
        if len(names) < _MOST_NAMES:
            names.append(case.eval_id)
    if not matches:
        text = ", ".join(islice(names, 10)) + (", …" if len(names) > 10 else "")
        raise UnknownNameError(f"the run has no case {name!r}.{did_you_mean(name, names)} Cases: {text}.")
    if len(matches) > 1:
        raise SetupError(_several_text(name, matches))
    return matches[0]


def _several_text(name: str, matches: list[PlannedCase]) -> str:
    choice = dict.fromkeys(f"{case.eval_set_id}/{case.eval_id}" for case in matches)
    if len(choice) > 1:
        return f"several sets have a case {name!r}: use {' or '.join(choice)}"
    places = " and ".join(dict.fromkeys(case.place or "built in Python" for case in matches))
    return (
        f"the run has {len(matches)} cases {', '.join(choice)} ({places}), and no name tells them apart: "
        "give one of the sets another `eval_set_id`, and run them again"
    )


def view_case(store: Store, entry: ListedRun, planned: PlannedCase, scoring: int) -> StoredCase:
    """Return all stored data of a case, with the verdicts of the scoring pass `scoring`."""
    from proctor.reports.content.case_data import CaseScoring, StoredCase

    run = entry.run
    history = [
        CaseScoring(
            one.number,
            one.created_at,
            _criteria(one.sets, planned),
            _case(store, run.run_id, planned, one.number),
        )
        for one in store.scorings(run.run_id)
    ]
    case_result = next(one.case for one in history if one.number == scoring)
    result = store.load(run.run_id, scoring)
    badges = {name: badge for name, badge in result.badges.items() if name in case_result.metrics}
    return StoredCase(
        run.run_id, entry.short, run.agent, run.created_at, case_result, scoring, history, badges=badges,
        ranges=result.score_ranges,
        earlier={trial.number: list(_evidence(trial.earlier)) for trial in case_result.trials if trial.earlier},
        scenario=case.conversation_scenario if (case := read_case_as_run(store, run.run_id, planned.position)) else None,
    )  # fmt: skip


def _evidence(attempts: Sequence[TrialResult]) -> Iterator[Trial]:
    return (one.trial for one in attempts if one.trial is not None)


def read_case_as_run(store: Store, run_id: str, position: int) -> EvalCase | None:
    """Return a case in the version that was run; `None` if it is not stored."""
    documents = store.case_documents(run_id, [position])
    return next((EvalCase.model_validate_json(document) for _, document in documents), None)


def _case(store: Store, run_id: str, planned: PlannedCase, scoring: int) -> CaseResult:
    return store.load(run_id, scoring).cases[planned.position]


def _criteria(sets: Sequence[Any], planned: PlannedCase) -> str:
    return next((one.config_source for one in sets if one.eval_set_id == planned.eval_set_id), "")


def lacks_reasons(case: CaseResult) -> bool:
    """Return whether a passed case has no reasons although its deciding metrics could give them. A failure always has a reason."""
    passed = [
        score
        for name, metric in case.metrics.items()
        if metric.gate and metric.threshold is not None and name in METRICS
        for of_trial in metric.per_trial
        for score in (of_trial.per_invocation if of_trial is not None else ())
        if score.value is not None and score.value >= metric.threshold
    ]
    return case.passed and bool(passed) and not any(score.reason or score.details for score in passed)
