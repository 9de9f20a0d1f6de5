"""`numeric_match`: does the answer state the expected number?"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from proctor.errors import CriterionError
from proctor.metrics.base import MetricFacts
from proctor.metrics.text.answer import TURNS, AnswerMetric, Expected, one_or_several
from proctor.metrics.text.numbers import DecimalSign, numbers_in
from proctor.metrics.text.one_to_one import equal_pairs, pairs_within
from proctor.metrics.wording import and_more
from proctor.schema.criterion import BaseCriterion
from proctor.schema.score import Explanation, Score

__all__ = ["NumericMatch"]

NO_NUMBER = "the case states no number in its reference answer for this turn"

Number = bool | int | float | str


class NumericCriterion(BaseCriterion):
    """The numbers that are expected, how close is close enough, and which numbers of the answer count."""

    expected: Annotated[list[Number], BeforeValidator(one_or_several), Field(min_length=1)] | None = None
    tolerance: Annotated[float, Field(ge=0)] = 0.0
    relative_tolerance: Annotated[float, Field(ge=0, lt=1)] = 0.0
    pick: Literal["any", "all", "first", "last"] = "any"
    words: bool = False
    decimal: DecimalSign = "."
    turns: Literal["all", "last"] = "all"


class NumericMatch(AnswerMetric[NumericCriterion]):
    """The share of the expected numbers that the final answer states; overall the mean.

    Numbers are compared as decimals, exactly or within a tolerance: 0.1 + 0.2 is 0.3. Those of a reference answer are
    all numbers in it, and each must be matched by a number of its own. How numbers are read from text: see
    `proctor.metrics.text.numbers`.
    """

    facts = MetricFacts(
        name="numeric_match",
        description="Whether the final answer states the expected numbers.",
        default_threshold=1.0,
        example={"numeric_match": {"threshold": 1.0, "tolerance": 0.5}},
        needs=frozenset({"expected"}),
        options={
            "pick": "last or first (compare the last, or first, number of both texts), all (the answer has the expected "
            "numbers and no others, in any order) or any (the default: it has them among others)",
            "tolerance": "how far numbers may lie apart (default 0)",
            "relative_tolerance": "the same as a share of the expected number (0.01: one in a hundred)",
            "words": "true: English number words are numbers (forty-two, 3 million)",
            "decimal": "the sign before decimals: '.' (the default) or ','; the other one separates thousands",
            "expected": "a number, a text with numbers, or a list of these, instead of the case's reference answer",
            **TURNS,
        },
        source="numbers compared as decimals",
    )
    kind = NumericCriterion
    nothing_stated = NO_NUMBER

    def given(self) -> Expected | None:
        """The numbers of the criterion.

        Raises:
            CriterionError: something in it is or has no number.
        """
        if self.criterion.expected is None:
            return None
        found: list[Decimal] = []
        for each in self.criterion.expected:
            numbers = self._numbers(each)
            if not numbers:
                raise CriterionError(
                    f"The criterion of 'numeric_match' does not fit: expected: there is no number in {each!r}."
                )
            found += numbers
        return self._picked(found)

    def read(self, reference: str) -> Expected:
        """The numbers of the reference answer; none where it states none."""
        return self._picked(self._numbers(reference))

    def compare(self, expected: Expected, answer: str) -> Score:
        """The share that is matched; with `pick: "all"` of all numbers of both sides."""
        made = self._picked(self._numbers(answer))
        pairs = self._pairs(expected, made)
        most = max(len(expected), len(made)) if self.criterion.pick == "all" else len(expected)
        return Score(len(pairs) / most)

    def tell(self, expected: Expected, answer: str) -> Explanation:
        """Which numbers are missing, and what the answer states instead."""
        made = self._picked(self._numbers(answer))
        pairs = self._pairs(expected, made)
        missing = [number for index, number in enumerate(expected) if index not in pairs]
        more = [number for index, number in enumerate(made) if index not in set(pairs.values())]
        details = {"numbers": {"expected": _shown(expected), "actual": _shown(made)}}
        if not made:
            return Explanation(f"the answer states no number; expected {_list(expected)}", details)
        if missing:
            states = f"; the answer states {_list(more or made)}"
            return Explanation(f"not in the answer: {_list(missing)}{states}", details)
        if more and self.criterion.pick == "all":
            return Explanation(f"not expected: {_list(more)}", details)
        near = [made[j] for i, j in sorted(pairs.items()) if made[j] != expected[i]]
        close = f"; within the tolerance: {_list(near)}" if near else ""
        return Explanation(f"the answer states {_list(expected)}{close}", details)

    def _numbers(self, stated: Number) -> list[Decimal]:
        if isinstance(stated, bool):
            return []
        if isinstance(stated, int | float):
            return [Decimal(repr(stated))]
        return numbers_in(stated, self.criterion.decimal, words=self.criterion.words)

    def _picked(self, numbers: list[Decimal]) -> list[Decimal]:
        """Of all numbers of a text those that count."""
        picks = {"first": slice(None, 1), "last": slice(-1, None)}
        return numbers[picks.get(self.criterion.pick, slice(None))]

    def _pairs(self, expected: Expected, made: Sequence[Decimal]) -> dict[int, int]:
        if not (self.criterion.tolerance or self.criterion.relative_tolerance):
            return equal_pairs(expected, made)
        absolute = Decimal(repr(self.criterion.tolerance))
        relative = Decimal(repr(self.criterion.relative_tolerance))
        apart = [max(absolute, relative * abs(number)) for number in expected]
        ranges = [(number - most, number + most) for number, most in zip(expected, apart, strict=True)]
        return pairs_within(ranges, made)


def _shown(numbers: Sequence[Any]) -> list[str]:
    return [f"{number:f}" if abs(number.adjusted()) < 30 else str(number) for number in numbers]


def _list(numbers: Sequence[Any]) -> str:
    return ", ".join(and_more(_shown(numbers), 8))
