"""What a judge was asked: put together again from the evidence, without asking anybody.

A metric puts its questions as it did when it judged; a judge that only listens takes them down, and answers with what is
kept of the answers, so that questions which rest on answers come, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proctor.engine.execution.event_loop import run_sync
from proctor.engine.planning.criteria import bind
from proctor.engine.planning.run_options import RunOptions
from proctor.engine.scoring.score_trial import score_trial, view_of
from proctor.errors import SetupError, UnknownNameError, did_you_mean
from proctor.registry import METRICS
from proctor.runs.lookup import case_of
from proctor.schema.format.config import EvalConfig
from proctor.web.pages.case.judges import AskedMessage, PromptPage
from proctor.web.pages.case.load import CaseAt
from proctor.web.pages.case.texts import clip

if TYPE_CHECKING:
    from collections.abc import Callable

    from proctor.judges.base import AnswerCache, Ballot, Question, Settled, V
    from proctor.schema.evidence.trial import Trial
    from proctor.schema.format.case import EvalCase
    from proctor.schema.format.criterion import JudgeModelOptions
    from proctor.schema.results.model_usage import Spent
    from proctor.schema.results.run_result import MetricVerdict
    from proctor.stores.base import Store

__all__ = ["asked_again"]

_OF_EACH_VOTE = (
    "The passages' token and the ballot's number are new for every vote; the rest is what was sent."
)
_ANOTHER = "The prompt was changed since: this is what would be asked today."
_UNKNOWN = "What was asked cannot be put together again"


def asked_again(
    store: Store,
    run: str,
    position: int,
    number: int,
    metric: str,
    turn: int | None,
    judging: int | None = None,
) -> PromptPage:
    """Return what the judge of `metric` was asked about a turn (from 0; `None`: about the whole) of a trial.

    Raises:
        UnknownNameError: there is no such run, case, trial or metric.
    """
    at = CaseAt(store, run, position, judging)
    place = at.place(number)
    verdict = at.view.case.metrics.get(metric)
    if verdict is None:
        hint = did_you_mean(metric, at.view.case.metrics)
        raise UnknownNameError(f"the case {at.view.case.eval_id!r} was not judged by {metric!r}.{hint}")
    trial, case = at.view.case.trials[place].trial, case_of(store, at.run_id, position)
    config = _config(store, at)
    if metric not in METRICS or metric in (config.custom_metrics or {}):
        return _none(metric, turn, f"{_UNKNOWN}: the metric is the project's own.")
    if trial is None or case is None:
        return _none(metric, turn, f"{_UNKNOWN}: the evidence was not kept.")
    model, prompt = _who(verdict, place, turn)
    listening = _Listening(store, model)
    try:
        _listen(listening, metric, config, case, trial, store.manifest(at.run_id).options.get("compat"))
    except SetupError as problem:
        return _none(metric, turn, f"{_UNKNOWN}: {problem}")
    asked = [one for one in listening.asked if one.turn == turn]
    if not asked:
        return _none(metric, turn, f"{_UNKNOWN}: by the criteria of this judging nothing is asked here.")
    same = prompt == "" or all(one.prompt.hash == prompt for one in asked)
    return PromptPage(
        metric=metric,
        turn=turn,
        messages=[message for one in asked for message in _messages(one)],
        same=same,
        told=_OF_EACH_VOTE if same else _ANOTHER,
    )


def _none(metric: str, turn: int | None, told: str) -> PromptPage:
    return PromptPage(metric=metric, turn=turn, messages=[], same=False, told=told)


def _who(verdict: MetricVerdict, place: int, turn: int | None) -> tuple[str, str]:
    """The model that was asked, and the hash of its prompt."""
    score = verdict.per_trial[place] if place < len(verdict.per_trial) else None
    if score is None:
        return "", ""
    details = score.details
    if turn is not None:
        details = score.per_invocation[turn].details if turn < len(score.per_invocation) else None
    ballot = (details or {}).get("ballot")
    told: Mapping[str, Any] = ballot if isinstance(ballot, Mapping) else {}
    return str(told.get("model") or ""), str(told.get("prompt") or "")


def _config(store: Store, at: CaseAt) -> EvalConfig:
    judging = next(one for one in store.judgings(at.run_id) if one.number == at.view.judging)
    judged = (one for one in judging.sets if one.eval_set_id == at.view.case.eval_set_id)
    found = next(judged, None)
    return EvalConfig.model_validate(found.config if found is not None else {})


def _listen(
    listening: _Listening, metric: str, config: EvalConfig, case: EvalCase, trial: Trial, compat: str | None
) -> None:
    """Have the metric put its questions; what it makes of the answers is of no interest."""
    only = {name: criterion for name, criterion in config.criteria.items() if name == metric}
    config = config.model_copy(update={"criteria": only, "custom_metrics": None})
    bound = bind(config, RunOptions(judges=listening, compat=compat))
    if bound.problems:
        raise bound.problems[0]
    chosen = [one for one in bound.metrics if one.name == metric]
    run_sync(lambda: score_trial(chosen, view_of(case, trial)))


def _messages(question: Question[Any]) -> Sequence[AskedMessage]:
    from proctor.judges.request import new_request

    paper = new_request(question, as_text=False)
    return [AskedMessage(role=one.role, text=clip(one.text)) for one in paper.messages]


@dataclass(slots=True)
class _Listening:
    """Judges, and each of them, that take down what they are asked."""

    _store: Store
    model: str
    notes: Sequence[str] = ()
    asked: list[Question[Any]] = field(default_factory=list)
    _settings: Mapping[str, Any] = field(default_factory=dict)

    def judge(self, _metric: str, options: JudgeModelOptions, *, stated: bool) -> _Listening:
        from proctor.models.settings import settings_of

        self._settings = settings_of(options.judge_model_config)
        return self

    async def ask(
        self, question: Question[V], *, samples: int | None = None, settled: Settled[V] | None = None
    ) -> Ballot[V]:
        from proctor.judges.base import Ballot
        from proctor.judges.cache import content_key, sample_key, vote_from_cache

        self.asked.append(question)
        content = content_key(question, self.model, self._settings)
        kept = [self._store.answer(sample_key(content, number)) for number in range(samples or _MOST_VOTES)]
        votes = [vote for one in kept if (vote := vote_from_cache(one, question)) is not None]
        return Ballot(votes=votes, planned=len(votes) or 1, is_decided=bool(votes), model=self.model)

    def remember(self, cache: AnswerCache) -> None:
        """Nothing new is said."""

    def spending(self) -> list[Spent]:
        return []

    def listen(self, tell: Callable[[str], None]) -> None:
        """Nobody is turned away."""

    async def close(self) -> None:
        """There is no connection."""


_MOST_VOTES = 10
