"""What `known_tools` and `tool_schema` share: each call of a turn held against the tools that are declared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

from proctor.errors import did_you_mean
from proctor.metrics.base import CaseView, MetricFacts, is_adk_compatible
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.reason_text import and_more, show_name
from proctor.metrics.structure.declarations import FRAMEWORK_CALLS, Declaration, Tools, tools_of
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.format.content import FunctionCall
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation, InvocationEvents
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

__all__ = ["NO_CALLS", "ToolCallMetric", "calls_with_authors", "unknown_tool"]

NO_CALLS = "no tool was called in this turn"
NO_CALLS_MADE = "tool calls are expected in this turn, and none was made"
NOT_TOLD = (
    "the agent does not say which tools it has: give it `describe()` with `app_details` (instructions and "
    "`tool_declarations` of each agent), or write them into the criterion"
)

C = TypeVar("C", bound=BaseCriterion)


class ToolCallMetric(ABC, Generic[C]):
    """The share of a turn's calls without mistake; overall the mean over the turns with calls, made or expected.

    A turn in which calls are expected and none was made scores 0: what the agent does not do must not drop a gate.

    An agent that does not say which tools it has is an *error*: nothing could be checked.
    """

    facts: MetricFacts
    kind: type[C]

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        self.criterion = check_criterion(self.facts, criterion, self.kind)
        self._given = self.given()

    @abstractmethod
    def given(self) -> Sequence[Declaration]:
        """The tools that the criterion declares."""

    @abstractmethod
    def is_right(self, call: FunctionCall, author: str, tools: Tools) -> bool:
        """Tell whether a call has no mistake."""

    @abstractmethod
    def mistakes(self, call: FunctionCall, author: str, tools: Tools) -> list[dict[str, Any]]:
        """What is wrong with a call, each with a `message`."""

    def score(self, case: CaseView) -> MetricScore:
        """Check each call of each turn."""
        scores = []
        for index, turn in enumerate(case.turns):
            calls = [call for call in turn.tool_calls if call.name not in FRAMEWORK_CALLS]
            if not calls:
                scores.append(self._without_calls(case, index))
                continue
            tools = tools_of(case, index, self._given)
            if tools is None:
                return MetricScore(failure=_not_told(index))
            made = calls_with_authors(case.actual[index])
            found = [self.is_right(call, author, tools) for author, call in made]
            scores.append(Score(sum(found) / len(found), warning=self.doubt(made, tools)))
        return mean_score(scores)

    def _without_calls(self, case: CaseView, index: int) -> Score:
        expected = (case.expected or ())[index : index + 1]
        is_expected = any(call.name not in FRAMEWORK_CALLS for turn in expected for call in turn.tool_calls)
        if is_expected and not is_adk_compatible(self.criterion):
            return Score(0.0, NO_CALLS_MADE)
        return Score(reason=NO_CALLS, not_applicable=True)

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Which calls have which mistakes."""
        calls = calls_with_authors(case.actual[index])
        tools = tools_of(case, index, self._given)
        if not calls or tools is None:
            return Explanation(score.per_invocation[index].reason)
        listed, sentences = [], []
        for number, (author, call) in enumerate(calls, 1):
            found = self.mistakes(call, author, tools)
            listed.append({"name": call.name, "args": call.args, "author": author, "mistakes": found})
            sentences += [f"call {number}, {show_name(call.name)}: {each['message']}" for each in found]
        reason = "; ".join(and_more(sentences)) or self.all_is_well(len(calls))
        return Explanation(reason, {"calls": listed}, self.doubt(calls, tools))

    def all_is_well(self, calls: int) -> str:
        """The reason where no call has a mistake."""
        return f"no mistake in {calls} call{'' if calls == 1 else 's'}"

    def doubt(self, calls: Sequence[tuple[str, FunctionCall]], tools: Tools) -> str:
        """What could not be checked; empty when everything was."""
        return ""


def calls_with_authors(invocation: Invocation) -> list[tuple[str, FunctionCall]]:
    """The calls of a turn with the agent that made each (empty where the recorded form does not say)."""
    return [(author, call) for author, call in _all_calls(invocation) if call.name not in FRAMEWORK_CALLS]


def _all_calls(invocation: Invocation) -> Iterator[tuple[str, FunctionCall]]:
    data = invocation.intermediate_data
    if not isinstance(data, InvocationEvents):
        yield from (("", call) for call in invocation.tool_calls)
        return
    for event in data.invocation_events:
        for part in (event.content and event.content.parts) or ():
            if part.function_call is not None:
                yield event.author, part.function_call


def unknown_tool(name: str | None, tools: Tools) -> str:
    """The sentence about a call of a tool that nobody declares."""
    known = tools.names
    if not name:
        return "it names no tool"
    hint = did_you_mean(name, known)
    listed = ", ".join(and_more([show_name(each) for each in known], 8)) or "none"
    return f"there is no tool of this name.{hint}" + ("" if hint else f" Declared: {listed}.")


def _not_told(turn: int) -> Failure:
    return Failure(where="agent", kind=FailureKind.BROKE_CONTRACT, message=NOT_TOLD, turn=turn)
