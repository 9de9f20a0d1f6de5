"""The six classic trajectory metrics, and F1: agreement of the actual tool calls with the expected ones.

The definitions are those of the Gen AI evaluation service. Proctor decides what they leave open:

* a call that occurs more often on one side: precision and recall check only whether it occurs on the other side
  (`"duplicates": "membership"`), `trajectory_any_order_match` requires it as often as expected (`"multiset"`); the option
  changes either;
* no actual call although some are expected: precision and recall are 0 (with `compat` precision is not applicable, as in the
  service); no calls on either side: precision is not applicable; no expected calls: recall is not applicable, and the
  matches are those of google-adk (exact: no call is allowed; the other two: 1, with a warning if there are actual calls);
* arguments: equal as JSON values, missing arguments being `{}` (`equality`).
"""

from __future__ import annotations

from typing import Literal

from proctor.metrics.base import is_adk_compatible
from proctor.metrics.trajectory.alignment import Alignment, StepKind, alignment_text
from proctor.metrics.trajectory.base import (
    ARGUMENTS,
    Calls,
    CallsCriterion,
    TrajectoryMetric,
    call_facts,
    open_to_any,
)
from proctor.metrics.trajectory.call_matching import (
    count_expected_made,
    exact,
    expected_of_those_made,
    found,
    in_order,
)
from proctor.schema.format.case import EvalCase
from proctor.schema.results.score import Score

SOURCE = "the Gen AI evaluation service's metric of this name"
NO_CALLS_MADE = "tool calls are expected in this turn, and none was made"
NONE_EXPECTED = "no tool calls are expected in this turn, so there is no share of them"
NEITHER = "no tool calls are expected in this turn, and none were made"

Duplicates = Literal["membership", "multiset"]


class ExactMatch(TrajectoryMetric[CallsCriterion]):
    """1 where the agent made the expected calls in their order and no others."""

    facts = call_facts(
        "trajectory_exact_match",
        "Whether the tool calls of a turn are the expected ones, in order, and no others.",
        SOURCE,
    )

    kind = CallsCriterion
    order_matters = True

    def compare(self, expected: Calls, actual: Calls) -> Score:
        """Compare position by position."""
        return Score(1.0 if exact(expected, actual, self.matching.same) else 0.0)

    def explain_difference(self, expected: Calls, actual: Calls, alignment: Alignment) -> str:
        """Describe all differences."""
        return alignment_text(alignment)


class InOrderMatch(TrajectoryMetric[CallsCriterion]):
    """1 where the expected calls were made in their order, whatever else was called in between."""

    facts = call_facts(
        "trajectory_in_order_match",
        "Whether the expected tool calls of a turn were made in their order, others in between or not.",
        SOURCE,
    )

    kind = CallsCriterion
    order_matters = True
    allowed = (StepKind.EXTRA,)

    def compare(self, expected: Calls, actual: Calls) -> Score:
        """Return 1 if the expected calls are a subsequence of the actual ones, with a warning if any calls would match."""
        holds = in_order(expected, actual, self.matching.same)
        return open_to_any(Score(1.0 if holds else 0.0), expected, actual)

    def explain_difference(self, expected: Calls, actual: Calls, alignment: Alignment) -> str:
        """Describe missing and reordered calls."""
        return alignment_text(alignment, extra_allowed=True)


class _CountedCriterion(CallsCriterion):
    duplicates: Duplicates = "membership"


class _AnyOrderCriterion(CallsCriterion):
    duplicates: Duplicates = "multiset"


class AnyOrderMatch(TrajectoryMetric[_AnyOrderCriterion]):
    """1 where every expected call was made, in any order, whatever else was called."""

    facts = call_facts(
        "trajectory_any_order_match",
        "Whether the expected tool calls of a turn were made, in any order, among others or not.",
        SOURCE,
        options={
            "duplicates": "multiset (the default: a call as often as expected) or membership (once is enough)",
            **ARGUMENTS,
        },
        example={"threshold": 1.0, "duplicates": "membership"},
    )
    kind = _AnyOrderCriterion
    allowed = (StepKind.EXTRA,)

    def compare(self, expected: Calls, actual: Calls) -> Score:
        """Return 1 if all expected calls were made, with a warning if none is expected."""
        count = found if self.criterion.duplicates == "multiset" else count_expected_made
        holds = count(expected, actual, self.matching.same) == len(expected)
        return open_to_any(Score(1.0 if holds else 0.0), expected, actual)

    def explain_difference(self, expected: Calls, actual: Calls, alignment: Alignment) -> str:
        """Describe missing calls."""
        repeats = self.criterion.duplicates == "membership"
        return alignment_text(alignment, extra_allowed=True, order_matters=False, repeats_allowed=repeats)


