"""When two tool calls are the same, how their arguments differ, and the rules that match lists of calls.

Implementations of the format disagree about equal arguments, so there are several definitions (`EQUALITIES`):

| | `json` | `python` | `strict` | `javascript` |
|---|---|---|---|---|
| used by | Proctor's other metrics | google-adk, agentevals | adk-rs | @iqai/adk |
| `1` and `1.0` | equal | equal | differ | equal |
| `true` and `1` | differ | equal | differ | differ |
| missing or null arguments, and `{}` | equal | differ | differ | equal |
| order of nested keys | ignored | ignored | ignored | counts |
| whole numbers beyond 2^53 | exact | exact | exact up to 64 bits | rounded |

Names must be equal; ids are never compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from proctor.common.json_values import equal_json
from proctor.metrics.base import CaseView, Survey
from proctor.metrics.text.one_to_one import most_pairs
from proctor.schema.format.case import EvalCase
from proctor.schema.results.score import expectation_entry

Equal = Callable[[object, object], bool]


class Call(Protocol):
    """A tool call, as far as trajectory metrics read it."""

    @property
    def name(self) -> str | None:
        """The name of the tool."""

    @property
    def args(self) -> dict[str, object] | None:
        """The arguments; `None` if none are stated."""


Same = Callable[[Call, Call], bool]
"""A predicate of an expected and an actual call: are they equal?"""


@dataclass(frozen=True, slots=True)
class ArgumentDifference:
    """One argument in which a call differs from the expected one."""

    name: str
    """The argument; empty if the arguments as a whole differ (null and `{}`)."""
    kind: str
    """`differs`, `missing` (expected, not given) or `extra` (given, not expected)."""
    expected: object = None
    actual: object = None
    rule: str = ""
    """What is expected in words, if that is more than one value (a matcher)."""

    def to_data(self) -> dict[str, object]:
        """Return the difference as JSON, with the existing sides."""
        data: dict[str, object] = {"name": self.name, "kind": self.kind}
        if self.kind != "extra":
            data["expected"] = self.expected
        if self.kind != "missing":
            data["actual"] = self.actual
        if self.rule:
            data |= expectation_entry(self.rule)
        return data


class Matching(Protocol):
    """A definition of "the same call"."""

    @property
    def is_equivalence(self) -> bool:
        """Return whether two calls that are the same as a third are the same as each other."""

    def same(self, expected: Call, actual: Call) -> bool:
        """Return whether the actual call is the expected one."""
        return expected.name == actual.name and not self.differences(expected, actual)

    def differences(self, expected: Call, actual: Call) -> list[ArgumentDifference]:
        """Return how the arguments of two calls of one tool differ; empty exactly if the calls are the same."""

    def unreadable(self, case: EvalCase) -> Iterable[str]:
        """Return the expected values of a case that cannot be compared."""
        return ()

    def survey(self) -> Survey | None:
        """Return the survey for the tools and arguments that the criterion names."""
        return None

    def warning(self, case: CaseView) -> str:
        """Return a warning about names of the criterion that a trial does not know."""
        return ""


class ByName(Matching):
    """Calls of one tool are the same, with any arguments."""

    is_equivalence = True

    def same(self, expected: Call, actual: Call) -> bool:
        """Compare the names."""
        return expected.name == actual.name

    def differences(self, expected: Call, actual: Call) -> list[ArgumentDifference]:
        """Return nothing: arguments are not compared."""
        return []


@dataclass(frozen=True, slots=True)
class ByValue(Matching):
    """Calls of one tool with equal arguments are the same."""

    equal: Equal
    """Whether two values of an argument are equal."""
    null_is_empty: bool
    """Whether missing or null arguments are equal to `{}`."""
    is_equivalence: bool = True

    def same(self, expected: Call, actual: Call) -> bool:
        """Compare names and arguments."""
        if expected.name != actual.name:
            return False
        expected_args, actual_args = expected.args, actual.args
        if self.equal is _equal_in_python:
            return bool(expected_args == actual_args)  # the same, and by far the most frequent
        if self.null_is_empty:
            expected_args, actual_args = expected_args or {}, actual_args or {}
        if expected_args is None or actual_args is None or expected_args.keys() != actual_args.keys():
            return expected_args is actual_args
        return all(self.equal(value, actual_args[name]) for name, value in expected_args.items())

    def differences(self, expected: Call, actual: Call) -> list[ArgumentDifference]:
        """Return each argument that differs, in the order of the expected ones, then of the others."""
        differences = argument_differences(expected.args or {}, actual.args or {}, self.equal)
        if differences or self.same(expected, actual):
            return differences
        return [ArgumentDifference("", "differs", expected.args, actual.args)]


def argument_differences(
    expected: Mapping[str, object], actual: Mapping[str, object], equal: Equal
) -> list[ArgumentDifference]:
    """Compare argument by argument, in the order of the expected ones, then of the others."""
    differences = []
    for name, value in expected.items():
        if name not in actual:
            differences.append(ArgumentDifference(name, "missing", expected=value))
        elif not equal(value, actual[name]):
            differences.append(ArgumentDifference(name, "differs", value, actual[name]))
    differences += [
        ArgumentDifference(name, "extra", actual=actual[name]) for name in actual if name not in expected
    ]
    return differences


def equal_strictly(expected: object, actual: object) -> bool:
    """Return whether two JSON values are equal, with 1 and 1.0 different. Whole numbers beyond 64 bits count as floats."""
    if isinstance(expected, int | float) or isinstance(actual, int | float):
        one, other = _in_64_bits(expected), _in_64_bits(actual)
        return bool(type(one) is type(other) and one == other)
    return _equal_inside(expected, actual, equal_strictly)


def equal_in_javascript(expected: object, actual: object) -> bool:
    """Return whether the JSON texts are equal: nested keys in the same order, all numbers doubles."""
    return bool(_text(expected) == _text(actual))


def _equal_in_python(expected: object, actual: object) -> bool:
    return expected is actual or bool(expected == actual)


def _equal_inside(expected: object, actual: object, equal: Equal) -> bool:
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return expected.keys() == actual.keys() and all(equal(expected[key], actual[key]) for key in expected)
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return len(expected) == len(actual) and all(map(equal, expected, actual))
    return bool(expected == actual)


def _in_64_bits(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return _as_double(value)
    return value


def _as_double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _text(value: object) -> object:
    """Return what distinguishes two values in JavaScript's JSON text; -0 is 0, and a number that is not finite is null."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = _as_double(value)
        return ("number", number) if abs(number) < float("inf") else None
    if isinstance(value, Mapping):
        return ("object", *((key, _text(value[key])) for key in _in_javascript_order(value)))
    if isinstance(value, list | tuple):
        return ("array", *map(_text, value))
    return None if value is None else (type(value).__name__, value)


