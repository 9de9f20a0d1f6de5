"""The base class of trajectory metrics: which calls are the same, one score per turn, and its explanation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import ClassVar, Generic, Literal, TypeVar

from proctor.metrics.base import (
    CaseView,
    MetricFacts,
    Survey,
    comparison_facts,
    expected_calls,
    expected_turns,
    no_recording_score,
)
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.matchers.base import ARGUMENTS as BY_MATCHERS
from proctor.metrics.trajectory.alignment import Alignment, StepKind, align
from proctor.metrics.trajectory.call_matching import EQUALITIES, NAMES, Call, Matching
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

ARGUMENTS: Mapping[str, str] = {
    "ignore_args": "true: compare only the names of the tools",
    "equality": "json (the default), python, strict or javascript: which arguments are equal",
    **BY_MATCHERS,
}

call_facts = partial(comparison_facts, options=ARGUMENTS, statement=expected_calls)
"""Return the facts of a metric that compares the calls of a turn; see `comparison_facts`."""


class CallsCriterion(BaseCriterion):
    """For metrics that compare tool calls."""

    ignore_args: bool = False
    equality: Literal["json", "python", "strict", "javascript"] = "json"
    arguments: object = None


C = TypeVar("C", bound=CallsCriterion)
Calls = Sequence[Call]


class TrajectoryMetric(ABC, Generic[C]):
    """Scores the tool calls of each turn against the expected ones; overall the mean over the applicable turns."""

    facts: MetricFacts
    kind: type[C]
    order_matters = False
    allowed: ClassVar[tuple[StepKind, ...]] = ()
    """The kinds of differences that do not lower the score."""

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        self.criterion = check_criterion(self.facts, criterion, self.kind)
        options = self.criterion
        self.matching: Matching = NAMES if options.ignore_args else EQUALITIES[options.equality]
        if options.arguments is not None:
            from proctor.metrics.matchers.tool_arguments import by_matchers

            values = EQUALITIES[options.equality]
            self.matching = by_matchers(
                self.facts.name, options.arguments, values, ignore_args=options.ignore_args
            )

    @abstractmethod
    def compare(self, expected: Calls, actual: Calls) -> Score:
        """Score the calls of one turn: 0 to 1, or not applicable with a reason."""

    @abstractmethod
    def explain_difference(self, expected: Calls, actual: Calls, alignment: Alignment) -> str:
        """Return why one turn does not score 1; empty if it does."""

    def explain_full_score(self, expected: Calls) -> str:
        """Return why one turn scores 1."""
        return "every expected call was made" if expected else "no calls expected, and none needed"

    def check(self, case: EvalCase) -> Iterable[str]:
        """Return the expected values of a case that the matchers of `arguments` cannot compare."""
        return [f"{self.facts.name}: {problem}" for problem in self.matching.unreadable(case)]

    def survey(self) -> Survey | None:
        """Return the survey for tools and arguments of `arguments` that no case expects."""
        return self.matching.survey()

    def score(self, case: CaseView) -> MetricScore:
        """Compare turn by turn; without recorded conversation it is not applicable."""
        if case.expected is None:
            return no_recording_score(case)
        turns = zip(case.turns, expected_turns(case), strict=True)
        return mean_score([self.compare(expected.tool_calls, turn.tool_calls) for turn, expected in turns])

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Return which calls are missing, extra or in another place, and which arguments differ."""
        turn_score = score.per_invocation[index]
        expected, actual = self.sides(case, index)
        alignment = align(expected, actual, self.matching, order_matters=self.order_matters)
        alignment.allow(*self.allowed)
        reason = (
            turn_score.reason
            or self.explain_difference(expected, actual, alignment)
            or self.explain_full_score(expected)
        )
        return Explanation(reason, alignment.to_details(), turn_score.warning or self.matching.warning(case))

    def sides(self, case: CaseView, index: int) -> tuple[Calls, Calls]:
        """Return the expected and the actual calls of one turn."""
        return (case.expected or [])[index].tool_calls, case.turns[index].tool_calls


def open_to_any(score: Score, expected: Calls, actual: Calls) -> Score:
    """Warn if further calls are allowed and nothing is expected: then any calls score 1."""
    if actual and not expected:
        score.warning = "no calls are expected, so this metric accepts any calls"
    return score
