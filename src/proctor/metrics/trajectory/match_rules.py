"""Rules that match actual tool calls with expected ones. Each gives a count, or a yes or no.

The caller passes the equality of calls (see `call_equality`). By default two calls are equal as google-adk compares them:
equal names, and arguments equal as Python values (`1 == 1.0 == true`; the order of keys does not count, that of lists
does; null arguments differ from `{}`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from proctor.metrics.text.one_to_one import most_pairs

__all__ = [
    "Call", "Same", "contained", "exact", "expected_of_those_made", "found", "found_at_first", "found_in_order", "in_order", "in_place",
    "made_of_those_expected", "same",
]  # fmt: skip


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


def same(wanted: Call, made: Call) -> bool:
    """Return whether two calls are equal as google-adk compares them."""
    return wanted.name == made.name and wanted.args == made.args


def exact(expected: Sequence[Call], actual: Sequence[Call], same: Same | None = None) -> bool:
    """Return whether the actual calls are the expected ones, in the same order, and no others."""
    if len(expected) != len(actual):
        return False
    if same is not None:
        return all(map(same, expected, actual))
    for wanted, made in zip(expected, actual):  # noqa: B905 - as long as each other; `strict` takes longer than the rest
        if wanted.name != made.name or wanted.args != made.args:
            return False
    return True


def in_order(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> bool:
    """Return whether the expected calls occur in this order, with others in between. Nothing expected: true."""
    made = iter(actual)
    return all(any(same(wanted, call) for call in made) for wanted in expected)


def contained(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> bool:
    """Return whether the expected calls occur, as often as expected, in any order among others. Nothing expected: true."""
    return found(expected, actual, same) == len(expected)


def in_place(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """Return the number of calls at exactly the expected position."""
    return sum(map(same, expected, actual))


def found_in_order(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """Return the length of the longest common subsequence: expected calls that were made in their order."""
    longest = [0] * (len(actual) + 1)
    for wanted in expected:
        diagonal = 0
        for j, made in enumerate(actual, 1):
            above = longest[j]
            longest[j] = diagonal + 1 if same(wanted, made) else max(above, longest[j - 1])
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
    for wanted in expected:
        for index, call in enumerate(left):
            if same(wanted, call):
                del left[index]
                count += 1
                break
    return count


def _is_equivalence(same: Same) -> bool:
    """Return whether `same` is an equivalence; most often it is the method of a `Matching`, which has the information."""
    return bool(getattr(getattr(same, "__self__", None), "is_equivalence", True))


def made_of_those_expected(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """Return how many expected calls occur among the actual ones; an actual call may match several equal ones."""
    return sum(any(same(wanted, made) for made in actual) for wanted in expected)


def expected_of_those_made(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """Return how many actual calls occur among the expected ones; an expected call may match several equal ones."""
    return sum(any(same(wanted, made) for wanted in expected) for made in actual)
