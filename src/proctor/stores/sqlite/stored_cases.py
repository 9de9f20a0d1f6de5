"""The cases of a stored run as a sequence that is not in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from pydantic import ValidationError

from proctor.schema.format.config import EvalConfig
from proctor.schema.results.case_statistics import TrialRule
from proctor.schema.results.manifest import JudgedSet, Judging, Manifest, RunSummary, SetManifest, adds_trials
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult, SetSummary
from proctor.stores.sqlite.reader import RunReader, parts


class StoredCases(Sequence[CaseResult]):
    """The cases of a run in a store: read when asked for, and streamed when looped over."""

    def __init__(self, reader: RunReader, total: int) -> None:
        self._reader = reader
        self._total = total

    def __len__(self) -> int:
        return self._total

    @overload
    def __getitem__(self, index: int) -> CaseResult: ...
    @overload
    def __getitem__(self, index: slice) -> list[CaseResult]: ...
    def __getitem__(self, index: int | slice) -> CaseResult | list[CaseResult]:
        if isinstance(index, slice):
            places = range(self._total)[index]
            if places.step == 1:
                return [case for part in parts(places.start, places.stop) for case in self._read_block(part)]
            return [self[place] for place in places]
        place = range(self._total)[index]  # counts from the end, and raises IndexError, as lists do
        return next(self._reader.cases(place, place + 1))

    def __iter__(self) -> Iterator[CaseResult]:
        for part in parts(0, self._total):
            yield from self._read_block(part)

    def __repr__(self) -> str:
        return f"<{self._total} stored cases>"

    def counts(self) -> dict[Outcome, int]:
        """Return how many cases ended in each outcome, without reading them."""
        found = {Outcome(name): count for name, count in self._reader.counts().items()}
        if missing := self._total - sum(found.values()):
            found[Outcome.NOT_RUN] = found.get(Outcome.NOT_RUN, 0) + missing
        return found

    def find(self, eval_id: str, eval_set_id: str | None = None) -> CaseResult | None:
        """Return the first case of that id, without reading the others."""
        for position in self._reader.positions(eval_id):
            case = self[position]
            if eval_set_id in {None, case.eval_set_id}:
                return case
        return None

    def names(self, first: int = 0, last: int | None = None) -> Iterator[tuple[str, str]]:
        """Return set and id of each case from `first` up to `last`, without reading what became of it."""
        for part in parts(first, self._total if last is None else min(last, self._total)):
            yield from (texts[:2] for texts in self._reader.planned(part.start, part.stop))

    def eval_case(self, index: int) -> bytes | None:
        """Return a case as JSON, in the version that was run; `None` while none of its trials is stored."""
        return self._reader.document(index)

    def _read_block(self, part: range) -> Iterator[CaseResult]:
        return self._reader.cases(part.start, part.stop)


# --- A stored run as the result that it was ---------------------------------------------------------------------------


def result_of(
    manifest: Manifest, judging: Judging, summary: RunSummary, cases: Sequence[CaseResult]
) -> RunResult:
    """Return a run as a result."""
    by_id = {one.eval_set_id: one for one in judging.sets}
    in_order = len(judging.sets) == len(manifest.sets)
    judged = judging.sets if in_order else [by_id.get(one.eval_set_id) for one in manifest.sets]
    return RunResult(
        agent=manifest.agent.label,
        cases=cases,
        sets=[_set(*pair) for pair in zip(manifest.sets, judged, strict=True)],
        num_runs=manifest.num_runs,
        at_most=_at_most(manifest, judging),
        against=manifest.against,
        warnings=list(summary.warnings),
        started_at=manifest.created_at,
        duration=summary.duration,
        judging_duration=summary.judging_duration,
        interrupted=summary.interrupted,
        stopped_by=summary.stopped_by,
        failure=summary.failure,
        run_id=manifest.run_id,
        spent=list(summary.spent),
        judged_by=list(summary.judged_by),
    )


def _set(one: SetManifest, judged: JudgedSet | None) -> SetSummary:
    summary = SetSummary(one.eval_set_id, one.path, "", one.cases, failure=one.failure)
    summary.num_runs = one.num_runs
    if judged is not None:
        summary.config_source = judged.config_source
        gating = [metric.name for metric in judged.metrics if metric.gate]
        summary.metrics = gating + [metric.name for metric in judged.metrics if not metric.gate]
        summary.skipped_metrics = dict(judged.skipped_metrics)
        summary.rule = _rule(judged, one.num_runs)
        summary.criteria = dict(judged.config.get("criteria") or {})
    return summary


def _at_most(manifest: Manifest, judging: Judging) -> int:
    """Trials that there could have been, where they were added until it was decided, or 0."""
    added = adds_trials(manifest, judging)
    return sum(one.cases * one.num_runs for one in manifest.sets) if added else 0


def _rule(judged: JudgedSet, num_runs: int) -> TrialRule | None:
    try:
        return EvalConfig.model_validate(judged.config).rule_for(num_runs)
    except ValidationError:  # a config of another version of Proctor: the cases have their rule themselves
        return None
