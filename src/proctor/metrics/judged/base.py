"""What all judge metrics are made of: a criterion, a judge, questions asked at once, scores made of the ballots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from pydantic.alias_generators import to_camel, to_snake

from proctor.errors import MetricError, did_you_mean
from proctor.judges.base import Ballot, Judge, JudgeSource, Question, Settled, V
from proctor.judges.injection_signs import warning_of
from proctor.judges.vote_failures import undecided_failure
from proctor.judges.votes import ballot_details, together
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
    """A question with its ballot, and why it has no answer where it has none."""

    ballot: Ballot[V]
    failure: Failure | None

    @property
    def votes(self) -> list[V]:
        """The verdicts that there are; none of them counts where there is a failure."""
        return self.ballot.verdicts

    def score(self, value: float | None, reason: str, agreed: float | None = None, **details: Any) -> Score:
        """A turn's score with its ballot; without value where the votes cannot decide."""
        told = {**details, "ballot": ballot_details(self.ballot, agreed=agreed)}
        warning = warning_of(self.ballot.signs)
        if self.failure is not None:
            return Score(None, f"{UNDECIDED}: {self.failure.message}", told, warning=warning)
        return Score(value, reason, told, warning=warning)


class JudgedMetric(Generic[C]):
    """The part of a metric that asks a judge; what it asks, and what the votes come to, is its own."""

    facts: MetricFacts
    kind: ClassVar[type[Any]] = LlmAsAJudgeCriterion
    """The class of its criterion."""

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        self._criterion: C = check_criterion(self.facts, criterion, self.kind)
        options: JudgeModelOptions = getattr(self._criterion, OPTIONS)
        if problems := [*_unknown(options)]:
            raise misfit(self.facts.name, problems)
        self._adk = is_adk_compatible(self._criterion)
        self._stated = stated_options(criterion)
        # of these alone it is known that they were meant, and not only there as defaults of a typed criterion
        self._options = JudgeModelOptions.model_validate(options.model_dump(include={*self._stated}))
        self._judge: Judge | None = None

    def use(self, judges: JudgeSource) -> None:
        """Take the judge that the criterion names, or the run's."""
        self._judge = judges.judge(self.facts.name, self._options, stated="judge_model" in self._stated)

    @property
    def _samples(self) -> int | None:
        """How many votes to ask for; `None`: as many as the criterion says."""
        return None

    async def _ask(self, questions: Sequence[Question[V]], settled: Settled[V]) -> list[Asked[V]]:
        """Ask all questions at once; a ballot that cannot decide comes with the reason."""
        judge = self._judge
        if judge is None:
            raise MetricError(f"{self.facts.name} was given no judge to ask")
        asking = [judge.ask(each, samples=self._samples, settled=settled) for each in questions]
        ballots = await together(asking)
        return [
            Asked(ballot, None if ballot.is_decided else undecided_failure(ballot, question.turn))
            for question, ballot in zip(questions, ballots, strict=True)
        ]


def stated_options(criterion: BaseCriterion | None) -> frozenset[str]:
    """Which of the judge's options a criterion states itself, by their names."""
    given = getattr(criterion, OPTIONS, None) or getattr(criterion, to_camel(OPTIONS), None)
    if isinstance(given, JudgeModelOptions):
        return frozenset(given.model_fields_set)
    return frozenset(map(to_snake, given)) if isinstance(given, Mapping) else frozenset()


def _unknown(options: JudgeModelOptions) -> Iterator[str]:
    known = JudgeModelOptions.model_fields
    for name in options.model_extra or ():
        yield f"{OPTIONS}.{name}: unknown option.{did_you_mean(name, known)} It takes: {', '.join(known)}"
