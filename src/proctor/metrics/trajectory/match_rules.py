"""Do the tool calls that an agent made match the expected ones? Closed rules, each a share from 0 to 1 or a yes or no.

What "the same call" means is handed in (see `matching`); without it two calls are the same as google-adk compares them:
equal names, and arguments equal as Python values (`1 == 1.0 == true`; the order of keys does not count, that of lists
does; null arguments differ from `{}`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from proctor.metrics.text.one_to_one import most_pairs

__all__ = [
    "Call", "Same", "contained", "exact", "expected_of_those_made", "found", "found_at_first", "found_in_order", "in_order", "in_place",
    "made_of_those_expected", "same",
]  # fmt: skip


class Call(Protocol):
    """A tool call, as far as trajectories look at it."""

    @property
    def name(self) -> str | None:
        """The tool."""

    @property
    def args(self) -> dict[str, Any] | None:
        """The arguments; `None` where none were stated."""


Same = Callable[[Call, Call], bool]
"""Whether the second call, one that was made, is the first, an expected one."""


def same(wanted: Call, made: Call) -> bool:
    """Return whether one call matches another as google-adk compares them."""
    return wanted.name == made.name and wanted.args == made.args


def exact(expected: Sequence[Call], actual: Sequence[Call], same: Same | None = None) -> bool:
    """The same calls in the same order, and no others."""
    if len(expected) != len(actual):
        return False
    if same is not None:
        return all(map(same, expected, actual))
    for wanted, made in zip(expected, actual):  # noqa: B905 - as long as each other; `strict` takes longer than the rest
        if wanted.name != made.name or wanted.args != made.args:
            return False
    return True


def in_order(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> bool:
    """The expected calls in this order; others may stand between. Nothing expected: always true."""
    made = iter(actual)
    return all(any(same(wanted, call) for call in made) for wanted in expected)


def contained(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> bool:
    """The expected calls, as often as expected, in any order among others. Nothing expected: always true."""
    return found(expected, actual, same) == len(expected)


def in_place(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """How many calls stand at the very position where they are expected."""
    return sum(map(same, expected, actual))


def found_in_order(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """How many expected calls, at most, were made in their order (the longest common subsequence)."""
    longest = [0] * (len(actual) + 1)
    for wanted in expected:
        diagonal = 0
        for j, made in enumerate(actual, 1):
            above = longest[j]
            longest[j] = diagonal + 1 if same(wanted, made) else max(above, longest[j - 1])
            diagonal = above
    return longest[-1]


def found(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """How many expected calls, at most, were made, each call counting once."""
    count = found_at_first(expected, actual, same)
    if count == min(len(expected), len(actual)) or _is_equivalence(same):
        return count
    # where a call may fit several that do not fit each other, the first that fits may be needed elsewhere
    return len(most_pairs(len(expected), len(actual), lambda i, j: same(expected[i], actual[j])))


def found_at_first(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """How many expected calls were made when each takes the first that fits; the most there are where `same` is an equivalence."""
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
    """`same` is most often the method of a `Matching`, which says so."""
    return bool(getattr(getattr(same, "__self__", None), "is_equivalence", True))


def made_of_those_expected(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """How many expected calls occur among those made; one that was made serves any number of equal ones."""
    return sum(any(same(wanted, made) for made in actual) for wanted in expected)


def expected_of_those_made(expected: Sequence[Call], actual: Sequence[Call], same: Same = same) -> int:
    """How many of the calls made occur among the expected ones, likewise."""
    return sum(any(same(wanted, made) for wanted in expected) for made in actual)
