"""The prompts of an LLM judge, reconstructed from the evidence without a call of a model.

The metric scores the trial again with a judge that records the questions. That judge answers from the cache of answers, so
that questions which depend on earlier answers come, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proctor.common.registry import METRICS
from proctor.engine.execution.event_loop import run_sync
from proctor.engine.planning.criteria import bind
from proctor.engine.run_options import RunOptions
from proctor.engine.scoring.score_trial import score_trial, view_of
from proctor.errors import SetupError, UnknownNameError, did_you_mean
from proctor.runs.storage.lookup import case_of
from proctor.schema.format.config import EvalConfig
from proctor.web.pages.case.judge_votes import AskedMessage, PromptPage
from proctor.web.pages.case.load_case import CaseLoader
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

__all__ = ["reconstruct_prompt"]

_OF_EACH_VOTE = (
    "The passages' token and the ballot's number differ for every vote; the rest is the prompt that was sent."
)
_ANOTHER = "The prompt has changed since: this is the present one."
_UNKNOWN = "The prompt cannot be reconstructed"


def reconstruct_prompt(
    store: Store,
    run: str,
    position: int,
    number: int,
    metric: str,
    turn: int | None,
    judging: int | None = None,
) -> PromptPage:
    """Return the prompt of the judge of `metric` about a turn (from 0; `None`: the whole) of a trial.

    Raises:
        UnknownNameError: there is no such run, case, trial or metric.
    """
    at = CaseLoader(store, run, position, judging)
    place = at.place(number)
    verdict = at.view.case.metrics.get(metric)
    if verdict is None:
        hint = did_you_mean(metric, at.view.case.metrics)
        raise UnknownNameError(f"the case {at.view.case.eval_id!r} was not scored by {metric!r}.{hint}")
    trial, case = at.view.case.trials[place].trial, case_of(store, at.run_id, position)
    config = _config(store, at)
    if metric not in METRICS or metric in (config.custom_metrics or {}):
        return _no_prompt(metric, turn, f"{_UNKNOWN}: the metric is defined in the project.")
    if trial is None or case is None:
        return _no_prompt(metric, turn, f"{_UNKNOWN}: the evidence was not stored.")
    model, prompt = _model_and_prompt(verdict, place, turn)
    judge = _RecordingJudge(store, model)
    try:
        _run_metric(judge, metric, config, case, trial, store.manifest(at.run_id).options.get("compat"))
    except SetupError as problem:
        return _no_prompt(metric, turn, f"{_UNKNOWN}: {problem}")
    questions = [question for question in judge.questions if question.turn == turn]
    if not questions:
        return _no_prompt(
            metric, turn, f"{_UNKNOWN}: under the criteria of this scoring the judge is not called here."
        )
    same = prompt == "" or all(question.prompt.hash == prompt for question in questions)
    return PromptPage(
        metric=metric,
        turn=turn,
        messages=[message for question in questions for message in _messages(question)],
        same=same,
        told=_OF_EACH_VOTE if same else _ANOTHER,
    )


def _no_prompt(metric: str, turn: int | None, reason: str) -> PromptPage:
    return PromptPage(metric=metric, turn=turn, messages=[], same=False, told=reason)


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
    judging = next(one for one in store.judgings(at.run_id) if one.number == at.view.judging)
    sets = (one for one in judging.sets if one.eval_set_id == at.view.case.eval_set_id)
    judged = next(sets, None)
    return EvalConfig.model_validate(judged.config if judged is not None else {})


def _run_metric(
    judge: _RecordingJudge,
    metric: str,
    config: EvalConfig,
    case: EvalCase,
    trial: Trial,
    compat: str | None,
) -> None:
    """Let the metric ask its questions; its score is not used."""
    only = {name: criterion for name, criterion in config.criteria.items() if name == metric}
    config = config.model_copy(update={"criteria": only, "custom_metrics": None})
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
        kept = [self._store.answer(sample_key(content, number)) for number in range(samples or _MOST_VOTES)]
        votes = [vote for one in kept if (vote := vote_from_cache(one, question)) is not None]
        return Ballot(votes=votes, planned=len(votes) or 1, is_decided=bool(votes), model=self.model)

    def remember(self, cache: AnswerCache) -> None:
        """Do nothing: there are no new answers."""

    def spending(self) -> list[Spent]:
        return []

    def listen(self, tell: Callable[[str], None]) -> None:
        """Do nothing: there is nothing to report."""

    async def close(self) -> None:
        """Do nothing: there is no connection."""


_MOST_VOTES = 10
