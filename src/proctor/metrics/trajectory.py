"""Do the tool calls that an agent made match the expected ones? Three closed rules, true or false.

The rules are google-adk's: a call matches another when its name is equal and, unless arguments are ignored, its
parsed arguments are equal as Python values (`1 == 1.0 == true`; the order of keys does not count, that of lists
does; null arguments differ from `{}`). Ids are not compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

__all__ = ["Call", "contained", "exact", "in_order"]


class Call(Protocol):
    """A tool call, as far as trajectories look at it."""

    @property
    def name(self) -> str | None:
        """The tool."""

    @property
    def args(self) -> dict[str, Any] | None:
        """The arguments; `None` where none were stated."""


def exact(expected: Sequence[Call], actual: Sequence[Call], *, ignore_args: bool = False) -> bool:
    """The same calls in the same order, and no others."""
    if len(expected) != len(actual):
        return False
    for wanted, made in zip(expected, actual):  # noqa: B905 - as long as each other; `strict` takes longer than the rest
        if wanted.name != made.name or not (ignore_args or wanted.args == made.args):
            return False
    return True


def in_order(expected: Sequence[Call], actual: Sequence[Call], *, ignore_args: bool = False) -> bool:
    """The expected calls in this order; others may stand between. Nothing expected: always true."""
    made = iter(actual)
    return all(any(same(wanted, call, ignore_args=ignore_args) for call in made) for wanted in expected)


def contained(expected: Sequence[Call], actual: Sequence[Call], *, ignore_args: bool = False) -> bool:
    """The expected calls, as often as expected, in any order among others. Nothing expected: always true."""
    left = list(actual)
    for wanted in expected:
        for index, call in enumerate(left):
            if same(wanted, call, ignore_args=ignore_args):
                del left[index]
                break
        else:
            return False
    return True


def same(wanted: Call, made: Call, *, ignore_args: bool = False) -> bool:
    """Tell whether one call matches another."""
    return wanted.name == made.name and (ignore_args or wanted.args == made.args)
