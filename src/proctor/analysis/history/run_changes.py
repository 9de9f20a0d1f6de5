"""What changed between consecutive runs of an agent: you changed something, or the provider did.

The manifest records the agent's code, the cases, the config and the packages. If all of these are the same in two runs, and
other models answered or the results differ significantly, the cause is outside of what you changed. Another number of trials is
listed as your change, but the results before and after it are compared anyway.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from proctor.analysis.history.result_shifts import Results, Shift, find_shifts
from proctor.common.safe_text import count_text
from proctor.reports.content.summary import percent
from proctor.schema.analysis.comparison import RunDifference
from proctor.schema.analysis.history import CasePoint, ChangedBy, RunChange
from proctor.schema.results.score import Outcome

if TYPE_CHECKING:
    from proctor.analysis.history.selected_runs import SelectedRun, SelectedRuns
    from proctor.stores.base import BriefVerdict

_Case = tuple[str, int]


@cache
def _counts(passed: int, decided: int) -> tuple[int, int]:
    """Return both numbers; many cases have the same ones, and share one object."""
    return passed, decided


class _SetOfRun:
    """What one run has of the cases of one set."""

    def __init__(self) -> None:
        self.results: dict[_Case, tuple[int, int]] = {}
        self.hashes: dict[_Case, str] = {}

    def add(self, case: BriefVerdict, place: int) -> None:
        key = case.eval_id, place
        passed = case.trials.count(Outcome.PASSED)
        self.results[key] = _counts(passed, passed + case.trials.count(Outcome.FAILED))
        self.hashes[key] = case.content_hash

    def changed_cases(self, older: _SetOfRun) -> int:
        """Return how many cases have another content than in an older run."""
        both = self.hashes.keys() & older.hashes.keys()
        return sum(
            bool(self.hashes[key] and older.hashes[key]) and self.hashes[key] != older.hashes[key]
            for key in both
        )


class RunChanges:
    """Finds what changed between the runs of each agent, set by set, when it is first asked for."""

    def __init__(self, looked: SelectedRuns, *, combined: bool) -> None:
        """Begin without results: `add` takes them, or they are read from the store."""
        self._looked = looked
        self._combined = combined
        self._runs: dict[str, defaultdict[str, _SetOfRun]] = {}
        self._found: dict[tuple[str, str], list[RunChange]] = {}

    def agent_of(self, one: SelectedRun) -> str:
        """Return the agent whose history a run belongs to; empty if all agents have one history."""
        return "" if self._combined else one.run.agent

    def begin(self, run_id: str) -> None:
        """Begin the cases of a run."""
        self._runs[run_id] = defaultdict(_SetOfRun)

    def add(self, run_id: str, case: BriefVerdict, place: int) -> None:
        """Take a case that a run reached; `place`: among the cases of its id."""
        self._runs[run_id][case.eval_set_id].add(case, place)

    def all(self) -> list[RunChange]:
        """Return every change, newest first."""
        groups = {(self.agent_of(one), name): None for one in self._looked.runs for name in one.run.sets}
        changes = [
            change
            for agent, eval_set_id in groups
            if self._looked.takes(eval_set_id)
            for change in self.of(agent, eval_set_id)
        ]
        return sorted(changes, key=lambda one: -one.first.started_at)

    def of(self, agent: str, eval_set_id: str) -> list[RunChange]:
        """Return the changes of one set in the runs of an agent, oldest first."""
        key = agent, eval_set_id
        if key not in self._found:
            self._found[key] = [*self._changes(agent, eval_set_id)]
        return self._found[key]

    def between(self, eval_set_id: str, older: CasePoint, newer: CasePoint) -> Sequence[RunDifference] | None:
        """Return the differences for a case, with a change of the provider if at most the number of trials differs.

        `None` if too little is known.
        """
        differences = self._looked.between(eval_set_id, older, newer)
        if differences is None or not _is_size(differences):
            return differences
        agent = "" if self._combined else newer.run.agent
        by_provider = [
            difference
            for change in self.of(agent, eval_set_id)
            if change.changed_by is ChangedBy.PROVIDER and _is_between(change, older, newer)
            for difference in change.differences
        ]
        return [*differences, *by_provider]

    def _changes(self, agent: str, eval_set_id: str) -> Iterator[RunChange]:
        runs = [
            one
            for one in reversed(self._looked.runs)
            if eval_set_id in one.run.sets
            and eval_set_id not in one.run.unread_sets
            and self.agent_of(one) == agent
        ]
        stretch, sizes = runs[:1], list[RunChange]()
        for older, newer in pairwise(runs):
            by_manifest = [*self._manifest_changes(agent, eval_set_id, older, newer)]
            if any(not _is_size(one.differences) for one in by_manifest):
                yield from self._stretch_changes(agent, eval_set_id, stretch, sizes)
                yield from by_manifest
                stretch, sizes = [newer], []
            else:
                stretch.append(newer)
                sizes += by_manifest
        yield from self._stretch_changes(agent, eval_set_id, stretch, sizes)

    def _manifest_changes(
        self, agent: str, eval_set_id: str, older: SelectedRun, newer: SelectedRun
    ) -> Iterator[RunChange]:
        """Yield the changes that the records of two runs show: yours, and other models if at most the number of trials differs."""
        differences = [*self._looked.differences(eval_set_id, older.run, newer.run)]
        if (
            changed := self._set_of_run(newer, eval_set_id).changed_cases(
                self._set_of_run(older, eval_set_id)
            )
        ) and (self._looked.knows_cases(older.run, newer.run)):
            cases = "1 case was" if changed == 1 else f"{changed:,} cases were"
            differences.append(RunDifference("case", f"{cases} changed"))
        if differences:
            yield RunChange(agent, eval_set_id, older.run, newer.run, ChangedBy.YOU, differences)
        was, is_now = older.run.models, newer.run.models
        if _is_size(differences) and was and is_now and was != is_now:
            text = f"the models that answered were {', '.join(was)} and are {', '.join(is_now)}"
            yield self._outside(agent, eval_set_id, (older, newer), text, None)

    def _stretch_changes(
        self, agent: str, eval_set_id: str, runs: Sequence[SelectedRun], sizes: Sequence[RunChange]
    ) -> Iterator[RunChange]:
        """Yield the shifts of the results over runs that differ at most in the number of trials, and these differences (`sizes`)."""
        changes = [*sizes, *self._result_changes(agent, eval_set_id, runs)]
        yield from sorted(changes, key=lambda one: one.first.started_at)

    def _result_changes(
        self, agent: str, eval_set_id: str, runs: Sequence[SelectedRun]
    ) -> Iterator[RunChange]:
        """Yield the shifts of the results over runs that were made alike."""
        results: list[Results] = (
            [self._set_of_run(one, eval_set_id).results for one in runs] if len(runs) > 1 else []
        )
        for shift in find_shifts(results):
            both = runs[shift.place - 1], runs[shift.place]
            yield self._outside(agent, eval_set_id, both, _shift_text(shift), shift.p_value)

    def _outside(
        self,
        agent: str,
        eval_set_id: str,
        both: tuple[SelectedRun, SelectedRun],
        text: str,
        p_value: float | None,
    ) -> RunChange:
        """Return a change that the manifests do not explain: of the provider only if they would have shown another build."""
        older, newer = both
        is_known = older.is_known and newer.is_known
        commits = older.run.commit, newer.run.commit
        if is_known and commits[0] == commits[1] and not (commits[0] or "").endswith("+"):
            changed_by, so = ChangedBy.PROVIDER, "code, config and cases are the same"
            cause = "the provider changed" if p_value is None else "the provider, a service or data changed"
        else:
            changed_by, cause = ChangedBy.UNKNOWN, "you or the provider changed"
            so = "it is unknown whether the agent changed"
            if is_known:
                so = f"the agent's Python code is the same, {_commit_text(*commits)}"
        difference = RunDifference(changed_by.value, f"{cause}: {text}; {so}")
        return RunChange(agent, eval_set_id, older.run, newer.run, changed_by, [difference], p_value)

    def _set_of_run(self, one: SelectedRun, eval_set_id: str) -> _SetOfRun:
        if one.run.run_id not in self._runs:
            self._read(one)
        return self._runs[one.run.run_id][eval_set_id]

    def _read(self, one: SelectedRun) -> None:
        from proctor.analysis.history.trends import is_reached

        self.begin(one.run.run_id)
        counts: defaultdict[tuple[str, str], int] = defaultdict(int)
        for case in self._looked.store.briefly(one.run.run_id, one.scoring.number):
            name = case.eval_set_id, case.eval_id
            if is_reached(case.outcome):
                self.add(one.run.run_id, case, counts[name])
            counts[name] += 1


def _is_size(differences: Sequence[RunDifference]) -> bool:
    """Return whether at most the number of trials differs: the results of the trials remain comparable."""
    return all(one.what == "trials" for one in differences)


def _is_between(change: RunChange, older: CasePoint, newer: CasePoint) -> bool:
    return older.run.started_at < change.first.started_at <= newer.run.started_at


def _shift_text(shift: Shift) -> str:
    p_value = f"p = {shift.p_value:.2g}"
    rates = f"{percent(shift.before)} %", f"{percent(shift.now)} %"
    if rates[0] == rates[1]:
        return f"the results of single cases differ significantly ({p_value})"
    way = "fell" if shift.now < shift.before else "rose"
    cases = count_text(shift.cases, "case")
    return f"the mean pass rate of {cases} {way} significantly from {rates[0]} to {rates[1]} ({p_value})"


def _commit_text(was: str | None, is_now: str | None) -> str:
    if was == is_now:
        return f"but files of commit {(is_now or '').removesuffix('+')[:9]} were modified"
    return f"but the commit was {(was or 'unknown')[:9]} and is {(is_now or 'unknown')[:9]}"
