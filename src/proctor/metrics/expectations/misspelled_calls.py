"""A call that was made, beside one that must not come: is it that one, but for a slip of whoever wrote it down?"""

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
"""Letters of the longer of two names that can be a slip of each other; `x` and `y` are not."""


@dataclass(frozen=True, slots=True)
class Slip:
    """One way in which a call is not the one that is meant."""

    said: str
    is_sure: bool
    """Whether it can hardly be anything but a slip: another type of the same value, one letter of a name."""


def slips_between(pattern: CallPattern, made: Made, known: Collection[str]) -> list[Slip]:
    """What keeps a call of one of the tools from being meant, where that is slips only; empty where it is more, or nothing.

    `known`: arguments that are surely spelled right.
    """
    args, given = pattern.args or {}, dict(made.args or {})
    found: list[Slip | None] = []
    for name, template in args.items():
        if name not in given and not template.fits(ABSENT):
            other = None if name in known else _meant(name, given, template, args)
            given.pop(other or "", None)
            found.append(
                Slip(f"its argument is called `{show_name(other)}`", is_sure=True) if other else None
            )
        elif not template.fits(there := given.pop(name, ABSENT)):
            found.append(_of_value(f"`{show_name(name)}`", template, there))
    if pattern.response is not None and not pattern.response.fits(made.response):
        found.append(_of_value("response", pattern.response, made.response))
    if pattern.args is not None and given and not pattern.other_args:
        return []
    slips = [slip for slip in found if slip is not None]
    return slips if len(slips) == len(found) else []


def _meant(name: str, given: Mapping[str, Any], template: Template, named: Collection[str]) -> str | None:
    others = (other for other in given if other not in named and is_one_slip_from(name, other))
    return next((other for other in others if template.fits(given[other])), None)


def _of_value(name: str, template: Template, there: Any) -> Slip | None:
    """A value that is the expected one but for its type, its case, or further keys."""
    shown = show_value(there) if there is not ABSENT else "missing"
    if (other := next((one for one in _other_types(there) if template.fits(one)), None)) is not None:
        return Slip(
            f"its {name} is {shown}, of another type",
            is_sure=isinstance(there, str) or isinstance(other, str),
        )
    if not isinstance(template, Plain):
        return None
    wanted = template.source
    if isinstance(wanted, Mapping) and isinstance(there, Mapping) and wanted and Subset().fits(wanted, there):
        return Slip(f"its {name}, {shown}, has more keys (`subset` allows them)", is_sure=False)
    if isinstance(wanted, str) and isinstance(there, str) and _folded(wanted) == _folded(there):
        return Slip(f"its {name} is {shown} (`text` ignores case and white space)", is_sure=False)
    return None


def _other_types(value: Any) -> Iterator[Any]:
    """The same value as another type would write it."""
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


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def is_one_slip_from(name: str, other: str) -> bool:
    """Whether two names differ by one letter: missing, added, another one, or exchanged with the next; case and separators aside.

    Numbers in names are never a slip (`x1`, `x2`).
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
