"""`trajectory_single_tool_use`: whether a particular tool was called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from proctor.common.inline_code import code_mark
from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.reason_text import and_more, show_name
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

NOT_LAST = "only the last turn is scored"
ELSEWHERE = "another turn calls it, and one is enough"


class SingleToolCriterion(BaseCriterion):
    """The criterion: the tool, and the turns to search."""

    tool_name: str | None = None
    turns: Literal["all", "any", "last"] = "all"


class SingleToolUse:
    """1.0 in each turn in which the tool was called, else 0.0; arguments, position and number do not matter.

    `turns`: every turn must call it (`all`), one of the conversation (`any`), or the last one (`last`). It compares with
    nothing recorded, so it serves scenarios, too.
    """

    kind = SingleToolCriterion
    """The criterion class."""
    facts: ClassVar[MetricFacts] = MetricFacts(
        name="trajectory_single_tool_use",
        description="Whether the tool that the criterion names was called.",
        default_threshold=1.0,
        example={"trajectory_single_tool_use": {"threshold": 1.0, "tool_name": "get_weather"}},
        options={
            "tool_name": "get_weather (for example): the tool that must be called",
            "turns": "all (the default: in every turn), any (somewhere in the conversation) or last",
        },
        required=frozenset({"tool_name"}),
        source="the Gen AI evaluation service's metric of this name; `turns` is ours",
    )

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        typed = check_criterion(self.facts, criterion, self.kind)
        self._tool = typed.tool_name
        self._turns = typed.turns

    def score(self, case: CaseView) -> MetricScore:
        """Search for the tool turn by turn."""
        used = [any(call.name == self._tool for call in turn.tool_calls) for turn in case.turns]
        return mean_score([self._turn_score(used, index) for index in range(len(used))])

    def _turn_score(self, used: Sequence[bool], index: int) -> Score:
        if self._turns == "last" and index < len(used) - 1:
            return Score(reason=NOT_LAST, not_applicable=True)
        if self._turns == "any" and any(used) and not used[index]:
            return Score(reason=ELSEWHERE, not_applicable=True)
        return Score(1.0 if used[index] else 0.0)

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Return whether the tool was called, and which others were."""
        turn_score, calls = score.per_invocation[index], case.turns[index].tool_calls
        name = code_mark(show_name(self._tool))
        if turn_score.not_applicable:
            return Explanation(turn_score.reason)
        if turn_score.value:
            return Explanation(f"{name} was called")
        others = [code_mark(show_name(other)) for other in dict.fromkeys(call.name for call in calls)]
        instead = f"what was called: {', '.join(and_more(others))}" if others else "no tool was"
        return Explanation(f"{name} was not called; {instead}")