class _Share(TrajectoryMetric[_CountedCriterion]):
    """Base class of metrics that score a share of the calls."""

    kind = _CountedCriterion

    def hits(self, expected: Calls, actual: Calls) -> tuple[int, int]:
        """Return how many expected calls were made, and how many actual calls were expected."""
        same = self.matching.same
        if self.criterion.duplicates == "multiset":
            pairs = found(expected, actual, same)
            return pairs, pairs
        return count_expected_made(expected, actual, same), expected_of_those_made(expected, actual, same)

    @property
    def repeats_allowed(self) -> bool:
        """Return whether a call that occurs on both sides counts each time it occurs."""
        return self.criterion.duplicates == "membership"


DUPLICATES = {
    "duplicates": "membership (the default: does it occur on the other side?) or multiset (as often as there)"
}


class Precision(_Share):
    """The share of the calls made that were expected: how much of what the agent did was asked for."""

    facts = call_facts(
        "trajectory_precision",
        "The share of the tool calls made in a turn that were expected.",
        SOURCE,
        options={**DUPLICATES, **ARGUMENTS},
        threshold=0.8,
        example={"threshold": 0.5, "ignore_args": True},
    )

    def compare(self, expected: Calls, actual: Calls) -> Score:
        """Return precision; 0 if calls are expected and none was made, because an inactive agent must not bypass a gate."""
        if not actual and (not expected or is_adk_compatible(self.criterion)):
            return Score(reason=NO_CALLS_MADE if expected else NEITHER, not_applicable=True)
        return Score(self.hits(expected, actual)[1] / len(actual) if actual else 0.0)

    def explain_difference(self, expected: Calls, actual: Calls, alignment: Alignment) -> str:
        """Describe the unexpected calls, or that nothing was called."""
        if expected and not actual:
            return NO_CALLS_MADE
        reason = alignment_text(
            alignment, missing_allowed=True, order_matters=False, repeats_allowed=self.repeats_allowed
        )
        return (
            f"{self.hits(expected, actual)[1]} of {len(actual)} calls were expected; {reason}"
            if reason
            else ""
        )

    def explain_full_score(self, expected: Calls) -> str:
        """Explain full precision, which ignores missing calls."""
        return "every call made was expected"


class Recall(_Share):
    """The share of the expected calls that were made: how much of what was needed the agent did."""

    facts = call_facts(
        "trajectory_recall",
        "The share of the expected tool calls of a turn that were made.",
        SOURCE,
        options={**DUPLICATES, **ARGUMENTS},
        threshold=0.8,
        example={"threshold": 0.5, "ignore_args": True},
    )
    allowed = (StepKind.EXTRA,)

    def applies(self, case: EvalCase) -> bool:
        """Return whether any turn expects a call."""
        return any(turn.tool_calls for turn in case.conversation or ())

    def reason_not_applicable(self, case: EvalCase) -> str:
        """Return what the case lacks if the metric does not apply."""
        return "no turn of the case expects a tool call"

    def compare(self, expected: Calls, actual: Calls) -> Score:
        """Return recall; not applicable if no call is expected."""
        if not expected:
            return Score(reason=NONE_EXPECTED, not_applicable=True)
        return Score(self.hits(expected, actual)[0] / len(expected))

    def explain_difference(self, expected: Calls, actual: Calls, alignment: Alignment) -> str:
        """Describe missing calls."""
        reason = alignment_text(
            alignment, extra_allowed=True, order_matters=False, repeats_allowed=self.repeats_allowed
        )
        return (
            f"{self.hits(expected, actual)[0]} of {len(expected)} expected calls were made; {reason}"
            if reason
            else ""
        )


class F1(_Share):
    """The harmonic mean of precision and recall: 2PR / (P + R)."""

    facts = call_facts(
        "trajectory_f1",
        "The harmonic mean of trajectory_precision and trajectory_recall.",
        "C. J. van Rijsbergen, Information Retrieval (1979), over tool calls",
        options={**DUPLICATES, **ARGUMENTS},
        threshold=0.8,
        example={"threshold": 0.5, "ignore_args": True},
    )

    def compare(self, expected: Calls, actual: Calls) -> Score:
        """Return F1; not applicable if neither side has a call, 0 if one side has none."""
        if not expected and not actual:
            return Score(reason=NEITHER, not_applicable=True)
        recalled, precise = self.hits(expected, actual)
        if not recalled or not precise:
            return Score(0.0)
        recall, precision = recalled / len(expected), precise / len(actual)
        return Score(2 * precision * recall / (precision + recall))

    def explain_difference(self, expected: Calls, actual: Calls, alignment: Alignment) -> str:
        """Describe missing and unexpected calls."""
        reason = alignment_text(alignment, order_matters=False, repeats_allowed=self.repeats_allowed)
        recalled, precise = self.hits(expected, actual)
        shares = f"{recalled} of {len(expected)} expected calls were made, {precise} of {len(actual)} made were expected"
        return f"{shares}; {reason}" if reason else ""

    def explain_full_score(self, expected: Calls) -> str:
        """Explain a full score: both shares are 1."""
        return "every expected call was made, and no others"
