"""The alignment of expected and actual tool calls, and its description in words.

An alignment explains a score and never decides one. It is deterministic and the best of its kind, in this order:
as many equal calls paired as possible; of these as many as possible in order (the others *moved*); then calls of the
same tool paired so that their arguments differ least; the remaining calls are *missing* or *extra*.

As a number (`Alignment.cost`): a moved call costs 1, a differing pair 11 to 19 (`pairing.pair_cost`), a call without
partner 10; no other way of pairing costs less.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from proctor.common.inline_code import code_mark
from proctor.metrics.expectations.misspelled_calls import is_one_slip_from
from proctor.metrics.reason_text import and_more, show_call, show_name, show_pair, show_value
from proctor.metrics.trajectory.call_matching import PYTHON, ArgumentDifference, Call, Matching
from proctor.metrics.trajectory.call_pairing import UNPAIRED, Pairing, pair_cost, pair_up

LONGEST = 300
"""Calls compared on either side, not counting what both lists have in common at their start and end."""


class StepKind(StrEnum):
    """The kind of one step of an alignment; the value is the sign in reports."""

    MATCHED = "="
    MISSING = "−"
    EXTRA = "+"
    MOVED = "⇄"
    DIFFERS = "≠"


# names of this module: a look-up of a member in its enumeration takes ten times as long
MATCHED, MISSING, EXTRA, MOVED, DIFFERS = StepKind


@dataclass(slots=True)
class AlignmentStep:
    """One row of an alignment: an expected call, an actual call, or both."""

    kind: StepKind
    expected: Call | None = None
    actual: Call | None = None
    expected_index: int | None = None
    """Position among the expected calls, from 0."""
    actual_index: int | None = None
    differences: list[ArgumentDifference] = field(default_factory=list)
    """For a step that `DIFFERS`; never empty there."""
    elsewhere: bool = False
    """True if the actual call is between other matches than the expected one."""
    cost: int = 0
    allowed: bool = False
    """True if the metric accepts this difference: an extra call where only the expected ones count."""
    wanted_again: bool = False
    """True if the expected call has no equal partner here, but an equal call was made: it was made less often than expected."""
    made_again: bool = False
    """True if the actual call has no equal partner here, but an equal call is expected: it was made more often than expected."""

    def to_data(self) -> dict[str, object]:
        """Return the step as JSON for reports (see `proctor.schema.results.score`)."""
        data: dict[str, object] = {
            "kind": self.kind.name.lower(),
            "expected": _call_data(self.expected, self.expected_index),
            "actual": _call_data(self.actual, self.actual_index),
        }
        if self.differences:
            data["arguments"] = [difference.to_data() for difference in self.differences]
        return {**data, "allowed": True} if self.allowed else data


@dataclass(slots=True)
class Alignment:
    """Expected and actual calls in pairs."""

    steps: list[AlignmentStep] = field(default_factory=list)
    expected_left_out: int = 0
    """The number of expected calls beyond the bound, which are not compared."""
    actual_left_out: int = 0

    @property
    def cost(self) -> int:
        """The distance of the lists, 0 if they are equal; calls beyond the bound do not count."""
        return sum(step.cost for step in self.steps)

    @property
    def note(self) -> str:
        """A note about calls beyond the bound; usually empty."""
        if not (self.expected_left_out or self.actual_left_out):
            return ""
        return (
            f"only {LONGEST} calls from the first difference on are compared; left out: "
            f"{self.expected_left_out} expected, {self.actual_left_out} actual"
        )

    @property
    def differing(self) -> list[AlignmentStep]:
        """The steps that do not match; empty exactly when both lists are equal."""
        return [step for step in self.steps if step.kind is not MATCHED]

    def count(self, *kinds: StepKind) -> int:
        """Count the steps of these kinds."""
        return sum(step.kind in kinds for step in self.steps)

    def allow(self, *kinds: StepKind) -> None:
        """Mark the steps of these kinds as differences that the metric accepts."""
        for step in self.steps:
            step.allowed = step.kind in kinds

    def to_details(self) -> dict[str, object]:
        """Return the alignment as details of a score: `alignment`, and `note` if calls are beyond the bound."""
        details: dict[str, object] = {"alignment": [step.to_data() for step in self.steps]}
        return {**details, "note": self.note} if self.note else details


def align(
    expected: Sequence[Call],
    actual: Sequence[Call],
    matching: Matching = PYTHON,
    *,
    order_matters: bool = True,
) -> Alignment:
    """Align expected with actual calls; `matching` defines which calls are the same.

    `order_matters` concerns a matching that is not an equivalence: whether pairs in order, or the most pairs, take precedence.

    The time grows with the product of both lengths; differing stretches are compared up to `LONGEST` calls.
    """
    if len(expected) == len(actual) == 1 and expected[0].name == actual[0].name and order_matters:
        if matching.same(expected[0], actual[0]):
            return Alignment([AlignmentStep(MATCHED, expected[0], actual[0], 0, 0)])
        return Alignment([_differing_step(expected[0], actual[0], 0, 0, matching)])  # the usual miss
    start, end = (0, 0)
    if order_matters or matching.is_equivalence:
        start, end = _common_ends(expected, actual, matching)
    expected_range, actual_range = range(start, len(expected) - end), range(start, len(actual) - end)
    between = _MiddleAligner(expected, actual, expected_range[:LONGEST], actual_range[:LONGEST], matching)
    before = [between.match(index, index) for index in range(start)]
    after = [between.match(len(expected) - n, len(actual) - n) for n in range(end, 0, -1)]
    middle = between.steps(order_matters=order_matters)
    beyond = max(0, len(expected_range) - LONGEST), max(0, len(actual_range) - LONGEST)
    return Alignment([*before, *middle, *after], *beyond)


def _differing_step(expected: Call, actual: Call, i: int, j: int, matching: Matching) -> AlignmentStep:
    step = AlignmentStep(DIFFERS, expected, actual, i, j, matching.differences(expected, actual))
    step.cost = pair_cost(expected, actual, len(step.differences))
    return step


def _call_data(call: Call | None, index: int | None) -> dict[str, object] | None:
    return None if call is None else {"index": index, "name": call.name, "args": call.args}


def _common_ends(expected: Sequence[Call], actual: Sequence[Call], matching: Matching) -> tuple[int, int]:
    """Return how many calls are the same at the start of both lists, and how many more at their end."""
    shorter = min(len(expected), len(actual))
    start = 0
    while start < shorter and matching.same(expected[start], actual[start]):
        start += 1
    end = 0
    while end < shorter - start and matching.same(expected[-1 - end], actual[-1 - end]):
        end += 1
    return start, end


class _MiddleAligner:
    """Makes the steps between the common ends of two lists."""

    def __init__(
        self,
        expected: Sequence[Call],
        actual: Sequence[Call],
        expected_range: range,
        actual_range: range,
        matching: Matching,
    ) -> None:
        self._expected, self._actual = expected, actual
        self._expected_range, self._actual_range = expected_range, actual_range
        self._matching = matching

    def match(self, i: int, j: int) -> AlignmentStep:
        """Return the step of two calls that are the same."""
        return AlignmentStep(MATCHED, self._expected[i], self._actual[j], i, j)

    def steps(self, *, order_matters: bool) -> list[AlignmentStep]:
        """Return the steps: after each match, the other expected calls there, then the other actual ones."""
        pairing = pair_up(
            {i: self._expected[i] for i in self._expected_range},
            {j: self._actual[j] for j in self._actual_range},
            self._matching,
            order_matters=order_matters,
        )
        return [step for _, step in sorted(self._rows(pairing), key=lambda row: row[0])]

    def _rows(self, pairing: Pairing) -> list[tuple[tuple[int, int, int], AlignmentStep]]:
        """Return each step with its sort key."""
        paired = {*pairing.in_place.values(), *pairing.moved.values(), *pairing.differing.values()}
        expected_gaps = _gaps(self._expected_range, {*pairing.in_place})
        actual_gaps = _gaps(self._actual_range, {*pairing.in_place.values()})
        rows = []
        for i in self._expected_range:
            step = self._step(i, pairing)
            step.elsewhere = (
                step.actual_index is not None and expected_gaps[i] != actual_gaps[step.actual_index]
            )
            rows.append(((expected_gaps[i], 0, i), step))
        rows += [((actual_gaps[j], 1, j), self._extra(j)) for j in self._actual_range if j not in paired]
        return rows

    def _step(self, i: int, pairing: Pairing) -> AlignmentStep:
        call = self._expected[i]
        if (j := pairing.in_place.get(i)) is not None:
            return self.match(i, j)
        if (j := pairing.moved.get(i)) is not None:
            return AlignmentStep(MOVED, call, self._actual[j], i, j, cost=1)
        if (j := pairing.differing.get(i)) is not None:
            return self._differing(i, j)
        again = self._was_made(call)
        return AlignmentStep(MISSING, call, expected_index=i, cost=UNPAIRED, wanted_again=again)

    def _extra(self, j: int) -> AlignmentStep:
        call = self._actual[j]
        again = self._expects(call)
        return AlignmentStep(EXTRA, actual=call, actual_index=j, cost=UNPAIRED, made_again=again)

    def _differing(self, i: int, j: int) -> AlignmentStep:
        expected, actual = self._expected[i], self._actual[j]
        step = _differing_step(expected, actual, i, j, self._matching)
        if len(self._expected) + len(self._actual) > 2:  # there are other calls
            step.wanted_again, step.made_again = self._was_made(expected), self._expects(actual)
        return step

    def _was_made(self, expected: Call) -> bool:
        return any(self._matching.same(expected, actual) for actual in self._actual)

    def _expects(self, actual: Call) -> bool:
        return any(self._matching.same(expected, actual) for expected in self._expected)


def _gaps(indexes: range, matches: set[int]) -> dict[int, int]:
    """Return for each position how many calls in place are at or before it."""
    gaps = {}
    passed = 0
    for index in indexes:
        passed += index in matches
        gaps[index] = passed
    return gaps


# --- Describes an alignment in words: what is missing, extra, different or in another place ---------------------------


def alignment_text(
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

    def is_reported(step: AlignmentStep) -> bool:
        if step.kind is MOVED:
            return False
        missed = not missing_allowed and step.expected is not None
        added = not extra_allowed and step.actual is not None
        return (missed and not (repeats_allowed and step.wanted_again)) or (
            added and not (repeats_allowed and step.made_again)
        )

    reported = [step for step in alignment.differing if is_reported(step)]
    missing = [step.expected.name for step in reported if step.kind is MISSING and step.expected]
    sentences = [
        _describe_step(step, order_matters=order_matters) + _look_alike(step, missing) for step in reported
    ]
    if order_matters and alignment.count(MOVED):
        sentences.append(_describe_order(alignment))
    sentences = and_more(sentences)
    if alignment.note:
        sentences.append(alignment.note)
    return "; ".join(sentences)


_LESS_OFTEN = "called less often than expected"
_MORE_OFTEN = "more often than expected"


def _look_alike(step: AlignmentStep, missing: Sequence[str | None]) -> str:
    """Return a hint if a call of another tool has nearly the name of a missing one."""
    name = step.actual.name if step.kind is EXTRA and step.actual else None
    if not name or name in missing:
        return ""
    if _bare(name) in map(_bare, missing):
        return " (names are compared letter by letter)"
    near = next((other for other in missing if other and is_one_slip_from(name, other)), None)
    return f" (its name differs from {show_name(near)} by a letter)" if near else ""


def _bare(name: str | None) -> str:
    """Return a name without case, separators and Unicode forms, which are easily overlooked."""
    plain = unicodedata.normalize("NFKC", name or "").casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def _describe_step(step: AlignmentStep, *, order_matters: bool) -> str:
    if step.kind is MISSING and step.expected is not None:
        return (
            f"{code_mark(show_call(step.expected))} was {_LESS_OFTEN if step.wanted_again else 'not called'}"
        )
    if step.kind is EXTRA and step.actual is not None:
        return f"{code_mark(show_call(step.actual))} was called {_MORE_OFTEN if step.made_again else 'but not expected'}"
    return _describe_differences(step, order_matters=order_matters)


def _describe_differences(step: AlignmentStep, *, order_matters: bool) -> str:
    name = show_name(step.expected.name if step.expected else None)
    differences = ", ".join(and_more([_describe_argument(each) for each in step.differences]))
    place = " (and called in another place)" if step.elsewhere and order_matters else ""
    return f"{code_mark(name)} {differences}{place}"


def _describe_argument(difference: ArgumentDifference) -> str:
    name = f"argument {code_mark(show_name(difference.name))}"
    if difference.kind == "missing":
        return f"{name} is missing, expected {difference.rule or show_value(difference.expected)}"
    if difference.rule or difference.kind == "extra":
        return f"{name} is {show_value(difference.actual)}, expected {difference.rule or 'none'}"
    expected, actual = show_pair(difference.expected, difference.actual)
    if not difference.name:
        return f"has arguments {actual}, expected {expected} (null and {{}} are not equal)"
    return f"{name} is {actual}, expected {expected}"


def _describe_order(alignment: Alignment) -> str:
    pairs = [step for step in alignment.steps if step.kind in {MATCHED, MOVED}]
    expected = _names(step.expected for step in pairs)
    actual = _names(step.actual for step in sorted(pairs, key=lambda step: step.actual_index or 0))
    if expected == actual or len(pairs) > 6:
        calls = [
            code_mark(show_call(step.expected)) for step in pairs if step.kind is MOVED and step.expected
        ]
        return f"called in another order: {', '.join(and_more(calls))}"
    return f"called in another order: {', '.join(actual)} (expected {', '.join(expected)})"


def _names(calls: Iterable[Call | None]) -> list[str]:
    return [show_name(call.name) for call in calls if call]
