"""The pages of a case, read from a store: the case, its trials, their spans, the votes and the prompts of LLM judges.

Prompts are reconstructed from the evidence without a call of a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from proctor.analysis.calibration.labels import labels_for
from proctor.common.registry import METRICS
from proctor.engine.execution.run_control import run_sync
from proctor.engine.planning.criteria import bind
from proctor.engine.run_options import RunOptions
from proctor.engine.scoring.score_trial import score_trial, view_of
from proctor.errors import SetupError, UnknownNameError, did_you_mean
from proctor.reports.content.symbols import short_ids
from proctor.runs.storage.lookup import lacks_reasons, listed_run, read_case_as_run, view_case
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.manifest import PlannedCase, counting, scoring_number
from proctor.schema.results.run_result import RunKind
from proctor.web.pages.case.case import CaseBefore, CasePage, CasePlace, case_page
from proctor.web.pages.case.judge_votes import AskedMessage, JudgesPage, PromptPage, judges_page
from proctor.web.pages.case.page_parts import clip
from proctor.web.pages.case.spans import spans_page
from proctor.web.pages.case.traced_spans import SpansPage
from proctor.web.pages.case.trial import TrialPage, trial_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from proctor.judges.base import AnswerCache, Ballot, Question, Settled, V
    from proctor.reports.content.case_data import StoredCase
    from proctor.schema.format.criterion import JudgeModelOptions
    from proctor.schema.results.model_usage import Spent
    from proctor.schema.results.run_result import MetricVerdict
    from proctor.stores.base import RunEntry, Store

_MOST_OLDER_RUNS = 50
"""The older runs that are searched for the same case."""


def alignment_steps(expected: Invocation, actual: Invocation) -> Sequence[Mapping[str, Any]]:
    """Align the calls of a turn with the expected ones, as `tool_trajectory_avg_score` does without options."""
    from proctor.metrics.trajectory.alignment import align

    return [step.to_data() for step in align(expected.tool_calls, actual.tool_calls).steps]


class CaseLoader:
    """Loads the pages of one case of a run."""

    def __init__(
        self,
        store: Store,
        run: str,
        position: int,
        scoring: int | None = None,
        *,
        kind: RunKind = RunKind.RUN,
    ) -> None:
        """Find the case at `position`; `run` is an id, the beginning of one, `latest` or `latest~1`, of a run of this kind.

        Raises:
            UnknownNameError: there is no such run, case or scoring.
        """
        self._store, self.run_id, self.position = store, store.find(run, kind), position
        self._scoring = scoring_number(store.scorings(self.run_id), scoring)
        self._planned = _find_planned(store, self.run_id, position)
        self.view: StoredCase = view_case(
            store, listed_run(store, self.run_id), self._planned.case, self._scoring
        )

    @property
    def total(self) -> int:
        """The number of cases of the run."""
        return self._planned.total

    @property
    def neighbours(self) -> tuple[CasePlace | None, CasePlace | None]:
        """The case before this one, and the case after it."""
        return _place(self._planned.previous), _place(self._planned.following)

    def page(self) -> CasePage:
        """Return the case, without its conversations."""
        hint = ""
        if lacks_reasons(self.view.case):
            hint = (
                "The store has the reasons of turns that failed, not of those that passed. "
                f"`proctor score {self.view.short} --details` computes and stores them (without a call of the agent)"
            )
        previous, following = self.neighbours
        return case_page(
            self.view,
            self.position,
            self.total,
            previous=previous,
            following=following,
            before=self._previous_result(),
            hint=hint,
        )

    def trial(self, number: int) -> TrialPage:
        """Return one trial (from 0), turn by turn.

        Raises:
            UnknownNameError: the case has no such trial.
        """
        expected = read_case_as_run(self._store, self.run_id, self.position)
        return trial_page(
            self.view, self.position, self.place(number), expected=expected, align=alignment_steps
        )

    def spans(self, number: int) -> SpansPage:
        """Return one trial over time. Raises as `trial`."""
        trial = self.view.case.trials[self.place(number)].trial
        return spans_page(self.run_id, self.position, number, trial)

    def judges(self, number: int) -> JudgesPage:
        """Return the votes of LLM judges on one trial. Raises as `trial`."""
        labels = labels_for(self._store, self._store.load(self.run_id, self._scoring))
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

    def _previous_result(self) -> CaseBefore | None:
        """Return the result of the case in the last earlier run of the same agent that decided it."""
        entries = self._store.index()
        ids = [one.run_id for one in entries]
        index = ids.index(self.run_id)
        older = (one for one in entries[index + 1 :] if one.agent == entries[index].agent)
        candidates = (one for one in older if self.view.case.eval_set_id in one.sets)
        for record in islice(candidates, _MOST_OLDER_RUNS):
            if (place := self._place_in(record)) is not None:
                position, scoring = place
                outcome = self._store.outcomes(record.run_id, scoring).get(position)
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
        return None if position is None else (position, counting(self._store.scorings(record.run_id)).number)


@dataclass(slots=True)
class _Planned:
    """A planned case with its neighbours."""

    case: PlannedCase
    previous: PlannedCase | None
    following: PlannedCase | None
    total: int


def _find_planned(store: Store, run_id: str, position: int) -> _Planned:
    """Find a case and its neighbours, without reading the others."""
    total = len(store.load(run_id).cases)
    if not 0 <= position < total:
        available = f"cases 0 to {total - 1}" if total else "no case"
        raise UnknownNameError(f"no case {position}: the run {run_id} has {available}")
    near = range(max(0, position - 1), min(total, position + 2))
    planned = {case.position: case for case in store.planned(run_id, near)}
    return _Planned(planned[position], planned.get(position - 1), planned.get(position + 1), total)


def _place(case: PlannedCase | None) -> CasePlace | None:
    if case is None:
        return None
    return CasePlace(position=case.position, eval_set_id=case.eval_set_id, eval_id=case.eval_id)


# --- the prompts of an LLM judge --------------------------------------------------------------------------------------


_OF_EACH_VOTE = (
    "The passages' token and the ballot's number differ for every vote; the rest is the prompt that was sent."
)
_ANOTHER = "The prompt has changed since: this is the present one."


def reconstruct_prompt(
    store: Store,
    run: str,
    position: int,
    number: int,
    metric: str,
    turn: int | None,
    scoring: int | None = None,
) -> PromptPage:
    """Return the prompt of the judge of `metric` about a turn (from 0; `None`: the whole) of a trial.

    Raises:
        UnknownNameError: there is no such run, case, trial or metric.
    """
    at = CaseLoader(store, run, position, scoring)
    place = at.place(number)
    verdict = at.view.case.metrics.get(metric)
    if verdict is None:
        hint = did_you_mean(metric, at.view.case.metrics)
        raise UnknownNameError(f"the case {at.view.case.eval_id!r} was not scored by {metric!r}.{hint}")
    model, prompt = _model_and_prompt(verdict, place, turn)
    judge = _RecordingJudge(store, model)
    try:
        _score_again(store, at, place, metric, judge)
        if not (questions := [question for question in judge.questions if question.turn == turn]):
            raise SetupError("under the criteria of this scoring the judge is not called here.")
    except SetupError as problem:
        reason = f"The prompt cannot be reconstructed: {problem}"
        return PromptPage(metric=metric, turn=turn, messages=[], same=False, note=reason)
    same = prompt == "" or all(question.prompt.hash == prompt for question in questions)
    return PromptPage(
        metric=metric,
        turn=turn,
        messages=[message for question in questions for message in _messages(question)],
        same=same,
        note=_OF_EACH_VOTE if same else _ANOTHER,
    )


def _model_and_prompt(verdict: MetricVerdict, place: int, turn: int | None) -> tuple[str, str]:
    """Return the model of the judge, and the hash of its prompt."""
    score = verdict.per_trial[place] if place < len(verdict.per_trial) else None
    if score is None:
        return "", ""
    details = score.details
    if turn is not None:
        details = score.per_invocation[turn].details if turn < len(score.per_invocation) else None
    ballot = (details or {}).get("ballot")
    recorded: Mapping[str, object] = ballot if isinstance(ballot, Mapping) else {}
    return str(recorded.get("model") or ""), str(recorded.get("prompt") or "")


def _config(store: Store, at: CaseLoader) -> EvalConfig:
    scoring = next(one for one in store.scorings(at.run_id) if one.number == at.view.scoring)
    sets = (one for one in scoring.sets if one.eval_set_id == at.view.case.eval_set_id)
    judged = next(sets, None)
    return EvalConfig.model_validate(judged.config if judged is not None else {})


def _score_again(store: Store, at: CaseLoader, place: int, metric: str, judge: _RecordingJudge) -> None:
    """Let a metric ask its questions about a trial; its score is not used.

    Raises:
        SetupError: this is not possible; the message is the reason.
    """
    config = _config(store, at)
    if metric not in METRICS or metric in (config.custom_metrics or {}):
        raise SetupError("the metric is defined in the project.")
    trial, case = at.view.case.trials[place].trial, read_case_as_run(store, at.run_id, at.position)
    if trial is None or case is None:
        raise SetupError("the evidence was not stored.")
    only = {metric: config.criteria[metric]} if metric in config.criteria else {}
    config = config.model_copy(update={"criteria": only, "custom_metrics": None})
    compat = store.manifest(at.run_id).options.get("compat")
    bound = bind(config, RunOptions(judges=judge, compat=compat))
    if bound.problems:
        raise bound.problems[0]
    chosen = [one for one in bound.metrics if one.name == metric]
    run_sync(lambda: score_trial(chosen, view_of(case, trial)))


def _messages(question: Question[Any]) -> Sequence[AskedMessage]:
    from proctor.judges.request import new_request

    paper = new_request(question, as_text=False)
    return [AskedMessage(role=one.role, text=clip(one.text)) for one in paper.messages]


@dataclass(slots=True)
class _RecordingJudge:
    """A judge provider, and a judge, that records questions and answers them from the store's cache."""

    _store: Store
    model: str
    notes: Sequence[str] = ()
    questions: list[Question[Any]] = field(default_factory=list)
    _settings: Mapping[str, Any] = field(default_factory=dict)

    def judge(self, _metric: str, options: JudgeModelOptions, *, stated: bool) -> _RecordingJudge:
        from proctor.models.settings import settings_of

        self._settings = settings_of(options.judge_model_config)
        return self

    async def ask(
        self, question: Question[V], *, samples: int | None = None, settled: Settled[V] | None = None
    ) -> Ballot[V]:
        from proctor.judges.base import Ballot
        from proctor.judges.cache import content_key, sample_key, vote_from_cache

        self.questions.append(question)
        content = content_key(question, self.model, self._settings)
        answers = [
            self._store.answer(sample_key(content, number)) for number in range(samples or _MOST_VOTES)
        ]
        votes = [vote for one in answers if (vote := vote_from_cache(one, question)) is not None]
        return Ballot(votes=votes, planned=len(votes) or 1, is_decided=bool(votes), model=self.model)

    def remember(self, cache: AnswerCache) -> None:
        """Do nothing: there are no new answers."""

    def spending(self) -> list[Spent]:
        return []

    def listen(self, notify: Callable[[str], None]) -> None:
        """Do nothing: there is nothing to report."""

    async def close(self) -> None:
        """Do nothing: there is no connection."""


_MOST_VOTES = 10
