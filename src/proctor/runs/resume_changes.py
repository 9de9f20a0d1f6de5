"""Changes since a run began. Only the same set, config and agent can resume it."""

from __future__ import annotations

import json
import shlex
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.runs.run_differences import is_known_to_differ
from proctor.runs.setup.judge_and_user import AN_OBJECT
from proctor.runs.setup.manifest import planned_cases, scoring_manifest
from proctor.schema.results.manifest import Manifest, MetricManifest, PlannedCase, ScoringManifest, counting

if TYPE_CHECKING:
    from proctor.runs.setup.prepare import Prepared
    from proctor.stores.base import Store

_MOST_NAMED = 5


@dataclass(slots=True)
class ResumeChanges:
    """The changes since the run began, and the positions of the plan's cases in the run."""

    messages: list[str] = field(default_factory=list)
    """One line per change; empty if nothing has changed."""
    positions: list[int] = field(default_factory=list)
    """The position in the run of each case of the plan."""
    added: list[PlannedCase] = field(default_factory=list)
    """Cases of the plan that the run does not have, or has with other content and without evidence."""
    gone: list[int] = field(default_factory=list)
    """The positions in the run of the cases that the plan does not have."""


def changes(store: Store, manifest: Manifest, prepared: Prepared) -> ResumeChanges:
    """Compare a plan with the run that it is to resume."""
    now = prepared.manifest
    if now is None:
        raise RuntimeError("the plan was made without a store")
    result = ResumeChanges()
    result.messages += _agent(manifest, now)
    result.messages += _functions(manifest, now)
    result.messages += _versions(manifest, now)
    scorings = store.scorings(manifest.run_id)
    result.messages += _configs(scorings[0], scoring_manifest(prepared.plan, created_at=0.0))
    result.messages += _report_changed_criteria(manifest, scorings)
    _cases(store, manifest.run_id, prepared, result)
    return result


def canonical_json(value: Any) -> str:
    """Return a value as canonical JSON: equal values have equal texts."""
    return json.dumps(value, sort_keys=True, default=str)


def _agent(before: Manifest, now: Manifest) -> Iterator[str]:
    if before.agent.label != now.agent.label:
        yield f"the agent was {before.agent.label} and is {now.agent.label}"
    elif changed := before.agent.source_change(now.agent):
        yield changed


def _functions(before: Manifest, now: Manifest) -> Iterator[str]:
    for option, what, default in _FUNCTIONS:
        was, is_now = before.options.get(option), now.options.get(option)
        if was != is_now and AN_OBJECT not in {was, is_now}:
            yield f"the {what} was {was or default} and is {is_now or default}"


_FUNCTIONS = (
    ("user", "user simulator", "the config's model"),
    ("setup", "hook before each trial (setup)", "none"),
    ("teardown", "hook after each trial (teardown)", "none"),
)


def _versions(before: Manifest, now: Manifest) -> Iterator[str]:
    for package in {**before.versions, **now.versions}:
        was, is_now = before.versions.get(package), now.versions.get(package)
        if was != is_now and was is not None and is_now is not None:
            yield f"{package} was {was} and is {is_now}"


def _configs(before: ScoringManifest, now: ScoringManifest) -> Iterator[str]:
    for was, is_now in zip(before.sets, now.sets, strict=False):
        if was.config_hash != is_now.config_hash:
            yield f"the config of {is_now.eval_set_id} ({is_now.config_source}) has changed"
            continue
        metrics = {metric.name: metric for metric in was.metrics}
        for metric in is_now.metrics:
            before_it = metrics.get(metric.name)
            if before_it is None or _is_other(before_it, metric):
                yield f"the metric {metric.name} of {is_now.eval_set_id} has changed{_judge(before_it, metric)}"


def _is_other(was: MetricManifest, is_now: MetricManifest) -> bool:
    return was.definition != is_now.definition or any(
        is_known_to_differ(*hashes)
        for hashes in ((was.modules, is_now.modules), (was.judge_code, is_now.judge_code))
    )


def _judge(was: MetricManifest | None, is_now: MetricManifest) -> str:
    """Return how the judge of a metric has changed, for a message."""
    if was is None or not is_now.judge:
        return ""
    if was.judge != is_now.judge:
        return f": its judge was {was.judge} and is {is_now.judge}"
    if is_known_to_differ(was.judge_code, is_now.judge_code):
        return f": the code of its judge {is_now.judge} is another one"
    return ": its prompt is another one" if was.prompts != is_now.prompts else ""


