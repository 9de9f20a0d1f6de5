"""The metric `numeric_match`: whether the answer states the expected numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from proctor.errors import CriterionError, MetricError
from proctor.metrics.base import comparison_facts
from proctor.metrics.criterion_check import misfit
from proctor.metrics.matchers.contrary_values import NUMBERS
from proctor.metrics.reason_text import and_more, show_text
from proctor.metrics.text.answer import TURNS, AnswerMetric, Expected, one_or_several
from proctor.metrics.text.numeric.number_forms import DecimalSign, NumberText
from proctor.metrics.text.numeric.numbers import read_numbers
from proctor.metrics.text.one_to_one import equal_pairs, pairs_within
from proctor.metrics.text.visible_text import is_blank
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, Score

NO_NUMBER = "the case states no number in its reference answer for this turn"

Number = bool | int | float | str


class NumericCriterion(BaseCriterion):
    """The expected numbers, the tolerance, and which numbers of the answer count."""

    expected: Annotated[list[Number], BeforeValidator(one_or_several), Field(min_length=1)] | None = None
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    relative_tolerance: Annotated[float, Field(ge=0, lt=1)] = 0.0
    pick: Literal["any", "all", "first", "last"] = "any"
    words: bool = False
    decimal: DecimalSign = "."
    turns: Literal["all", "last"] = "all"


class NumericMatch(AnswerMetric[NumericCriterion]):
    """The share of the expected numbers that the final answer states; overall the mean.

    Numbers are compared as decimals, exactly or within a tolerance: 0.1 + 0.2 is 0.3. All numbers of a reference answer
    are expected, and each must match a different number of the answer. How numbers are read from text: see
    `proctor.metrics.text.numeric.numbers`. A number with several readings matches nothing, and the reason names it.
    """

    facts = comparison_facts(
        "numeric_match",
        "Whether the final answer states the expected numbers.",
        "numbers compared as decimals",
        example={"threshold": 1.0, "tolerance": 0.5},
        options={
            "pick": "last or first (compare the last, or first, number of both texts), all (the answer has the expected "
            "numbers and no others, in any order) or any (the default: it has them among others)",
            "tolerance": "the largest allowed difference of numbers (default 0)",
            "relative_tolerance": "the same as a share of the expected number (0.01: one in a hundred)",
            "words": "true: English number words are numbers (forty-two, 3 million, twenty-five hundred)",
            "decimal": "the sign before decimals: '.' (the default) or ','; the other one separates thousands",
            "expected": "a number, a text with numbers, or a list of these, instead of the case's reference answer",
            **TURNS,
        },
    )
    kind = NumericCriterion
    nothing_stated = NO_NUMBER

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        if all(self._pairs([Decimal(0)], [Decimal(repr(number))]) for number in NUMBERS):
            too_large = f"tolerance: {self.criterion.tolerance:g} is so large that every number matches"
            raise misfit(self.facts.name, [too_large])

    def expected_by_criterion(self) -> Expected | None:
        """Return the numbers of the criterion.

        Raises:
            CriterionError: one is not a number, or has several readings.
        """
        if self.criterion.expected is None:
            return None
        figures: list[NumberText] = []
        for value in self.criterion.expected:
            value_figures = self._figures(value)
            unread = [figure for figure in value_figures if figure.value is None]
            if unread or not value_figures:
                why = f": {_describe(unread[0])}. Write the number itself" if unread else ""
                raise CriterionError(
                    f"The criterion of 'numeric_match' does not fit: expected: there is no number in {value!r}{why}."
                )
            figures += value_figures
        return self._select(figures)

    def parse_reference(self, reference: str) -> Expected:
        """Return the numbers of the reference answer; none if it states none.

        Raises:
            MetricError: it states numbers, but none of those that count can be read.
        """
        numbers = _numbers_of_reference(reference, self.criterion.decimal, self.criterion.words)
        figures = self._select([each for each in numbers if each.counts])
        if figures and all(each.value is None for each in figures):
            raise MetricError(
                f"the number of the reference answer is ambiguous: {'; '.join(and_more([*map(_describe, figures)]))}. Write "
                "it in another way, or state it as the option `expected`"
            )
        return figures

    def reason_not_applicable(self, case: EvalCase) -> str:
        """Return what the case lacks: a reference answer, or a number in it."""
        turns = case.conversation or []
        if all(is_blank(self.text(turn)) for turn in turns[self._first_turn(len(turns)) :]):
            return super().reason_not_applicable(case)
        return "no reference answer of the case (`final_response`) states a number"

    def check(self, case: EvalCase) -> Iterator[str]:
        """Yield the reference answers with numbers that cannot be read."""
        return self.unreadable(case)

    def compare(self, expected: Expected, answer: str) -> Score:
        """Return the share of the expected numbers that match; with `pick: "all"` of all numbers of both sides."""
        expected_numbers = _values(expected)
        selected = self._select([each for each in self._figures(answer) if each.counts])
        pairs = self._pairs(expected_numbers, _values(selected))
        most = (
            max(len(expected_numbers), len(selected))
            if self.criterion.pick == "all"
            else len(expected_numbers)
        )
        unread = [_describe(each) for each in expected if each.value is None]
        warning = f"not compared, of the reference: {'; '.join(and_more(unread))}" if unread else ""
        return Score(len(pairs) / most, warning=warning)

    def explain_answer(self, expected: Expected, answer: str) -> Explanation:
        """Return which numbers are missing, which the answer states instead, and which cannot be read."""
        figures = self._figures(answer)
        selected = self._select([each for each in figures if each.counts])
        expected_numbers, actual_numbers = _values(expected), _values(selected)
        pairs = self._pairs(expected_numbers, actual_numbers)
        unread = [each for each in figures if each.value is None]
        numbers: dict[str, object] = {
            "expected": _show_numbers(expected_numbers),
            "actual": _show_numbers(actual_numbers),
        }
        if unread:
            numbers["unread"] = [{"text": each.text[:100], "why": each.why} for each in unread[:100]]
        reason = self._reason(
            expected_numbers, actual_numbers, pairs, is_all_read=len(selected) == len(actual_numbers)
        )
        if unread and (len(pairs) < len(expected_numbers) or len(selected) > len(actual_numbers)):
            reason += f"; not read as a number: {'; '.join(and_more([*map(_describe, unread)]))}"
        return Explanation(reason, {"numbers": numbers}, self.compare(expected, answer).warning)

    def _reason(
        self,
        expected: Sequence[Decimal],
        actual: Sequence[Decimal],
        pairs: dict[int, int],
        *,
        is_all_read: bool,
    ) -> str:
        if not actual:
            return f"the answer states no number; expected {_list(expected)}"
        missing = _without(expected, pairs)
        more = _without(actual, pairs.values())
        if missing:
            return f"not in the answer: {_list(missing)}; the answer states {_list(more or actual)}"
        takes_all = self.criterion.pick == "all"
        if more and takes_all:
            return f"not expected: {_list(more)}"
        others = " and others" if takes_all and not is_all_read else ""
        return f"the answer states {_list(expected)}{others}{_within_tolerance(expected, actual, pairs)}"

    def _figures(self, value: Number) -> list[NumberText]:
        """Return the numbers of a text, or the number itself."""
        if isinstance(value, bool):
            return []
        if isinstance(value, int | float):
            return [NumberText(repr(value), Decimal(repr(value)))]
        return _numbers_in(value, self.criterion.decimal, self.criterion.words)

    def _select(self, figures: list[NumberText]) -> list[NumberText]:
        """Return the numbers that `pick` selects."""
        picks = {"first": slice(None, 1), "last": slice(-1, None)}
        return figures[picks.get(self.criterion.pick, slice(None))]

    def _pairs(self, expected: Sequence[Decimal], actual: Sequence[Decimal]) -> dict[int, int]:
        if not (self.criterion.tolerance or self.criterion.relative_tolerance):
            return equal_pairs(expected, actual)
        absolute, relative = (
            Fraction(repr(each)) for each in (self.criterion.tolerance, self.criterion.relative_tolerance)
        )
        fractions = [*map(Fraction, expected)]  # decimals would be rounded to 28 digits
        apart = [max(absolute, relative * abs(number)) for number in fractions]
        ranges = [(number - most, number + most) for number, most in zip(fractions, apart, strict=True)]
        return pairs_within(ranges, [*map(Fraction, actual)])


def _within_tolerance(expected: Sequence[Decimal], actual: Sequence[Decimal], pairs: dict[int, int]) -> str:
    """Return in words which numbers match without being equal; empty if all are equal."""
    near = [actual[j] for i, j in sorted(pairs.items()) if actual[j] != expected[i]]
    return f"; within the tolerance: {_list(near)}" if near else ""


def _without(numbers: Sequence[Decimal], indexes: Iterable[int]) -> list[Decimal]:
    """Return the numbers at all other indexes."""
    left_out = set(indexes)
    return [number for index, number in enumerate(numbers) if index not in left_out]


@lru_cache(256)
def _numbers_in(text: str, decimal: DecimalSign, words: bool) -> list[NumberText]:  # noqa: FBT001 - a cache needs positions
    """Return the numbers of a text. Trials of a case share its reference, and often their answers."""
    return read_numbers(text, decimal, words=words)


@lru_cache(
    1024
)  # apart: a plan and every trial read the references of all cases, and answers would displace them
def _numbers_of_reference(text: str, decimal: DecimalSign, words: bool) -> list[NumberText]:  # noqa: FBT001 - as above
    return _numbers_in(text, decimal, words)


def _values(figures: Sequence[NumberText]) -> list[Decimal]:
    return [each.value for each in figures if each.value is not None]


def _describe(figure: NumberText) -> str:
    return f"{show_text(figure.text, 40)} ({figure.why})"


def _show_numbers(numbers: Sequence[Decimal]) -> list[str]:
    return [
        _short(f"{number:f}" if abs(number.adjusted()) < 30 else str(number)) for number in numbers[:1000]
    ]


def _short(digits: str) -> str:
    return digits if len(digits) <= 60 else f"{digits[:40]}…{digits[-15:]}"


def _list(numbers: Sequence[Decimal]) -> str:
    return ", ".join(and_more(_show_numbers(numbers), 8))
