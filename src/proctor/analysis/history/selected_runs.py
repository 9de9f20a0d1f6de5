"""The runs of a history, the differences between two of them, and the position of a case in each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from proctor.analysis.compare.compare_runs import score_ranges
from proctor.errors import SetupError, UnknownNameError, did_you_mean
from proctor.files.eval_sets.selectors import split_selector
from proctor.reports.content.symbols import short_ids
from proctor.runs.run_differences import find_differences, knows_cases
from proctor.runs.setup.judge_and_user import AN_OBJECT
from proctor.runs.storage.queries import RunFilter, is_set
from proctor.schema.analysis.comparison import RunDifference
from proctor.schema.analysis.history import CasePoint, HistoryRun
from proctor.schema.results.manifest import (
    Manifest,
    PlannedCase,
    RunDetails,
    RunRecord,
    ScoringManifest,
    counting,
)
from proctor.schema.results.run_result import CaseResult

if TYPE_CHECKING:
    from proctor.stores.base import Store

_MOST_NAMES = 5_000
"""Case ids among which the closest one is searched."""


def is_selection(manifest: Manifest) -> bool:
    """Return whether a run was started with a part of the cases: with ids after the set, tags, a limit or a shard."""
    options = manifest.options
    if any(options.get(name) for name in ("tags", "limit", "shard")):
        return True
    return any(split_selector(one)[1] for one in options.get("eval_sets", ()))


@dataclass(frozen=True, slots=True)
class SelectedRun:
    """One run and the data about it, without its cases."""

    run: HistoryRun
    manifest: Manifest
    scoring: ScoringManifest

    @property
    def is_known(self) -> bool:
        """Whether another build of the agent would have been noticed."""
        return bool(self.manifest.agent.build)

    def of_set(self, eval_set_id: str) -> tuple[Manifest, ScoringManifest]:
        """Return what was run and scored, as far as it concerns one set."""
        sets = [one for one in self.manifest.sets if one.eval_set_id == eval_set_id]
        judged = [one for one in self.scoring.sets if one.eval_set_id == eval_set_id]
        return (
            self.manifest.model_copy(update={"sets": sets}),
            self.scoring.model_copy(update={"sets": judged}),
        )


class SelectedRuns:
    """The newest runs that are wanted, newest first."""

    def __init__(self, store: Store, run_filter: RunFilter, limit: int) -> None:
        """Read which runs there are (`limit` at most; 0: all); what their cases came to is read later."""
        self.store = store
        self._wanted = run_filter
        # one may be imported after newer ones
        entries = sorted(store.index(), key=lambda one: -one.created_at)
        self.sets = sorted({name for one in entries for name in one.sets})
        self.agents = sorted({one.agent for one in entries})
        short = short_ids([one.run_id for one in entries])
        matches = [one for one in entries if run_filter.takes_by_index(one)]
        some = matches[:limit] if limit else matches
        self.older = len(matches) - len(some)
        details = [store.details(one.run_id) for one in some]
        self._most_cases: dict[frozenset[str], int] = {}
        for record in (one.record for one in details):
            sets = frozenset(record.sets)
            self._most_cases[sets] = max(record.cases, self._most_cases.get(sets, 0))
        self.runs = [self._look_at(one, short[one.record.run_id]) for one in details]
        self._by_id = {one.run.run_id: one for one in self.runs}
        self._cases: dict[str, Sequence[CaseResult]] = {}
        self._unlike: dict[tuple[str, str, str], list[RunDifference]] = {}

    def _look_at(self, details: RunDetails, short: str) -> SelectedRun:
        record, manifest = details.record, details.manifest
        agent, summary = manifest.agent, record.summary
        has_all_sets = self._wanted.eval_set is None or len(record.sets) == 1
        unread_sets = tuple(filter(self.takes, record.unread_sets))
        run = HistoryRun(
            record.run_id, short, record.created_at, record.agent, agent.commit, agent.version,
            summary.outcome, record.cases, record.num_runs, record.sets, unread_sets,
            chosen_of=self._chosen_of(record, manifest), build=agent.build, models=tuple(summary.models), stopped_by=summary.stopped_by,
            trial_cost=summary.trial_cost if has_all_sets else None,
        )  # fmt: skip
        return SelectedRun(run, manifest, counting(details.scorings))

    def _chosen_of(self, record: RunRecord, manifest: Manifest) -> int | None:
        most = self._most_cases[frozenset(record.sets)]
        return most if record.cases < most and is_selection(manifest) else None

    def cases(self, one: SelectedRun) -> Sequence[CaseResult]:
        """Return the cases of one of the runs, which are read from the store on access."""
        if one.run.run_id not in self._cases:
            self._cases[one.run.run_id] = self.store.cases(one.run.run_id, one.scoring.number)
        return self._cases[one.run.run_id]

    @cached_property
    def score_ranges(self) -> dict[str, tuple[float, float]]:
        """The lowest and the highest score of each metric of which one is known; the highest may be infinite."""
        sets = [judged for one in self.runs for judged in one.scoring.sets]
        limits = {one.name: one.score_limits for judged in sets for one in judged.metrics}
        return {name: known for name, known in limits.items() if known} | score_ranges(sets)

    def limit_cases(self, cases: int) -> None:
        """Look at no more runs than have so many cases together; the newest stays."""
        total = 0
        for place, one in enumerate(self.runs):
            total += one.run.cases
            if place and total > cases:
                self.older += len(self.runs) - place
                del self.runs[place:]
                return

    def takes(self, eval_set_id: str) -> bool:
        """Return whether the history includes cases of this set."""
        return self._wanted.eval_set is None or is_set(eval_set_id, self._wanted.eval_set)

    def between(self, eval_set_id: str, older: CasePoint, newer: CasePoint) -> list[RunDifference] | None:
        """Return the known differences for a case; `None` if builds of the agent cannot be distinguished."""
        both = self._by_id[older.run.run_id], self._by_id[newer.run.run_id]
        differences = self.differences(eval_set_id, older.run, newer.run)
        hashes = older.content_hash, newer.content_hash
        if all(hashes) and hashes[0] != hashes[1] and self.knows_cases(older.run, newer.run):
            differences = [RunDifference("case", "the case itself was changed"), *differences]
        return differences if differences or all(one.is_known for one in both) else None

    def differences(self, eval_set_id: str, older: HistoryRun, newer: HistoryRun) -> list[RunDifference]:
        """Return the differences between two runs in what was run and scored of a set, other than its cases."""
        key = older.run_id, newer.run_id, eval_set_id
        if key not in self._unlike:
            both = (self._by_id[one.run_id].of_set(eval_set_id) for one in (older, newer))
            self._unlike[key] = find_differences(*both, objects=AN_OBJECT)
        return self._unlike[key]

    def knows_cases(self, older: HistoryRun, newer: HistoryRun) -> bool:
        """Return whether the hashes of cases are comparable between two runs."""
        return knows_cases(*(self._by_id[one.run_id].manifest for one in (older, newer)))

    def where(self, name: str) -> list[tuple[SelectedRun, PlannedCase]]:
        """Return the runs that have the case called `name` (its id, or `set/case`), and its position in each.

        Raises:
            UnknownNameError: none has; the message has the closest id.
            SetupError: several sets have one.
        """
        matches = [(one, case) for one in self.runs for case in self._cases_named(one, name)]
        names = dict.fromkeys(f"{case.eval_set_id}/{case.eval_id}" for _, case in matches)
        if len(names) > 1:
            raise SetupError(f"several sets have a case {name!r}: use {' or '.join(names)}")
        if not matches:
            raise UnknownNameError(self._unknown_case_text(name))
        return matches

    def _cases_named(self, looked: SelectedRun, name: str) -> Iterable[PlannedCase]:
        """The first case of each set that is called so."""
        cases: dict[str, PlannedCase] = {}
        for case in self.store.planned(looked.run.run_id):
            if name in (case.eval_id, f"{case.eval_set_id}/{case.eval_id}") and self.takes(case.eval_set_id):
                cases.setdefault(case.eval_set_id, case)
                if len(looked.run.sets) == 1:
                    break
        return cases.values()

    def _unknown_case_text(self, name: str) -> str:
        if not self.runs:
            return f"no run of the store {self.store.name} matches these options, so that there is no case {name!r}"
        ids = self._known_ids()
        names = ", ".join(ids[:10]) + (", …" if len(ids) > 10 else "")
        runs = "the run" if len(self.runs) == 1 else f"none of the {len(self.runs)} runs"
        has = "has no" if len(self.runs) == 1 else "has a"
        return f"{runs} {has} case {name!r}.{did_you_mean(name, ids)} Cases: {names}."

    def _known_ids(self) -> Sequence[str]:
        all_ids = (
            case.eval_id
            for one in self.runs
            for case in self.store.planned(one.run.run_id)
            if self.takes(case.eval_set_id)
        )
        return [*dict.fromkeys(islice(all_ids, _MOST_NAMES))]