def _verdicts_of(scoring: ScoringManifest) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return what determines the verdicts of a scoring pass. Equal values give equal verdicts for the same evidence."""
    return [
        (one.config_hash, [(metric.name, metric.definition) for metric in one.metrics])
        for one in scoring.sets
    ]


def _report_changed_criteria(manifest: Manifest, scorings: Sequence[ScoringManifest]) -> Iterator[str]:
    """Report that the verdicts use other criteria than those the run began with, and how to compute such verdicts again."""
    last, first = counting(scorings), scorings[0]
    metrics = [[metric for one in scoring.sets for metric in one.metrics] for scoring in (first, last)]
    if _verdicts_of(last) == _verdicts_of(first) and not any(map(_is_other, *metrics)):
        return
    sources = {one.config_source for one in last.sets if one.metrics} or {""}
    source = next(iter(sources)) if len(sources) == 1 else ""
    config = (
        f" --config {shlex.quote(source)}" if source and Path(source).is_file() else " with these criteria"
    )
    yield (
        f"the run was re-scored by other criteria (scoring {last.number}{f': {source}' if source else ''}). The "
        f"resumed run keeps its own criteria, and their verdicts count; `proctor score {manifest.run_id}{config}` "
        "re-scores all of it by the other criteria"
    )


def _cases(store: Store, run_id: str, prepared: Prepared, result: ResumeChanges) -> None:
    """Find every case of the plan in the run. Duplicate ids are matched in order."""
    there = _PlannedCases(store.planned(run_id))
    added: list[str] = []
    changed: dict[int, PlannedCase] = {}
    for case in planned_cases(prepared.plan):
        before = there.take(case)
        if before is None:
            position = there.count + len(added)
            result.positions.append(position)
            result.added.append(_at(case, position))
            added.append(case.eval_id)
            continue
        result.positions.append(before.position)
        if before.content_hash != case.content_hash:
            changed[before.position] = case
    run = {position for position, _ in store.case_documents(run_id, sorted(changed))}
    result.added += [_at(case, position) for position, case in changed.items() if position not in run]
    missing = there.left()
    result.gone = [case.position for case in missing]
    missing_ids = [case.eval_id for case in missing]
    ids_of_changed = [case.eval_id for case in changed.values()]
    for what, ids in (("changed", ids_of_changed), ("new", added), ("gone", missing_ids)):
        if ids:
            result.messages.append(f"{_cases_are(ids)} {what}: {_some(ids)}")


class _PlannedCases:
    """The cases of a run, taken one at a time. While they are taken in the run's order, none is kept in memory."""

    def __init__(self, planned: Iterator[PlannedCase]) -> None:
        self._planned = planned
        self._others: defaultdict[tuple[str, str], deque[PlannedCase]] | None = None
        self.count = 0
        """The number of cases read so far; the total once a case is taken out of order."""

    def take(self, planned: PlannedCase) -> PlannedCase | None:
        """Return the next case with this set and id, or `None`."""
        if self._others is None:
            case = next(self._planned, None)
            if case is not None and _id_of(case) == _id_of(planned):
                self.count += 1
                return case
            self._look_through(case)
        known = self._others.get(_id_of(planned)) if self._others else None
        return known.popleft() if known else None

    def left(self) -> list[PlannedCase]:
        """Return the cases that were not taken."""
        if self._others is None:
            self._look_through(None)
        return [case for cases in (self._others or {}).values() for case in cases]

    def _look_through(self, first: PlannedCase | None) -> None:
        self._others = defaultdict(deque)
        for case in chain([] if first is None else [first], self._planned):
            self._others[_id_of(case)].append(case)
            self.count += 1


def _id_of(case: PlannedCase) -> tuple[str, str]:
    return case.eval_set_id, case.eval_id


def _at(case: PlannedCase, position: int) -> PlannedCase:
    return PlannedCase(position, case.eval_set_id, case.eval_id, case.content_hash, case.place)


def _cases_are(ids: list[str]) -> str:
    return "1 case of the set is" if len(ids) == 1 else f"{len(ids)} cases of the sets are"


def _some(ids: list[str]) -> str:
    text = ", ".join(ids[:_MOST_NAMED])
    return text if len(ids) <= _MOST_NAMED else f"{text}, …"
