"""The metric `json_equal`: whether the answer is the expected JSON value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from math import isfinite
from typing import Annotated, Literal

from pydantic import Field

from proctor.errors import CriterionError, MetricError
from proctor.metrics.base import comparison_facts
from proctor.metrics.criterion_check import misfit
from proctor.metrics.matchers.contrary_values import CANNOT_FAIL, accepts_everything
from proctor.metrics.reason_text import and_more, show_pair, show_text, show_value
from proctor.metrics.text.answer import TURNS, AnswerMetric, Expected
from proctor.metrics.text.json.difference import Difference, Rules, json_differences
from proctor.metrics.text.json.parse import json_in, not_json_reason, read_json
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, Score

DEEPEST = 200
"""The maximum nesting of an expected value."""
MOST_DIFFERENCES = 100
"""The number in the details; the reason names only a few."""


class JsonCriterion(BaseCriterion):
    """The expected value, and the allowed differences."""

    expected: object = None
    strict: bool = False
    ignore_order: bool = False
    allow_extra: bool = False
    tolerance: Annotated[float, Field(ge=0)] = 0.0
    anywhere: bool = False
    turns: Literal["all", "last"] = "all"


class JsonEqual(AnswerMetric[JsonCriterion]):
    """1.0 if the final answer is JSON and equal to the expected value, else 0.0; overall the mean.

    The order of keys and white space do not count, `1` is `1.0` and `1e0`, `-0` is `0`, `true` is not `1`. Numbers are
    compared to the last digit, texts and keys character by character (é in one character is not é in two: JSON knows no
    normal form). One pair of code fences around the JSON is ignored; with any other text it is not JSON. A reference
    answer that is not JSON is an error of the case, not of the agent.
    """

    facts = comparison_facts(
        "json_equal",
        "Whether the final answer is JSON and equal to the expected value.",
        "JSON (RFC 8259); equality of parsed values",
        example={"threshold": 1.0, "expected": {"city": "Paris", "celsius": 21}, "anywhere": True},
        options={
            "anywhere": "true: an equal object or list anywhere in the answer is enough, with any text around it",
            "strict": "true: 1 and 1.0 differ",
            "ignore_order": "true: lists are equal in any order",
            "allow_extra": "true: objects may have keys that are not expected",
            "tolerance": "the largest allowed difference of numbers (default 0)",
            "expected": "the value (JSON, not text that holds JSON), instead of the case's reference answer",
            **TURNS,
        },
    )
    kind = JsonCriterion

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        options = self.criterion
        self._rules = Rules(options.strict, options.ignore_order, options.allow_extra, options.tolerance)
        if self._accepts_everything(0):
            raise misfit(
                self.facts.name, [f"tolerance: {options.tolerance:g} is so large that every number is equal"]
            )
        if self._expected and self._accepts_everything(self._expected[0]):
            raise misfit(self.facts.name, [f"expected: {show_value(self._expected[0])}: {CANNOT_FAIL}"])

    def expected_by_criterion(self) -> Expected | None:
        """Return the expected value, which may be null."""
        if "expected" not in self.criterion.model_fields_set:
            return None
        value = self.criterion.expected
        if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
            raise CriterionError(
                "The criterion of 'json_equal' does not fit: expected: this is a text that contains JSON; write the value "
                "itself, without quotes around it."
            )
        if problem := _not_json(value):
            raise CriterionError(f"The criterion of 'json_equal' does not fit: expected: {problem}.")
        return [json.loads(json.dumps(value))]

    def parse_reference(self, reference: str) -> Expected:
        """Return the value of the reference answer.

        Raises:
            MetricError: it is not JSON.
        """
        if not reference.strip():
            return []
        try:
            return [read_json(reference, exact=True)]
        except ValueError as error:
            raise MetricError(f"the reference answer {show_text(reference)} is not JSON: {error}") from error

    def check(self, case: EvalCase) -> Iterator[str]:
        """Yield the reference answers that are not JSON, or accept every value."""
        yield from self.unreadable(case)
        for number, turn in enumerate((case.conversation or ()) if self._expected is None else (), 1):
            with suppress(MetricError):  # reported above
                if (expected := self.parse_reference(self.text(turn))) and self._accepts_everything(
                    expected[0]
                ):
                    yield f"{self.facts.name}: turn {number}: the reference answer {show_value(expected[0])}: {CANNOT_FAIL}"

    def compare(self, expected: Expected, answer: str) -> Score:
        """Return 1 for an equal value; with `anywhere`, if one of the values in the answer is equal."""
        try:
            values = self._values(answer)
        except ValueError:
            return Score(0.0)
        return Score(1.0 if any(self._first(expected[0], actual) is None for actual in values) else 0.0)

    def explain_answer(self, expected: Expected, answer: str) -> Explanation:
        """Return where the values differ (for the nearest of several), or why the answer is not JSON."""
        expected_value = expected[0]
        try:
            candidates = [
                (actual, [*json_differences(expected_value, actual, self._rules)])
                for actual in self._values(answer)
            ]
        except ValueError as error:
            return Explanation(not_json_reason(answer, error))
        actual, mismatches = min(candidates, key=lambda each: len(each[1]))
        reason = (
            "; ".join(and_more([_sentence(each) for each in mismatches]))
            or "the answer is the expected value"
        )
        details = {
            "text": {"expected": _pretty(expected_value), "actual": _pretty(actual)},
            "differences": [_plain(each.to_data()) for each in mismatches[:MOST_DIFFERENCES]],
        }
        return Explanation(reason, details)

    def _accepts_everything(self, expected: object) -> bool:
        return accepts_everything(lambda value: self._first(expected, value) is None, expected)

    def _first(self, expected: object, actual: object) -> Difference | None:
        try:
            return next(json_differences(expected, actual, self._rules), None)
        except RecursionError:
            raise MetricError(
                "the expected and the actual value are nested too deeply to be compared"
            ) from None

    def _values(self, answer: str) -> list[object]:
        return json_in(answer, exact=True) if self.criterion.anywhere else [read_json(answer, exact=True)]


def _not_json(value: object, path: str = "$", depth: int = 0) -> str:
    """Return what in a value is not JSON; empty if all is."""
    if depth > DEEPEST:
        return f"it is nested deeper than {DEEPEST} levels"
    if not isinstance(value, dict | list | tuple):
        return "" if _is_scalar(value) else f"{value!r} at {path} is not JSON"
    keys = value if isinstance(value, dict) else ()
    if wrong_key := next((name for name in keys if not isinstance(name, str)), None):
        return f"the key {wrong_key!r} at {path} is not a text; put it in quotes"
    problems = (_not_json(each, place, depth + 1) for each, place in _members(value, path))
    return next(filter(None, problems), "")


def _is_scalar(value: object) -> bool:
    is_number = isinstance(value, int) or (isinstance(value, float) and isfinite(value))
    return value is None or isinstance(value, str) or is_number


def _members(
    value: dict[object, object] | list[object] | tuple[object, ...], path: str
) -> Iterator[tuple[object, str]]:
    """Yield the values in an object or a list, each with its path."""
    if isinstance(value, dict):
        yield from ((each, f"{path}.{name}") for name, each in value.items())
    else:
        yield from ((each, f"{path}[{index}]") for index, each in enumerate(value))


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True, default=float)


def _plain(value: object) -> object:
    """Return the value for reports, with floats as numbers."""
    return json.loads(json.dumps(value, default=float))


def _sentence(difference: Difference) -> str:
    if difference.kind == "missing":
        return f"{difference.path} is missing, expected {_show(difference.expected)}"
    if difference.kind == "extra":
        return f"{difference.path} is {_show(difference.actual)}, expected none"
    expected, actual = difference.expected, difference.actual
    if isinstance(expected, Decimal) or isinstance(actual, Decimal):
        return f"{difference.path} is {_show(actual)}, expected {_show(expected)}"
    expected, actual = show_pair(_plain(expected), _plain(actual))
    return f"{difference.path} is {actual}, expected {expected}"


def _show(value: object) -> str:
    """Return a value as text; a number with all its digits."""
    if not isinstance(value, Decimal):
        return show_value(_plain(value))
    digits = repr(float(value)) if Decimal(repr(float(value))) == value else str(value)
    return digits if len(digits) <= 60 else f"{digits[:40]}…{digits[-15:]}"
