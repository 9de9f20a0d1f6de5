"""Propose changes that catch survivors. Each is verified first: every recorded conversation still passes, and the mutants fail.

The search is greedy: of the changes that cost least, the one that catches most comes first, and the next ones build on it.
A change of the config serves all cases that share it. What is left may be caught by a change of a single case.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from proctor.authoring.audit.audit_case import AuditedCase, CaseScorer
from proctor.authoring.audit.make_mutants import OPERATORS, Mutant
from proctor.authoring.audit.mutant import Recording, calls_in
from proctor.authoring.audit.proposals.candidate_changes import Candidate, candidates_for, written_criteria
from proctor.authoring.audit.proposals.rubric_changes import (
    RUBRICS,
    RubricChange,
    rubric_changes,
    rubric_criterion,
)
from proctor.common.safe_text import count_text
from proctor.engine.planning.plan import make_plan
from proctor.engine.planning.set_plan import EvalSetSource, SetPlan, SetRequest
from proctor.engine.run_options import RunOptions
from proctor.errors import SetupError
from proctor.files.yaml.writer import emit
from proctor.runs.estimate import votes_of
from proctor.runs.load import NO_CONFIG
from proctor.schema.analysis.audit_result import Proposal
from proctor.schema.format.case import EvalCase, EvalSet, find_extension
from proctor.schema.format.config import EvalConfig
from proctor.schema.results.score import Outcome

if TYPE_CHECKING:
    from proctor.judges.base import Judges

NEW_CONFIG = "a new test_config.json"
EXPECTATIONS = "tool_expectations"
_IN_YAML = {"final_session_state": "final_state"}
_MOST_SURELY = 0.9
"""A threshold is high enough if it catches so many of the mutants that the highest one catches."""

Key = tuple[int, int]
"""A survivor: the number of its case in the group, and its number in the case."""


async def propose(
    cases: Iterable[AuditedCase],
    seconds: float | None,
    judges: Judges | None = None,
    notify: Callable[[str], None] | None = None,
) -> list[Proposal]:
    """Return verified changes, config by config. Only with `judges` rubrics are tried; `notify` gets the number of their calls."""
    groups: dict[str, list[AuditedCase]] = {}
    for case in cases:
        config = case.plan.config.model_dump_json(exclude_unset=True)
        groups.setdefault(f"{case.plan.summary.config_source}\0{config}", []).append(case)
    searches = [_Search(group, seconds) for group in groups.values()]
    proposals = [proposal for search in searches async for proposal in search.proposals()]
    if judges is None:
        return proposals
    trials = [trial for search in searches for trial in search.rubric_trials(judges)]
    if trials and notify is not None:
        calls = count_text(sum(each.calls for each in trials), "call")
        notify(f"judges: the rubrics of {count_text(len(trials), 'turn')} need up to {calls}")
    tried = [await each.search.try_rubrics(each) for each in trials]
    return [*proposals, *filter(None, tried)]


class _Search:
    """The search for changes of one config and of its cases."""

    def __init__(self, cases: Sequence[AuditedCase], seconds: float | None) -> None:
        self._cases, self._seconds = cases, seconds
        source = cases[0].plan.summary.config_source
        self._config = cases[0].plan.config
        self._source = NEW_CONFIG if source.endswith(NO_CONFIG) else source
        self._left: dict[Key, Mutant] = {
            (number, index): survivor.mutant
            for number, case in enumerate(cases)
            for index, survivor in enumerate(case.survivors)
        }

    async def proposals(self) -> AsyncIterator[Proposal]:
        """Yield changes until nothing is left that any of them catches."""
        if self._left:
            async for proposal in self._config_proposals():
                yield proposal
            for number in range(len(self._cases)):
                async for proposal in self._case_proposals(number):
                    yield proposal

    # --- The config ---------------------------------------------------------------------------------------------------

    async def _config_proposals(self) -> AsyncIterator[Proposal]:
        caught = {
            candidate: keys
            for each in candidates_for(self._config, self._cases)
            for candidate, keys in [await self._estimate(each)]
        }
        while caught:
            best = min(caught, key=lambda each: (each.cost, -len(caught[each] & self._left.keys())))
            failed = caught.pop(best) & self._left.keys()
            changed = _with_criterion(self._config, best)
            if not failed or changed is None or not await self._passes_recordings(changed):
                continue
            self._config = changed
            change = f"{json.dumps(best.metric)}: {json.dumps(best.criterion, ensure_ascii=False)}"
            yield self._proposal(self._source, change, _criteria_text(changed), failed, note=best.note)

    async def _estimate(self, candidate: Candidate) -> tuple[Candidate, set[Key]]:
        """Return the survivors that the metric fails by itself, at the threshold that is high enough; none if it fails a recorded conversation."""
        highest = candidate.at(candidate.thresholds[-1]) if candidate.thresholds else candidate
        if candidate.thresholds and candidate.metric in self._config.criteria:
            scores = self._known_scores(candidate.metric, candidate.thresholds[-1])
        else:
            scores = await self._scores(highest)
        audited = sum(not case.audit.problem for case in self._cases)
        if len({number for number, _ in scores}) < candidate.least_share * audited:
            return candidate, set()
        return _at_lowest_threshold(candidate, scores)

    async def _scores(self, candidate: Candidate) -> dict[Key, float]:
        """Return the scores of the survivors that the metric of a candidate fails."""
        alone = _with_criterion(self._config.model_copy(update={"criteria": {}}), candidate)
        scorers = self._scorers(alone)
        scores: dict[Key, float] = {}
        for number, scorer in enumerate(scorers):
            recording = self._cases[number].recording
            oracle = await scorer.score(recording.turns, recording.state)
            if candidate.metric in oracle.failed:
                return {}
            if candidate.metric not in oracle.scores:  # it does not apply
                continue
            for key, mutant in self._survivors_of(number):
                if mutant.operator.family in candidate.families:
                    scored = await scorer.score(mutant.turns, mutant.state)
                    if candidate.metric in scored.failed:
                        scores[key] = scored.scores[candidate.metric] or 0.0
        return scores

    def _known_scores(self, metric: str, threshold: float) -> dict[Key, float]:
        """Return the scores below a threshold that a metric of the config has given to survivors already."""
        scores = {key: self._cases[key[0]].survivors[key[1]].scored.scores.get(metric) for key in self._left}
        return {key: score for key, score in scores.items() if score is not None and score < threshold}

    def _survivors_of(self, number: int) -> Iterator[tuple[Key, Mutant]]:
        """Yield the survivors of a case that no change catches yet."""
        for index in range(len(self._cases[number].survivors)):
            if (number, index) in self._left:
                yield (number, index), self._left[number, index]

    async def _passes_recordings(self, config: EvalConfig) -> bool:
        """Return whether every recorded conversation passes with a changed config.

        The mutants are not scored again: one that a gating metric fails by itself fails whatever the other metrics decide.
        """
        scorers = self._scorers(config)
        for scorer, case in zip(scorers, self._cases, strict=False):
            if not await _passes(scorer, case) and not scorer.is_skipped(case.index):
                return False
        return bool(scorers)

    def _scorers(self, config: EvalConfig | None) -> list[CaseScorer]:
        """Return a scorer of each case by another config; none if a run would refuse it."""
        plans = {id(case.plan): case.plan for case in self._cases}
        if config is None:
            return []
        try:
            planned = make_plan([_request(plan, config) for plan in plans.values()], _options())
        except SetupError:
            return []
        by_plan = dict(zip(plans, planned.sets, strict=True))
        return [CaseScorer(by_plan[id(case.plan)], case.recording, self._seconds) for case in self._cases]

    # --- Rubrics ------------------------------------------------------------------------------------------------------

    def rubric_trials(self, judges: Judges) -> Iterator[_RubricTrial]:
        """Yield the rubrics to try: for turns whose wrong answers no other change catches."""
        criterion = rubric_criterion(written_criteria(self._config))
        alone = _with_criterion(
            self._config.model_copy(update={"criteria": {}}), Candidate(RUBRICS, criterion)
        )
        options = RunOptions(judges=judges, allow_unasserted=True)
        for number, case in enumerate(self._cases):
            for change in rubric_changes(case, dict(self._survivors_of(number))):
                scorer = self._case_scorer(case, alone, change.case_with(case.recording.case), options)
                if scorer is not None:
                    yield _RubricTrial(self, case, change, scorer, criterion)

    async def try_rubrics(self, trial: _RubricTrial) -> Proposal | None:
        """Ask the judge; return the proposal if the recorded conversation passes and a mutant fails, within the limits of the judges."""
        case = trial.case
        failed = await self._failed_mutants(trial.scorer, case, trial.change.keys)
        if not failed:
            return None
        is_new = RUBRICS not in self._config.criteria
        note = f'needs "{RUBRICS}": {json.dumps(trial.criterion)} in {self._source}' if is_new else ""
        snippet = _in_format_of(case.plan.source.label, trial.change.as_data())
        text, eval_id = f"rubrics of turn {trial.change.turn + 1}", case.audit.eval_id
        return self._proposal(case.audit.place, text, snippet, failed, note=note, eval_id=eval_id)

    # --- One case -----------------------------------------------------------------------------------------------------

    async def _case_proposals(self, number: int) -> AsyncIterator[Proposal]:
        """Propose that a case states its calls or its final state, if faults of these are left in it."""
        case = self._cases[number]
        for change in _CASE_CHANGES:
            keys = [
                key for key, mutant in self._survivors_of(number) if mutant.operator.family == change.family
            ]
            if not keys or change.is_stated(case.recording.case):
                continue
            is_new = change.metric not in {"", *self._config.criteria}
            config = _with_criterion(self._config, Candidate(change.metric, 1.0)) if is_new else self._config
            value = change.value(case.recording)
            changed = case.recording.case.model_copy(update={change.key: value})
            scorer = self._case_scorer(case, config, changed, _options())
            failed = await self._failed_mutants(scorer, case, keys)
            note = f'needs "{change.metric}": 1.0 in {self._source}' if is_new else change.note
            snippet = _in_format_of(case.plan.source.label, {change.key: value})
            if failed:
                where, eval_id = case.audit.place, case.audit.eval_id
                yield self._proposal(where, change.text, snippet, failed, note=note, eval_id=eval_id)

    async def _failed_mutants(
        self, scorer: CaseScorer | None, case: AuditedCase, keys: Collection[Key]
    ) -> set[Key]:
        """Return the mutants of a case that fail; none if its recorded conversation does not pass."""
        if scorer is None or not await _passes(scorer, case):
            return set()
        return {key for key in keys if await _fails(scorer, self._left[key])}

    def _case_scorer(
        self, case: AuditedCase, config: EvalConfig | None, changed: EvalCase, options: RunOptions
    ) -> CaseScorer | None:
        source = EvalSetSource(EvalSet(eval_set_id=case.plan.source.eval_set_id, eval_cases=[changed]))
        if config is None:
            return None
        try:
            (plan,) = make_plan([SetRequest(source, config, self._source)], options).sets
        except SetupError:
            return None
        recording = replace(case.recording, case=changed)
        return CaseScorer(plan, recording, self._seconds, judges=options.judges is not None)

    def _proposal(
        self,
        where: str,
        change: str,
        snippet: str,
        failed: Collection[Key],
        *,
        note: str = "",
        eval_id: str = "",
    ) -> Proposal:
        of = len(self._left)
        names = _operators_of([self._left.pop(key) for key in sorted(failed)])
        return Proposal(where, change, snippet, len(failed), of, names, eval_id, note)


@dataclass(frozen=True, slots=True)
class _RubricTrial:
    """Rubrics of one turn, and what scores by them."""

    search: _Search
    case: AuditedCase
    change: RubricChange
    scorer: CaseScorer
    criterion: Any

    @property
    def calls(self) -> int:
        """The most calls of judges: for each turn of the recorded conversation and of the mutants."""
        votes = sum(votes_of(each.metric) for each in self.scorer.metrics)
        return votes * len(self.case.recording.turns) * (1 + len(self.change.keys))


def _at_lowest_threshold(candidate: Candidate, scores: Mapping[Key, float]) -> tuple[Candidate, set[Key]]:
    """Return a candidate with the lowest of its thresholds that is high enough, and what it fails."""
    for threshold in candidate.thresholds:
        missed = {key for key, score in scores.items() if score < threshold}
        if len(missed) >= _MOST_SURELY * len(scores):
            return candidate.at(threshold), missed
    return candidate, set(scores)


async def _passes(scorer: CaseScorer, case: AuditedCase) -> bool:
    """Return whether the recorded conversation passes."""
    return (await scorer.score(case.recording.turns, case.recording.state)).outcome is Outcome.PASSED


async def _fails(scorer: CaseScorer, mutant: Mutant) -> bool:
    return (await scorer.score(mutant.turns, mutant.state)).outcome is Outcome.FAILED


def _operators_of(mutants: Iterable[Mutant]) -> tuple[str, ...]:
    """Return the names of their operators, each once, in the order of the report."""
    names = {mutant.operator.name for mutant in mutants}
    return (*(name for name in OPERATORS if name in names), *sorted(names - OPERATORS.keys()))


def _criteria_text(config: EvalConfig) -> str:
    """Return the criteria of a config as its file has them."""
    return json.dumps({"criteria": written_criteria(config)}, indent=2, ensure_ascii=False)


def _options() -> RunOptions:
    return RunOptions(no_judge=True, allow_unasserted=True)


def _request(plan: SetPlan, config: EvalConfig) -> SetRequest:
    ids = plan.source.ids()
    only = [] if len(plan.cases) == len(ids) else [ids[index] for index in plan.cases]
    return SetRequest(plan.source, config, plan.summary.config_source, only)


def _with_criterion(config: EvalConfig, candidate: Candidate) -> EvalConfig | None:
    """Return the config with one criterion more, or with another one; `None` if it is not valid."""
    written: dict[str, Any] = config.model_dump(mode="json", exclude_unset=True)
    written["criteria"] = {**written.get("criteria", {}), candidate.metric: candidate.criterion}
    try:
        return EvalConfig.model_validate(written)
    except ValueError:
        return None


def _expected_calls(recording: Recording) -> Any:
    """Return the recorded calls as `expectations`: one object for each turn, or one for all of them."""
    calls = [
        [{"tool": place.call.name, "args": place.call.args or {}} for place in calls_in(events)]
        for events in recording.turns
    ]
    if len(calls) == 1 or recording.case.conversation is None:  # a simulated user may take other turns
        return {"calls": [each for turn in calls for each in turn]}
    return [{"turn": number, "calls": each} for number, each in enumerate(calls, 1)]


def _has_expectations(case: EvalCase) -> bool:
    return find_extension(case, "expectations") is not None


def _has_state(case: EvalCase) -> bool:
    return bool(case.final_session_state)


def _changed_state(recording: Recording) -> Any:
    """Return the final values of the keys that the conversation changed."""
    return {key: (recording.state or {})[key] for key in recording.state_keys}


@dataclass(frozen=True, slots=True)
class _CaseChange:
    """A change of a case that may catch faults of a family."""

    family: str
    key: str
    text: str
    value: Callable[[Recording], Any]
    is_stated: Callable[[EvalCase], bool]
    metric: str = ""
    """The metric that reads the key, if the config must name it."""
    note: str = ""


_CASE_CHANGES = (
    _CaseChange(
        "calls", "expectations", "expectations of its calls", _expected_calls, _has_expectations, EXPECTATIONS
    ),
    _CaseChange(
        "state",
        "final_session_state",
        "its final session state",
        _changed_state,
        _has_state,
        note="the keys that the run changed",
    ),
)


def _in_format_of(path: str | None, keys: Mapping[str, Any]) -> str:
    """Return the keys of a case as its file would have them."""
    if path is not None and path.endswith((".yaml", ".yml")):
        return emit({_IN_YAML.get(key, key): value for key, value in keys.items()}).rstrip("\n")
    return json.dumps(keys, indent=2, ensure_ascii=False)
