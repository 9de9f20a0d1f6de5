"""`trajectory_strict_match`: agentevals' strict mode, message by message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, zip_longest
from typing import Literal

from proctor.metrics.base import CaseView, no_recording_score, paired
from proctor.metrics.text.one_to_one import most_pairs
from proctor.metrics.trajectory.agentevals_relations import (
    RELATION_OPTIONS,
    RelationCriterion,
    RelationMetric,
)
from proctor.metrics.trajectory.alignment import Alignment, align, alignment_text
from proctor.metrics.trajectory.base import Calls, call_facts
from proctor.metrics.trajectory.call_matching import Call
from proctor.schema.format.invocation import Invocation, InvocationEvents
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

NO_MESSAGES = (
    'the turn is recorded as a list of tool calls, without messages to compare; leave "messages": "all" out to '
    "compare the calls"
)
Steps = Sequence[Calls]


class StrictCriterion(RelationCriterion):
    """The criterion: how arguments are compared, and whether messages without calls are compared."""

    messages: Literal["calls", "all"] = "calls"


class Strict(RelationMetric[StrictCriterion]):
    """1 where the model made the expected calls step by step, and no others.

    A step is one message of the model; the calls in it were made at once, and their order does not matter. Where one side
    does not state what was called at once (`tool_uses`), the other side's steps hold for both; where neither does, the
    order of all calls counts. `messages: "all"` also wants the same number of messages and the same roles, texts and
    tools' answers included; no text is compared.
    """

    facts = call_facts(
        "trajectory_strict_match",
        "Whether the tool calls of a turn are the expected ones step by step, calls made at once in any order.",
        "agentevals' trajectory match mode strict",
        options={
            "messages": "all (count messages without calls, too, and compare their roles) or calls (the default)",
            **RELATION_OPTIONS,
        },
        example={"threshold": 1.0, "messages": "calls"},
    )
    kind = StrictCriterion
    order_matters = True

    def score(self, case: CaseView) -> MetricScore:
        """Compare turn by turn; a scenario has no expected calls."""
        if case.expected is None:
            return no_recording_score(case)
        return mean_score([self._turn(expected, actual) for actual, expected in paired(case)])

    def compare(self, expected: Calls, actual: Calls) -> Score:
        """Compare two lists of calls in which each call is a separate step."""
        return self._score_by_step([[call] for call in expected], [[call] for call in actual])

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Return which calls differ, or else which are in one step on one side only, or which message differs."""
        turn_score = score.per_invocation[index]
        expected, actual = (case.expected or [])[index], case.actual[index]
        expected_steps, actual_steps = _steps(expected, actual)
        alignment = self._align(expected_steps, actual_steps)
        reason = turn_score.reason
        if not reason and turn_score.value == 0:
            reason = (
                alignment_text(alignment)
                or _explain_steps(expected_steps, actual_steps)
                or _explain_messages(expected, actual)
            )
        return Explanation(
            reason or self.explain_full_score(expected.tool_calls),
            alignment.to_details(),
            turn_score.warning or self.matching.warning(case),
        )

    def explain_difference(self, expected: Calls, actual: Calls, alignment: Alignment) -> str:
        """Describe all differences."""
        return alignment_text(alignment)

    def _turn(self, expected: Invocation, actual: Invocation) -> Score:
        if self.criterion.messages == "all":
            expected_messages, actual_messages = messages_of(expected), messages_of(actual)
            if expected_messages is None or actual_messages is None:
                return Score(reason=NO_MESSAGES, not_applicable=True)
            if [*map(_shape, expected_messages)] != [*map(_shape, actual_messages)]:
                return Score(0.0)
        return self._score_by_step(*_steps(expected, actual))

    def _score_by_step(self, expected: Steps, actual: Steps) -> Score:
        if [*map(len, expected)] != [*map(len, actual)]:
            return Score(0.0)
        scores = [self.all_paired(*each, size=len(each[0])) for each in zip(expected, actual, strict=True)]
        warning = next((score.warning for score in scores if score.warning), "")
        return Score(1.0, warning=warning) if all(score.value for score in scores) else Score(0.0)

    def _align(self, expected: Steps, actual: Steps) -> Alignment:
        """Align as if the calls of a step had been made in the expected order."""
        order: list[int] = []
        for expected_step, actual_step in zip_longest(expected, actual, fillvalue=()):
            order += [len(order) + place for place in self._order_by_expected(expected_step, actual_step)]
        calls = [call for step in actual for call in step]
        alignment = align(
            [call for step in expected for call in step], [calls[i] for i in order], self.matching
        )
        for step in alignment.steps:
            if step.actual_index is not None:
                step.actual_index = order[step.actual_index]
        return alignment

    def _order_by_expected(self, expected: Calls, actual: Calls) -> list[int]:
        """Return the positions of the actual calls in the order of their expected partners; those without one in actual order."""
        partners = most_pairs(
            len(expected), len(actual), lambda i, j: self.matching.same(expected[i], actual[j])
        )
        paired_first = [partners[i] for i in sorted(partners)]
        return paired_first if len(paired_first) == len(actual) else [*range(len(actual))]


