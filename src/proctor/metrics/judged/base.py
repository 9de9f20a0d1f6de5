"""The base class of judge metrics: a criterion, a judge, concurrent questions, and scores computed from ballots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from pydantic.alias_generators import to_camel, to_snake

from proctor.common.async_tools import gather_all
from proctor.errors import MetricError, did_you_mean
from proctor.judges.base import Ballot, Judge, JudgeSource, Question, Settled, V
from proctor.judges.injection_signs import warning_of
from proctor.judges.vote_failures import undecided_failure
from proctor.judges.votes import ballot_details
from proctor.metrics.base import MetricFacts, is_adk_compatible
from proctor.metrics.criterion_check import check_criterion, misfit
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.criterion import BaseCriterion, JudgeModelOptions, LlmAsAJudgeCriterion
from proctor.schema.results.score import Score

__all__ = ["UNDECIDED", "Asked", "JudgedMetric", "stated_options"]

OPTIONS = "judge_model_options"
UNDECIDED = "the judge could not decide"

C = TypeVar("C", bound=BaseCriterion)


@dataclass(slots=True)
class Asked(Generic[V]):
    """A question's ballot, and the reason if it is undecided."""

    ballot: Ballot[V]
    failure: Failure | None

    @property
    def votes(self) -> list[V]:
        """The verdicts of the votes; after a failure they do not count."""
        return self.ballot.verdicts

    def score(
        self, value: float | None, reason: str, agreement: float | None = None, **details: Any
    ) -> Score:
        """Return a turn's score with its ballot; without value if the votes cannot decide."""
        details = {**details, "ballot": ballot_details(self.ballot, agreed=agreement)}
        warning = warning_of(self.ballot.signs)
        if self.failure is not None:
            return Score(None, f"{UNDECIDED}: {self.failure.message}", details, warning=warning)
        return Score(value, reason, details, warning=warning)


class JudgedMetric(Generic[C]):
    """Base of the metrics that ask a judge; a subclass asks the questions and computes scores from the votes."""

    facts: MetricFacts
    kind: ClassVar[type[Any]] = LlmAsAJudgeCriterion
    """The type of its criterion."""

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        self._criterion: C = check_criterion(self.facts, criterion, self.kind)
        options: JudgeModelOptions = getattr(self._criterion, OPTIONS)
        if problems := [*_unknown(options)]:
            raise misfit(self.facts.name, problems)
        self._adk = is_adk_compatible(self._criterion)
        self._stated = stated_options(criterion)
        # only the options that the criterion states, not the defaults of a typed criterion
        self._options = JudgeModelOptions.model_validate(options.model_dump(include={*self._stated}))
        self._judge: Judge | None = None

    def use(self, judges: JudgeSource) -> None:
        """Select the judge that the criterion names, or the run's."""
        self._judge = judges.judge(self.facts.name, self._options, stated="judge_model" in self._stated)

    @property
    def _samples(self) -> int | None:
        """The number of votes; `None`: as the criterion states."""
        return None

    async def _ask(self, questions: Sequence[Question[V]], is_settled: Settled[V]) -> list[Asked[V]]:
        """Ask all questions concurrently; an undecided ballot has a failure."""
        judge = self._judge
        if judge is None:
            raise MetricError(f"{self.facts.name} has no judge to ask")
        ballots = await gather_all(
            [judge.ask(each, samples=self._samples, settled=is_settled) for each in questions]
        )
        return [
            Asked(ballot, None if ballot.is_decided else undecided_failure(ballot, question.turn))
            for question, ballot in zip(questions, ballots, strict=True)
        ]


def stated_options(criterion: BaseCriterion | None) -> frozenset[str]:
    """Return the names of the judge's options that a criterion states itself."""
    options = getattr(criterion, OPTIONS, None) or getattr(criterion, to_camel(OPTIONS), None)
    if isinstance(options, JudgeModelOptions):
        return frozenset(options.model_fields_set)
    return frozenset(map(to_snake, options)) if isinstance(options, Mapping) else frozenset()


def _unknown(options: JudgeModelOptions) -> Iterator[str]:
    known = JudgeModelOptions.model_fields
    for name in options.model_extra or ():
        yield f"{OPTIONS}.{name}: unknown option.{did_you_mean(name, known)} It takes: {', '.join(known)}"
