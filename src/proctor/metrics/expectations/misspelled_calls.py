"""Detects an actual call that is a forbidden or limited one, except for a misspelling in the expectation."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.metrics.expectations.actual_calls import Made
from proctor.metrics.expectations.call_patterns import CallPattern
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.kinds import Subset
from proctor.metrics.matchers.templates import Plain, Template
from proctor.metrics.reason_text import show_name, show_value

__all__ = ["Slip", "is_one_slip_from", "slips_between"]


SHORTEST = 3
"""The minimum length of the longer of two names that can be misspellings of each other; `x` and `y` are not."""


@dataclass(frozen=True, slots=True)
class Slip:
    """One reason for a mismatch that is probably a mistake in the expectation."""

    text: str
    is_sure: bool
    """True if it is hardly anything else: the same value with another type, one letter of a name."""


def slips_between(pattern: CallPattern, made: Made, known: Collection[str]) -> list[Slip]:
    """Return the reasons for the mismatch of a call if all of them are slips; empty otherwise, or without a mismatch.

    `known`: arguments that are certainly spelled correctly.
    """
    args, remaining = pattern.args or {}, dict(made.args or {})
    slips: list[Slip | None] = []
    for name, template in args.items():
        if name not in remaining and not template.fits(ABSENT):
            other = None if name in known else _intended_argument(name, remaining, template, args)
            remaining.pop(other or "", None)
            slips.append(
                Slip(f"its argument is called `{show_name(other)}`", is_sure=True) if other else None
            )
        elif not template.fits(value := remaining.pop(name, ABSENT)):
            slips.append(_value_slip(f"`{show_name(name)}`", template, value))
    if pattern.response is not None and not pattern.response.fits(made.response):
        slips.append(_value_slip("response", pattern.response, made.response))
    if pattern.args is not None and remaining and not pattern.other_args:
        return []
    return [] if None in slips else [slip for slip in slips if slip is not None]


def _intended_argument(
    name: str, actual: Mapping[str, Any], template: Template, stated: Collection[str]
) -> str | None:
    candidates = (other for other in actual if other not in stated and is_one_slip_from(name, other))
    return next((other for other in candidates if template.fits(actual[other])), None)


def _value_slip(name: str, template: Template, actual: Any) -> Slip | None:
    """Return the slip if a value is the expected one except for its type, its case, or further keys."""
    shown = show_value(actual) if actual is not ABSENT else "missing"
    if (other := next((each for each in _other_types(actual) if template.fits(each)), None)) is not None:
        return Slip(
            f"its {name} is {shown}, of another type",
            is_sure=isinstance(actual, str) or isinstance(other, str),
        )
    if not isinstance(template, Plain):
        return None
    expected = template.source
    if (
        isinstance(expected, Mapping)
        and isinstance(actual, Mapping)
        and expected
        and Subset().fits(expected, actual)
    ):
        return Slip(f"its {name}, {shown}, has more keys (`subset` allows them)", is_sure=False)
    if isinstance(expected, str) and isinstance(actual, str) and _fold(expected) == _fold(actual):
        return Slip(f"its {name} is {shown} (`text` ignores case and white space)", is_sure=False)
    return None


def _other_types(value: Any) -> Iterator[Any]:
    """Yield the same value written as another type."""
    if isinstance(value, bool):
        yield from (json.dumps(value), str(value), int(value))
    elif isinstance(value, int | float):
        yield from (json.dumps(value), *([bool(value)] if value in (0, 1) else []))
    elif isinstance(value, str) and len(value) <= 40:
        try:
            read = json.loads(value.strip().lower())
        except ValueError:
            return
        if isinstance(read, bool | int | float):
            yield read


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def is_one_slip_from(name: str, other: str) -> bool:
    """Return whether two names differ by one letter (missing, added, replaced, or swapped with the next), ignoring case and separators.

    Names with different digits (`x1`, `x2`) are never a slip.
    """
    one, two = (each.casefold().replace("_", "").replace("-", "") for each in (name, other))
    if max(len(one), len(two)) < SHORTEST or _numbers(one) != _numbers(two):
        return False
    if len(one) > len(two):
        one, two = two, one
    start = next((at for at in range(len(one)) if one[at] != two[at]), len(one))
    rest, others = one[start:], two[start:]
    if len(one) < len(two):
        return len(two) - len(one) == 1 and rest == others[1:]
    return rest[1:] == others[1:] or (rest[1::-1] == others[:2] and rest[2:] == others[2:])


def _numbers(name: str) -> str:
    return "".join(filter(str.isdigit, name))