def _shape(message: CallMessage) -> tuple[str, bool]:
    return message.role, bool(message.calls)


def _steps(expected: Invocation, actual: Invocation) -> tuple[Steps, Steps]:
    expected_steps, actual_steps = steps_of(expected), steps_of(actual)
    if expected_steps is None and actual_steps is None:
        return [[call] for call in expected.tool_calls], [[call] for call in actual.tool_calls]
    if expected_steps is None:
        expected_steps = cut(expected.tool_calls, actual_steps or [])
    if actual_steps is None:
        actual_steps = cut(actual.tool_calls, expected_steps)
    return expected_steps, actual_steps


def _explain_steps(expected: Steps, actual: Steps) -> str:
    if [*map(len, expected)] == [*map(len, actual)]:
        return ""
    return f"the calls are the same, but not those made at once: {_lengths(actual)} (expected {_lengths(expected)})"


def _lengths(steps: Steps) -> str:
    return " + ".join(str(len(step)) for step in steps)


def _explain_messages(expected: Invocation, actual: Invocation) -> str:
    expected_messages, actual_messages = messages_of(expected) or [], messages_of(actual) or []
    for number, (one, other) in enumerate(zip(expected_messages, actual_messages, strict=False), 1):
        if _shape(one) != _shape(other):
            return f"message {number} is {_named(other)}, expected {_named(one)}"
    return f"{len(actual_messages)} messages, expected {len(expected_messages)}"


def _named(message: CallMessage) -> str:
    return f"of role {message.role or '(none)'} {'with' if message.calls else 'without'} tool calls"


# --- Steps: the messages of a turn, as far as its record separates them -----------------------------------------------


@dataclass(frozen=True, slots=True)
class CallMessage:
    """The author of a message, and its calls (none for a text or a tool's answer)."""

    role: str
    calls: Sequence[Call]


def messages_of(invocation: Invocation) -> list[CallMessage] | None:
    """Return the messages before the final answer; `None` if calls are recorded without their events."""
    data = invocation.intermediate_data
    if not isinstance(data, InvocationEvents):
        return None
    contents = [event.content for event in data.invocation_events if event.content is not None]
    return [
        CallMessage(
            content.role or "", [part.function_call for part in content.parts or () if part.function_call]
        )
        for content in contents
    ]


def steps_of(invocation: Invocation) -> list[Sequence[Call]] | None:
    """Return the calls of each message that has any."""
    messages = messages_of(invocation)
    return None if messages is None else [message.calls for message in messages if message.calls]


def cut(calls: Sequence[Call], like: Sequence[Sequence[Call]]) -> list[Sequence[Call]]:
    """Split calls without recorded steps into steps as long as those of `like`."""
    ends = [0, *accumulate(map(len, like))]
    steps = [calls[start:end] for start, end in pairwise(ends)]
    return [step for step in [*steps, calls[ends[-1] :]] if step]
