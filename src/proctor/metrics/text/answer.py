"""The base class of metrics of the final answer: the expected text, and the turns that are scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BeforeValidator, Field

from proctor.errors import CriterionError, MetricError
from proctor.metrics.base import (
    CaseView,
    MetricFacts,
    expected_turns,
    is_adk_compatible,
    no_recording_score,
    supplied,
)
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.text.visible_text import is_blank
from proctor.metrics.text.word_overlap import NO_ANSWER
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

NO_REFERENCE = "the case states no reference answer for this turn"
NOT_ASKED = "only the last turn is scored"

TURNS = {"turns": "last (score only the last turn of a conversation) or all (the default)"}
EXPECTED = {
    "expected": "the text to compare with (or a list of texts, the best of which counts), instead of the case's"
}


def one_or_several(value: Any) -> Any:
    """Return a list unchanged, None unchanged, and any other value as a list of one."""
    return value if value is None or isinstance(value, list) else [value]


Texts = Annotated[list[str], BeforeValidator(one_or_several), Field(min_length=1)]


class TextCriterion(BaseCriterion):
    """For metrics of the final answer: expected texts, and the turns that are scored."""

    expected: Texts | None = None
    turns: Literal["all", "last"] = "all"


Expected = Sequence[Any]
"""The values that an answer is compared with: several if the criterion lists them."""

C = TypeVar("C", bound=BaseCriterion)


class AnswerMetric(ABC, Generic[C]):
    """Scores the final answer of each turn; overall the mean.

    The expected value comes from the criterion, or else from the case's `final_response` of the turn; a turn with
    neither is not applicable. Thoughts are not part of an answer (`compat: "adk"`: they are).

    A subclass compares one answer: `compare` gives the score, `explain_answer` the explanation.
    """

    facts: MetricFacts
    criterion: C
    kind: type[C]
    accepts_blank = False
    """Whether a blank expected text is compared like any other."""
    nothing_stated = NO_REFERENCE
    """The reason for a turn without an expected value."""

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        self.criterion = check_criterion(self.facts, criterion, self.kind)
        self.as_in_adk = is_adk_compatible(self.criterion)
        self._is_for_last_turn = getattr(self.criterion, "turns", "all") == "last"
        self._expected = self.expected_by_criterion()
        if self._expected is not None:
            self.facts = replace(
                self.facts, needs=self.facts.needs - {"expected"}, statement=supplied(self._expected)
            )

    @abstractmethod
    def compare(self, expected: Expected, answer: str) -> Score:
        """Score one answer; 0 to 1."""

    @abstractmethod
    def explain_answer(self, expected: Expected, answer: str) -> Explanation:
        """Explain the score of one answer."""

    def expected_by_criterion(self) -> Expected | None:
        """Return the values that the criterion expects; `None` if it leaves that to the case."""
        expected: list[str] | None = getattr(self.criterion, "expected", None)
        if expected is not None and not self.accepts_blank and any(map(is_blank, expected)):
            raise CriterionError(
                f"The criterion of {self.facts.name!r} does not fit: expected: a blank text, "
                "which no answer can be compared with."
            )
        return expected

    def parse_reference(self, reference: str) -> Expected:
        """Return the values that the case's reference text expects; empty if it states nothing to compare with."""
        return [] if is_blank(reference) else [reference]

    def asks(self, expected: Expected) -> bool:
        """Return whether there is anything to compare an answer with."""
        return bool(expected)

    def applies(self, case: EvalCase) -> bool:
        """Return whether any turn has an expected value; one that cannot be read is an error when it is scored."""
        if self._expected is not None:
            return True
        turns = case.conversation or []
        try:
            return any(
                self.asks(self.parse_reference(self.text(each)))
                for each in turns[self._first_turn(len(turns)) :]
            )
        except MetricError:
            return True

    def reason_not_applicable(self, case: EvalCase) -> str:
        """Return what the case lacks."""
        return "no turn of the case states a reference answer (`final_response`)"

    def unreadable(self, case: EvalCase) -> Iterator[str]:
        """Yield the reference answers that cannot be read: for metrics whose `parse_reference` may raise."""
        turns = (case.conversation or []) if self._expected is None else []
        first = self._first_turn(len(turns))
        for number, expected in enumerate(turns[first:], first + 1):
            try:
                self.parse_reference(self.text(expected))
            except MetricError as error:
                yield f"{self.facts.name}: turn {number}: {error}"

    def score(self, case: CaseView) -> MetricScore | Awaitable[MetricScore]:
        """Compare turn by turn."""
        if self._expected is None and case.expected is None:
            return no_recording_score(case)
        return mean_score([self._turn(case, index) for index in range(len(case.actual))])

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Return why the answer of this turn got its score."""
        turn_score = score.per_invocation[index]
        expected = self.expected_of(case, index) if not turn_score.not_applicable else turn_score
        if isinstance(expected, Score):
            return Explanation(expected.reason)
        answer = self.text(case.actual[index])
        explanation = self.explain_answer(expected, answer)
        if is_blank(answer) and turn_score.value == 0:
            explanation.reason = NO_ANSWER
        return explanation

    def expected_of(self, case: CaseView, index: int) -> Expected | Score:
        """Return the expected values of one turn, or the score of a turn without any."""
        if self._is_for_last_turn and index < len(case.actual) - 1:
            return Score(reason=NOT_ASKED, not_applicable=True)
        expected = self._expected
        if expected is None:
            expected = self.parse_reference(self.text(expected_turns(case)[index]))
        return expected if self.asks(expected) else Score(reason=self.nothing_stated, not_applicable=True)

    def _turn(self, case: CaseView, index: int) -> Score:
        expected = self.expected_of(case, index)
        return (
            expected if isinstance(expected, Score) else self.compare(expected, self.text(case.actual[index]))
        )

    def _first_turn(self, turns: int) -> int:
        """Return the first of `turns` turns that is scored."""
        return max(0, turns - 1) if self._is_for_last_turn else 0

    def text(self, invocation: Invocation) -> str:
        """Return the text of a turn's final answer."""
        return text_of(invocation.final_response, thoughts=self.as_in_adk)
