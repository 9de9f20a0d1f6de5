"""Describes an alignment in words: what is missing, extra, different or in another place."""

from __future__ import annotations

import unicodedata

from proctor.metrics.reason_text import and_more, show_call, show_name, show_pair, show_value
from proctor.metrics.trajectory.alignment import EXTRA, MATCHED, MISSING, MOVED, Alignment, Step
from proctor.metrics.trajectory.call_equality import ArgumentDifference

__all__ = ["describe"]


def describe(
    alignment: Alignment,
    *,
    extra_allowed: bool = False,
    missing_allowed: bool = False,
    order_matters: bool = True,
    repeats_allowed: bool = False,
) -> str:
    """Return in one sentence how the calls differ; empty if they do not.

    Allowed differences are left out: unexpected calls, missing calls, moved calls if the order does not matter, and calls
    that only occur more often on one side.
    """

    def is_reported(step: Step) -> bool:
        missed = not missing_allowed and step.expected is not None
        added = not extra_allowed and step.actual is not None
        return (missed and not (repeats_allowed and step.wanted_again)) or (
            added and not (repeats_allowed and step.made_again)
        )

    reported = [step for step in alignment.differing if step.kind is not MOVED and is_reported(step)]
    missing = {_bare(step.expected.name) for step in reported if step.kind is MISSING and step.expected}
    sentences = [
        _describe_step(step, order_matters=order_matters) + _look_alike(step, missing) for step in reported
    ]
    moved = [step for step in alignment.steps if step.kind is MOVED]
    if moved and order_matters:
        sentences.append(_describe_order(alignment, moved))
    sentences = and_more(sentences)
    if alignment.note:
        sentences.append(alignment.note)
    return "; ".join(sentences)


_LESS_OFTEN = "called less often than expected"
_MORE_OFTEN = "more often than expected"


def _look_alike(step: Step, missing: set[str]) -> str:
    """Return a hint if a call of another tool has nearly the name of a missing one."""
    name = step.actual.name if step.kind is EXTRA and step.actual else None
    return " (names are compared letter by letter)" if name and _bare(name) in missing else ""


def _bare(name: str | None) -> str:
    """Return a name without case, separators and Unicode forms, which are easily overlooked."""
    plain = unicodedata.normalize("NFKC", name or "").casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def _describe_step(step: Step, *, order_matters: bool) -> str:
    if step.kind is MISSING and step.expected is not None:
        return f"`{show_call(step.expected)}` was {_LESS_OFTEN if step.wanted_again else 'not called'}"
    if step.kind is EXTRA and step.actual is not None:
        return (
            f"`{show_call(step.actual)}` was called {_MORE_OFTEN if step.made_again else 'but not expected'}"
        )
    name = show_name(step.expected.name if step.expected else None)
    differences = ", ".join(and_more([_describe_argument(each) for each in step.differences]))
    place = " (and called in another place)" if step.elsewhere and order_matters else ""
    return f"`{name}` {differences}{place}"


def _describe_argument(difference: ArgumentDifference) -> str:
    name = f"argument `{show_name(difference.name)}`"
    if difference.kind == "missing":
        return f"{name} is missing, expected {difference.told or show_value(difference.expected)}"
    if difference.told or difference.kind == "extra":
        return f"{name} is {show_value(difference.actual)}, expected {difference.told or 'none'}"
    expected, actual = show_pair(difference.expected, difference.actual)
    if not difference.name:
        return f"has arguments {actual}, expected {expected} (null and {{}} are not equal)"
    return f"{name} is {actual}, expected {expected}"


def _describe_order(alignment: Alignment, moved: list[Step]) -> str:
    pairs = [step for step in alignment.steps if step.kind in {MATCHED, MOVED}]
    wanted = [show_name(step.expected.name) for step in pairs if step.expected]
    by_call = sorted(pairs, key=lambda step: step.actual_index or 0)
    made = [show_name(step.actual.name) for step in by_call if step.actual]
    if wanted == made or len(pairs) > 6:
        calls = [f"`{show_call(step.expected)}`" for step in moved if step.expected]
        return f"called in another order: {', '.join(and_more(calls))}"
    return f"called in another order: {', '.join(made)} (expected {', '.join(wanted)})"