def _in_javascript_order(value: Mapping[str, object]) -> list[str]:
    """Return the keys: array indices first, by their number, then the others in their order."""
    indices = [key for key in value if key.isascii() and key.isdigit() and str(int(key)) == key]
    indices = [key for key in indices if int(key) < 2**32 - 1]
    return [*sorted(indices, key=int), *(key for key in value if key not in indices)]


NAMES = ByName()
PYTHON = ByValue(_equal_in_python, null_is_empty=False)
EQUALITIES: Mapping[str, ByValue] = {
    "json": ByValue(equal_json, null_is_empty=True),
    "python": PYTHON,
    "strict": ByValue(equal_strictly, null_is_empty=False),
    "javascript": ByValue(equal_in_javascript, null_is_empty=True),
}


# --- Rules that match actual calls with expected ones: each gives a count, or a yes or no. The caller passes the equality ---


def same(expected: Call, actual: Call) -> bool:
    """Return whether two calls are equal as google-adk compares them."""
    return expected.name == actual.name and expected.args == actual.args


def exact(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> bool:
    """Return whether the actual calls are the expected ones, in the same order, and no others."""
    return len(expected) == len(actual) and all(map(same, expected, actual))


def in_order(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> bool:
    """Return whether the expected calls occur in this order, with others in between. Nothing expected: true."""
    remaining = iter(actual)
    return all(any(same(expected_call, call) for call in remaining) for expected_call in expected)


def contained(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> bool:
    """Return whether the expected calls occur, as often as expected, in any order among others. Nothing expected: true."""
    return found(expected, actual, same) == len(expected)


def in_place(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """Return the number of calls at exactly the expected position."""
    return sum(map(same, expected, actual))


def found_in_order(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """Return the length of the longest common subsequence: expected calls that were made in their order."""
    longest = [0] * (len(actual) + 1)
    for expected_call in expected:
        diagonal = 0
        for j, actual_call in enumerate(actual, 1):
            above = longest[j]
            longest[j] = diagonal + 1 if same(expected_call, actual_call) else max(above, longest[j - 1])
            diagonal = above
    return longest[-1]


def found(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """Return the largest number of expected calls that were made, with each actual call matched once."""
    count = found_at_first(expected, actual, same)
    if count == min(len(expected), len(actual)) or _is_equivalence(same):
        return count
    # if a call equals several that differ from each other, another expected call may need the first match
    return len(most_pairs(len(expected), len(actual), lambda i, j: same(expected[i], actual[j])))


def found_at_first(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """Return the number of expected calls made if each takes its first match; the maximum if `same` is an equivalence."""
    left = list(actual)
    count = 0
    for expected_call in expected:
        for index, call in enumerate(left):
            if same(expected_call, call):
                del left[index]
                count += 1
                break
    return count


def _is_equivalence(same: Same) -> bool:
    """Return whether `same` is an equivalence; most often it is the method of a `Matching`, which has the information."""
    return bool(getattr(getattr(same, "__self__", None), "is_equivalence", True))


def count_expected_made(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """Return how many expected calls occur among the actual ones; an actual call may match several equal ones."""
    return sum(any(same(expected_call, actual_call) for actual_call in actual) for expected_call in expected)


def expected_of_those_made(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """Return how many actual calls occur among the expected ones; an expected call may match several equal ones."""
    return sum(any(same(expected_call, actual_call) for expected_call in expected) for actual_call in actual)
