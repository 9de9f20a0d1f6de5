"""The metric `known_tools`: whether the agent called only tools that exist."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from proctor.common.safe_text import count_text
from proctor.errors import did_you_mean
from proctor.metrics.base import CaseView, MetricFacts, is_adk_compatible, prohibition
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.reason_text import and_more, show_name
from proctor.metrics.structure.declarations import FRAMEWORK_CALLS, Declaration, Tools, tools_of
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.format.content import FunctionCall
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation, InvocationEvents
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

NO_CALLS = "no tool was called in this turn"
NO_CALLS_MADE = "tool calls are expected in this turn, and none was made"
NOT_DECLARED = (
    "the agent does not declare its tools: give it `describe()` with `app_details` (instructions and "
    "`tool_declarations` of each agent), or write them into the criterion"
)

C = TypeVar("C", bound=BaseCriterion)


class ToolCallMetric(ABC, Generic[C]):
    """The share of a turn's calls without mistake; overall the mean over the turns with calls, made or expected.

    A turn in which calls are expected and none was made scores 0, so that an idle agent does not pass.

    An agent that does not declare its tools is an *error*: nothing can be checked.
    """

    facts: MetricFacts
    kind: type[C]

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        self.criterion = check_criterion(self.facts, criterion, self.kind)
        self._declarations = self.own_declarations()

    @abstractmethod
    def own_declarations(self) -> Sequence[Declaration]:
        """Return the tools that the criterion declares."""

    @abstractmethod
    def is_right(self, call: FunctionCall, author: str, tools: Tools) -> bool:
        """Return whether a call has no mistake."""

    @abstractmethod
    def mistakes(self, call: FunctionCall, author: str, tools: Tools) -> list[dict[str, object]]:
        """Return the mistakes of a call, each with a `message`."""

    def score(self, case: CaseView) -> MetricScore:
        """Check each call of each turn."""
        scores = []
        for index, turn in enumerate(case.turns):
            calls = [call for call in turn.tool_calls if call.name not in FRAMEWORK_CALLS]
            if not calls:
                scores.append(self._without_calls(case, index))
                continue
            tools = tools_of(case, index, self._declarations)
            if tools is None:
                return MetricScore(
                    failure=Failure(
                        where="agent", kind=FailureKind.BROKE_CONTRACT, message=NOT_DECLARED, turn=index
                    )
                )
            authored_calls = calls_with_authors(case.actual[index])
            right = [self.is_right(call, author, tools) for author, call in authored_calls]
            scores.append(Score(sum(right) / len(right), warning=self.warning(authored_calls, tools)))
        return mean_score(scores)

    def _without_calls(self, case: CaseView, index: int) -> Score:
        expected = (case.expected or ())[index : index + 1]
        is_expected = any(call.name not in FRAMEWORK_CALLS for turn in expected for call in turn.tool_calls)
        if is_expected and not is_adk_compatible(self.criterion):
            return Score(0.0, NO_CALLS_MADE)
        return Score(reason=NO_CALLS, not_applicable=True)

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Return the mistakes of each call."""
        calls = calls_with_authors(case.actual[index])
        tools = tools_of(case, index, self._declarations)
        if not calls or tools is None:
            return Explanation(score.per_invocation[index].reason)
        entries, sentences = [], []
        for number, (author, call) in enumerate(calls, 1):
            mistakes = self.mistakes(call, author, tools)
            entries.append({"name": call.name, "args": call.args, "author": author, "mistakes": mistakes})
            sentences += [f"call {number}, {show_name(call.name)}: {each['message']}" for each in mistakes]
        reason = "; ".join(and_more(sentences)) or self.all_is_well(len(calls))
        return Explanation(reason, {"calls": entries}, self.warning(calls, tools))

    def all_is_well(self, calls: int) -> str:
        """Return the reason if no call has a mistake."""
        return f"no mistake in {count_text(calls, 'call')}"

    def warning(self, calls: Sequence[tuple[str, FunctionCall]], tools: Tools) -> str:
        """Return what could not be checked; empty if everything was."""
        return ""


def calls_with_authors(invocation: Invocation) -> list[tuple[str, FunctionCall]]:
    """Return the calls of a turn with the agent that made each (empty if the recorded form does not have it)."""
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
    """Return the message about a call of a tool that is not declared."""
    known = tools.names
    if not name:
        return "it names no tool"
    hint = did_you_mean(name, known)
    names = ", ".join(and_more([show_name(each) for each in known], 8)) or "none"
    return f"there is no tool of this name.{hint}" + ("" if hint else f" Declared: {names}.")


class KnownToolsCriterion(BaseCriterion):
    """Names of tools in addition to those that the agent declares."""

    tools: list[str] = []  # noqa: RUF012 - pydantic copies a model's mutable defaults


class KnownTools(ToolCallMetric[KnownToolsCriterion]):
    """The share of calls whose tool is declared by some agent of the app; overall the mean over turns with calls."""

    facts = MetricFacts(
        name="known_tools",
        description="The share of the calls that name an existing tool.",
        default_threshold=1.0,
        needs=frozenset({"tools"}),
        statement=prohibition,
        options={"tools": "names of existing tools in addition to those that the agent declares"},
        source="Proctor",
        example={"known_tools": {"threshold": 1.0, "tools": ["get_weather"]}},
    )
    kind = KnownToolsCriterion

    def own_declarations(self) -> Sequence[Declaration]:
        """Return the names of the criterion."""
        return [Declaration(name) for name in self.criterion.tools]

    def is_right(self, call: FunctionCall, author: str, tools: Tools) -> bool:
        """Return whether the tool exists."""
        return bool(tools.of(call.name, author))

    def mistakes(self, call: FunctionCall, author: str, tools: Tools) -> list[dict[str, object]]:
        """Return the message for an unknown tool, with the name that was probably intended."""
        return [] if self.is_right(call, author, tools) else [{"message": unknown_tool(call.name, tools)}]

    def all_is_well(self, calls: int) -> str:
        """Return the reason if every tool exists."""
        return f"the tool of {'the call exists' if calls == 1 else f'each of {calls} calls exists'}"
