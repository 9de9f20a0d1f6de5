"""The metric `tool_trajectory_avg_score`: whether the agent called the expected tools with the expected arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from proctor.metrics.base import (
    CaseView,
    MetricFacts,
    Survey,
    expected_calls,
    expected_turns,
    is_adk_compatible,
    no_recording_score,
    paired,
)
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.matchers.base import ARGUMENTS
from proctor.metrics.trajectory.call_matching import (
    EQUALITIES,
    NAMES,
    PYTHON,
    Call,
    Matching,
    Same,
    contained,
    exact,
    found,
    found_in_order,
    in_order,
    in_place,
)
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion, ToolTrajectoryCriterion
from proctor.schema.format.invocation import tool_calls_of
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

if TYPE_CHECKING:
    from proctor.metrics.trajectory.alignment import Alignment


MatchType = ToolTrajectoryCriterion.MatchType
Rule = Callable[[Sequence[Call], Sequence[Call]], float]
RULES: Mapping[MatchType, Callable[..., bool]] = {
    MatchType.EXACT: exact,
    MatchType.IN_ORDER: in_order,
    MatchType.ANY_ORDER: contained,
}
HITS: Mapping[MatchType, Callable[[Sequence[Call], Sequence[Call], Same], int]] = {
    MatchType.EXACT: in_place,
    MatchType.IN_ORDER: found_in_order,
    MatchType.ANY_ORDER: found,
}
EQUALITY_OF = {"adk": "python", "adk-rs": "strict", "adk-ts": "javascript"}
CREDIT_OF = {"adk": "all", "adk-rs": "partial", "adk-ts": "all"}

NONE_STATED = "the case states no tool calls (intermediate_data is null), which counts as none expected"
NULL_ARGUMENTS = "null arguments and {} are not equal, though both call the tool without any"
NO_CALLS = "no calls expected, and none needed"
NOTHING_OF_NOTHING = "no calls were expected and none were made, which adk-rs scores 0"
NO_DATA = (
    "the turn has no data about tool calls (intermediate_data is null), and adk-ts does not score such a turn"
)


class TrajectoryCriterion(ToolTrajectoryCriterion):
    """The format's criterion, with options for the readings of other implementations."""

    credit: Literal["all", "partial"] | None = None
    reading: Literal["adk", "adk-rs", "adk-ts"] = "adk"
    equality: Literal["json", "python", "strict", "javascript"] | None = None
    arguments: object = None


