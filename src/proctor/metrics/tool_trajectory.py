"""`tool_trajectory_avg_score`: did the agent call the expected tools with the expected arguments?"""

from __future__ import annotations

from typing import ClassVar

from proctor.metrics.alignment import align, describe
from proctor.metrics.base import CaseView, MetricFacts, is_adk_compatible
from proctor.metrics.options import check_criterion
from proctor.metrics.pairs import expected_turns, nothing_recorded
from proctor.metrics.trajectory import contained, exact, in_order
from proctor.schema.criterion import BaseCriterion, ToolTrajectoryCriterion
from proctor.schema.score import Explanation, MetricScore, Score, mean_score

__all__ = ["ToolTrajectory"]

MatchType = ToolTrajectoryCriterion.MatchType
RULES = {MatchType.EXACT: exact, MatchType.IN_ORDER: in_order, MatchType.ANY_ORDER: contained}

NONE_STATED = "the case states no tool calls (intermediate_data is null), which reads as none expected"
NULL_ARGUMENTS = "null arguments and {} are not equal, though both call the tool without any"


class ToolTrajectory:
    """Per invocation 1.0 where the tool calls match the expected ones, else 0.0; overall the mean.

    `match_type`: EXACT wants the same calls in the same order; IN_ORDER the expected ones in their order, with others
    in between; ANY_ORDER the expected ones in any order, among others.
    """

    facts: ClassVar[MetricFacts] = MetricFacts(
        name="tool_trajectory_avg_score",
        description="The share of turns in which the agent's tool calls match the expected ones.",
        default_threshold=1.0,
        needs=frozenset({"expected"}),
        options={
            "match_type": "EXACT (the default), IN_ORDER or ANY_ORDER",
            "ignore_args": "true: compare only the names of the tools",
        },
        source="google-adk's metric of this name",
    )

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        typed = check_criterion(self.facts, criterion, ToolTrajectoryCriterion)
        self._match_type = typed.match_type
        self._rule = RULES[typed.match_type]
        self._ignore_args = typed.ignore_args
        self._adk = is_adk_compatible(typed)

    def score(self, case: CaseView) -> MetricScore:
        """Compare turn by turn; a scenario has nothing to compare with (ADK: an error)."""
        if case.expected is None and not self._adk:
            return nothing_recorded(case)
        scores = []
        for turn, expected in zip(case.turns, expected_turns(case)):  # noqa: B905 - it has compared their lengths
            made, wanted = turn.tool_calls, expected.tool_calls
            score = Score(1.0 if self._rule(wanted, made, ignore_args=self._ignore_args) else 0.0)
            if made and not wanted and self._match_type is not MatchType.EXACT:
                score.warning = self._passes_anything()
            scores.append(score)
        return mean_score(scores)

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Which call is missing, extra or in another place, and which argument differs."""
        wanted = (case.expected or [])[index]
        calls = wanted.tool_calls
        alignment = align(calls, case.turns[index].tool_calls, ignore_args=self._ignore_args)
        reason = describe(
            alignment,
            extra_allowed=self._match_type is not MatchType.EXACT,
            order_matters=self._match_type is not MatchType.ANY_ORDER,
        )
        if wanted.intermediate_data is None:
            reason = f"{NONE_STATED}; {reason}" if reason else NONE_STATED
        warning = score.per_invocation[index].warning
        if any(not each.name for step in alignment.steps for each in step.differences):
            warning = warning or NULL_ARGUMENTS
        matched = "every expected call was made" if calls else "no calls expected, and none needed"
        return Explanation(reason or matched, alignment.to_details(), warning)

    def _passes_anything(self) -> str:
        return f"no calls are expected, and {self._match_type.name} then accepts whatever was called; EXACT would not"
