"""What differs between the expected tool calls and those that were made, for people to read.

An alignment explains a score and never decides one. It is deterministic and the best of its kind, in this order:
as many equal calls paired as possible; of these as many as possible in their order (the others *moved*); then calls
of the same tool paired so that their arguments differ least; what is left is *missing* or *extra*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from proctor.metrics.pairing import Pairing, pair_up
from proctor.metrics.trajectory import Call, same
from proctor.metrics.wording import and_more, show_call, show_name, show_pair, show_value

__all__ = ["Alignment", "ArgumentDifference", "Step", "StepKind", "align", "argument_differences", "describe"]

LONGEST = 300
"""Calls compared on either side, not counting what both lists have in common at their start and end."""


class StepKind(StrEnum):
    """How one step of an alignment reads; the value is the sign that reports draw."""

    MATCHED = "="
    MISSING = "−"
    EXTRA = "+"
    MOVED = "⇄"
    DIFFERS = "≠"


@dataclass(frozen=True, slots=True)
class ArgumentDifference:
    """One argument in which a call differs from the expected one."""

    name: str
    """The argument; empty where the arguments as a whole differ (null against `{}`)."""
    kind: str
    """`differs`, `missing` (expected, not given) or `extra` (given, not expected)."""
    expected: Any = None
    actual: Any = None

    def to_data(self) -> dict[str, Any]:
        """The difference as JSON, with the sides that there are."""
        data = {"name": self.name, "kind": self.kind}
        if self.kind != "extra":
            data["expected"] = self.expected
        if self.kind != "missing":
            data["actual"] = self.actual
        return data


@dataclass(slots=True)
class Step:
    """One row of an alignment: an expected call, an actual call, or both."""

    kind: StepKind
    expected: Call | None = None
    actual: Call | None = None
    expected_index: int | None = None
    """Position among the expected calls, from 0."""
    actual_index: int | None = None
    differences: list[ArgumentDifference] = field(default_factory=list)
    """Of a step that `DIFFERS`; never empty there."""
    elsewhere: bool = False
    """The actual call stands between other matches than the expected one."""

    def to_data(self) -> dict[str, Any]:
        """The step as JSON, as reports draw it (see `proctor.schema.score`)."""
        data: dict[str, Any] = {
            "kind": self.kind.name.lower(),
            "expected": _call_data(self.expected, self.expected_index),
            "actual": _call_data(self.actual, self.actual_index),
        }
        if self.differences:
            data["arguments"] = [difference.to_data() for difference in self.differences]
        return data


@dataclass(slots=True)
class Alignment:
    """Expected and actual calls side by side."""

    steps: list[Step] = field(default_factory=list)
    expected_left_out: int = 0
    """Expected calls beyond the bound, not compared."""
    actual_left_out: int = 0

    @property
    def note(self) -> str:
        """Says what was left out of a very long comparison; usually empty."""
        if not (self.expected_left_out or self.actual_left_out):
            return ""
        return (
            f"only {LONGEST} calls from the first difference on are compared; left out: "
            f"{self.expected_left_out} expected, {self.actual_left_out} actual"
        )

    @property
    def differing(self) -> list[Step]:
        """The steps that do not match; empty exactly when both lists are equal."""
        return [step for step in self.steps if step.kind is not StepKind.MATCHED]

    def to_details(self) -> dict[str, Any]:
        """The alignment as details of a score: `alignment`, and `note` where something was left out."""
        details: dict[str, Any] = {"alignment": [step.to_data() for step in self.steps]}
        return {**details, "note": self.note} if self.note else details


def align(expected: Sequence[Call], actual: Sequence[Call], *, ignore_args: bool = False) -> Alignment:
    """Put two lists of calls side by side; at most `LONGEST` calls of either are compared, common ends aside."""
    start, end = _common_ends(expected, actual, ignore_args=ignore_args)
    wanted, made = range(start, len(expected) - end), range(start, len(actual) - end)
    middle = _compare(expected, actual, wanted[:LONGEST], made[:LONGEST], ignore_args=ignore_args)
    before = [_matched(expected, actual, index, index) for index in range(start)]
    after = [_matched(expected, actual, len(expected) - n, len(actual) - n) for n in range(end, 0, -1)]
    left_out = max(0, len(wanted) - LONGEST), max(0, len(made) - LONGEST)
    return Alignment([*before, *middle, *after], *left_out)


def argument_differences(expected: Call, actual: Call) -> list[ArgumentDifference]:
    """How the arguments differ, in the order of the expected ones, then of the others; empty when they are equal."""
    if expected.args == actual.args:
        return []
    wanted, made = expected.args or {}, actual.args or {}
    found = []
    for name, value in wanted.items():
        if name not in made:
            found.append(ArgumentDifference(name, "missing", expected=value))
        elif value != made[name]:
            found.append(ArgumentDifference(name, "differs", value, made[name]))
    found += [ArgumentDifference(name, "extra", actual=made[name]) for name in made if name not in wanted]
    return found or [ArgumentDifference("", "differs", expected.args, actual.args)]


def describe(alignment: Alignment, *, extra_allowed: bool = False, order_matters: bool = True) -> str:
    """Say in one sentence how the calls differ; empty when they do not.

    Extra calls are left out where they are allowed, moved ones where the order does not matter.
    """
    told = [step for step in alignment.differing if step.kind is not StepKind.MOVED]
    if extra_allowed:
        told = [step for step in told if step.kind is not StepKind.EXTRA]
    sentences = [_describe_step(step, order_matters=order_matters) for step in told]
    moved = [step for step in alignment.steps if step.kind is StepKind.MOVED]
    if moved and order_matters:
        sentences.append(_describe_order(alignment, moved))
    sentences = and_more(sentences)
    if alignment.note:
        sentences.append(alignment.note)
    return "; ".join(sentences)


def _call_data(call: Call | None, index: int | None) -> dict[str, Any] | None:
    return None if call is None else {"index": index, "name": call.name, "args": call.args}


def _matched(expected: Sequence[Call], actual: Sequence[Call], index: int, other: int) -> Step:
    return Step(StepKind.MATCHED, expected[index], actual[other], index, other)


def _differing(expected: Sequence[Call], actual: Sequence[Call], index: int, other: int) -> Step:
    wanted, made = expected[index], actual[other]
    return Step(StepKind.DIFFERS, wanted, made, index, other, argument_differences(wanted, made))


def _common_ends(expected: Sequence[Call], actual: Sequence[Call], *, ignore_args: bool) -> tuple[int, int]:
    """How many calls are the same at the start of both lists, and how many more at their end."""
    shorter = min(len(expected), len(actual))
    start = 0
    while start < shorter and same(expected[start], actual[start], ignore_args=ignore_args):
        start += 1
    end = 0
    while end < shorter - start and same(expected[-1 - end], actual[-1 - end], ignore_args=ignore_args):
        end += 1
    return start, end


def _compare(
    expected: Sequence[Call], actual: Sequence[Call], wanted: range, made: range, *, ignore_args: bool
) -> list[Step]:
    """The steps between the common ends. Behind each match: what else was expected there, then what else was called."""
    if len(wanted) == len(made) == 1 and expected[wanted[0]].name == actual[made[0]].name:
        return [
            _differing(expected, actual, wanted[0], made[0])
        ]  # the usual miss; equal calls were common ends
    pairing = pair_up({i: expected[i] for i in wanted}, {j: actual[j] for j in made}, ignore_args=ignore_args)
    paired = {*pairing.in_place.values(), *pairing.moved.values(), *pairing.differing.values()}
    gap_of_wanted = _gaps(wanted, {*pairing.in_place})
    gap_of_made = _gaps(made, {*pairing.in_place.values()})
    rows = []
    for i in wanted:
        step = _step(expected, actual, i, pairing)
        step.elsewhere = step.actual_index is not None and gap_of_wanted[i] != gap_of_made[step.actual_index]
        rows.append(((gap_of_wanted[i], 0, i), step))
    rows += [
        ((gap_of_made[j], 1, j), Step(StepKind.EXTRA, actual=actual[j], actual_index=j))
        for j in made
        if j not in paired
    ]
    return [step for _, step in sorted(rows, key=lambda row: row[0])]


def _gaps(indexes: range, matches: set[int]) -> dict[int, int]:
    """For each position, how many calls in place stand at or before it."""
    gaps = {}
    passed = 0
    for index in indexes:
        passed += index in matches
        gaps[index] = passed
    return gaps


def _step(expected: Sequence[Call], actual: Sequence[Call], i: int, pairing: Pairing) -> Step:
    call = expected[i]
    if (j := pairing.in_place.get(i)) is not None:
        return _matched(expected, actual, i, j)
    if (j := pairing.moved.get(i)) is not None:
        return Step(StepKind.MOVED, call, actual[j], i, j)
    if (j := pairing.differing.get(i)) is not None:
        return _differing(expected, actual, i, j)
    return Step(StepKind.MISSING, call, expected_index=i)


def _describe_step(step: Step, *, order_matters: bool) -> str:
    if step.kind is StepKind.MISSING and step.expected is not None:
        return f"`{show_call(step.expected)}` was not called"
    if step.kind is StepKind.EXTRA and step.actual is not None:
        return f"`{show_call(step.actual)}` was called but not expected"
    name = show_name(step.expected.name if step.expected else None)
    differences = ", ".join(and_more([_describe_argument(each) for each in step.differences]))
    place = " (and called in another place)" if step.elsewhere and order_matters else ""
    return f"`{name}` {differences}{place}"


def _describe_argument(difference: ArgumentDifference) -> str:
    name = f"argument `{show_name(difference.name)}`"
    if difference.kind == "missing":
        return f"{name} is missing, expected {show_value(difference.expected)}"
    if difference.kind == "extra":
        return f"{name} is {show_value(difference.actual)}, expected none"
    expected, actual = show_pair(difference.expected, difference.actual)
    if not difference.name:
        return f"has arguments {actual}, expected {expected} (null and {{}} are not equal)"
    return f"{name} is {actual}, expected {expected}"


def _describe_order(alignment: Alignment, moved: list[Step]) -> str:
    pairs = [step for step in alignment.steps if step.kind in {StepKind.MATCHED, StepKind.MOVED}]
    wanted = [show_name(step.expected.name) for step in pairs if step.expected]
    by_call = sorted(pairs, key=lambda step: step.actual_index or 0)
    made = [show_name(step.actual.name) for step in by_call if step.actual]
    if wanted == made or len(pairs) > 6:
        calls = [f"`{show_call(step.expected)}`" for step in moved if step.expected]
        return f"called in another order: {', '.join(and_more(calls))}"
    return f"called in another order: {', '.join(made)} (expected {', '.join(wanted)})"