class ToolTrajectory:
    """Per invocation 1.0 if the tool calls match the expected ones, else 0.0; overall the mean.

    `match_type`: EXACT requires the same calls in the same order; IN_ORDER the expected ones in their order, with others
    in between; ANY_ORDER the expected ones in any order, among others.

    `credit: "partial"` gives the share of the correct calls instead: for EXACT those at the same position, of the longer
    list (adk-rs's score; with nothing on either side it is 1 here); for the others those found, of the expected ones.
    It is 1 exactly if the rule holds.
    """

    kind = TrajectoryCriterion
    """The type of its criterion."""
    facts: ClassVar[MetricFacts] = MetricFacts(
        name="tool_trajectory_avg_score",
        description="The share of turns in which the agent's tool calls match the expected ones.",
        default_threshold=1.0,
        example={
            "tool_trajectory_avg_score": {"threshold": 1.0, "match_type": "IN_ORDER", "ignore_args": True}
        },
        needs=frozenset({"expected"}),
        statement=expected_calls,
        options={
            "match_type": "EXACT (the default), IN_ORDER or ANY_ORDER",
            "ignore_args": "true: compare only the names of the tools",
            "credit": "partial (the share of the correct calls) or all (the default: 1 or 0)",
            "reading": "adk (the default), or exactly as adk-rs or adk-ts (@iqai/adk)",
            "equality": "python, json, strict or javascript: which arguments are equal; by default the reading's",
            **ARGUMENTS,
        },
        source="google-adk's metric of this name",
    )

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        typed = check_criterion(self.facts, criterion, self.kind)
        self._match_type = typed.match_type
        self._adk = is_adk_compatible(typed)
        self._reading = typed.reading
        equality = EQUALITIES[typed.equality or EQUALITY_OF[typed.reading]]
        self._matching: Matching = NAMES if typed.ignore_args else equality
        if typed.arguments is not None:
            from proctor.metrics.matchers.tool_arguments import by_matchers

            self._matching = by_matchers(
                self.facts.name, typed.arguments, equality, ignore_args=typed.ignore_args
            )
        self._rule: Rule = RULES[typed.match_type]
        if self._matching is not PYTHON:
            self._rule = partial(RULES[typed.match_type], same=self._matching.same)
        if (typed.credit or CREDIT_OF[typed.reading]) == "partial":
            self._rule = self._share

    def check(self, case: EvalCase) -> Iterable[str]:
        """Return the expected values of a case that the matchers of `arguments` cannot compare."""
        return [f"{self.facts.name}: {problem}" for problem in self._matching.unreadable(case)]

    def survey(self) -> Survey | None:
        """Return the survey for tools and arguments of `arguments` that no case expects."""
        return self._matching.survey()

    def score(self, case: CaseView) -> MetricScore:
        """Compare turn by turn; without recorded conversation it is not applicable (ADK: an error)."""
        if case.expected is None and not self._adk:
            return no_recording_score(case)
        scores = []
        for turn, expected in zip(case.turns, expected_turns(case)):  # noqa: B905 - expected_turns compared their lengths
            actual_calls, expected_calls = (
                turn.tool_calls,
                tool_calls_of(expected.__dict__["intermediate_data"]),
            )
            score = Score(float(self._rule(expected_calls, actual_calls)))
            if actual_calls and not expected_calls and self._match_type is not MatchType.EXACT:
                name = self._match_type.name
                score.warning = f"no calls are expected, so {name} accepts any calls; EXACT would not"
            scores.append(score)
        if self._reading == "adk-ts":
            self._leave_out_what_has_no_data(case, scores)
        return mean_score(scores)

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Return which calls are missing, extra or in another place, and which arguments differ."""
        # imported here, since a score that passes needs neither
        from proctor.metrics.trajectory.alignment import EXTRA, MOVED, align

        turn_score = score.per_invocation[index]
        if turn_score.not_applicable:
            return Explanation(turn_score.reason)
        expected, actual_calls = (case.expected or [])[index], case.turns[index].tool_calls
        alignment = align(expected.tool_calls, actual_calls, self._matching)
        if self._match_type is not MatchType.EXACT:
            alignment.allow(*((EXTRA,) if self._match_type is MatchType.IN_ORDER else (EXTRA, MOVED)))
        reasons = [self._reason(alignment, expected.tool_calls, actual_calls, turn_score)]
        if expected.intermediate_data is None:
            reasons.insert(0, NONE_STATED)
        matched = "every expected call was made" if expected.tool_calls else NO_CALLS
        reason = "; ".join(filter(None, reasons)) or matched
        return Explanation(reason, alignment.to_details(), self._warning(alignment, case, turn_score))

    def _reason(
        self, alignment: Alignment, expected: Sequence[Call], actual: Sequence[Call], turn_score: Score
    ) -> str:
        """Return how the calls differ; empty if they match."""
        from proctor.metrics.trajectory.alignment import alignment_text

        if not expected and not actual and turn_score.value == 0:
            return NOTHING_OF_NOTHING
        reason = alignment_text(
            alignment,
            extra_allowed=self._match_type is not MatchType.EXACT,
            order_matters=self._match_type is not MatchType.ANY_ORDER,
        )
        return (
            f"{self._explain_share(expected, actual)}; {reason}"
            if reason and self._rule == self._share
            else reason
        )

    def _warning(self, alignment: Alignment, case: CaseView, turn_score: Score) -> str:
        has_null = any(not each.name for step in alignment.steps for each in step.differences)
        return turn_score.warning or self._matching.warning(case) or (NULL_ARGUMENTS if has_null else "")

    def _share(self, expected: Sequence[Call], actual: Sequence[Call]) -> float:
        hits, of = self._hits(expected, actual)
        if of == 0:
            return 0.0 if self._reading == "adk-rs" and not actual else 1.0
        return hits / of

    def _hits(self, expected: Sequence[Call], actual: Sequence[Call]) -> tuple[int, int]:
        """Return how many calls are correct, and of how many."""
        hits = HITS[self._match_type](expected, actual, self._matching.same)
        return hits, max(len(expected), len(actual)) if self._match_type is MatchType.EXACT else len(expected)

    def _explain_share(self, expected: Sequence[Call], actual: Sequence[Call]) -> str:
        hits, of = self._hits(expected, actual)
        how = {MatchType.EXACT: "at their position", MatchType.IN_ORDER: "made in order"}.get(
            self._match_type, "made"
        )
        return f"{hits} of {of} calls {how}"

    def _leave_out_what_has_no_data(self, case: CaseView, scores: list[Score]) -> None:
        for index, (actual, expected) in enumerate(paired(case)):
            if actual.intermediate_data is None or expected.intermediate_data is None:
                scores[index] = Score(reason=NO_DATA, not_applicable=True)
