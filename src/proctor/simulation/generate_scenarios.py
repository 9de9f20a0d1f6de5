"""Generate scenarios for an agent with a model that gets the agent's instructions and tools; each scenario is validated."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from typing import TypedDict, cast

from proctor.common.json_values import parse_whole_json
from proctor.common.prompts import read_prompt
from proctor.common.safe_text import count_text
from proctor.models.base import ChatModel, Finish, Message, ModelError, ModelOptions, Reply
from proctor.models.settings import patience_of
from proctor.schema.format.case import ConversationScenario

BATCH = 10
"""Scenarios in one request: larger batches are less diverse."""
_TRIES = 3
"""Requests for one batch until an answer is usable."""
_IDLE = 2
"""Generation stops after so many consecutive batches without a new scenario."""
_FIELDS = ("starting_prompt", "conversation_plan", "tools")
_CALL = re.compile(r"`([A-Za-z]\w*_\w*)`|\b([A-Za-z]\w*_\w*)\s*\(")
"""A word in the form of a tool call or of a quoted tool name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOutline:
    """The description of an agent for the generation."""

    name: str
    description: str = ""
    instructions: Mapping[str, str] = field(default_factory=dict)
    """By the name of the agent or sub-agent."""
    declarations: Sequence[object] = ()
    """The declarations of its tools (JSON)."""
    tools: Collection[str] | None = None
    """The names of its tools; `None` if the list may be incomplete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """The number and kind of the scenarios to generate."""

    count: int
    guidance: str = ""
    """The kind of scenarios, in free text."""
    environment: str = ""
    """Facts that the scenarios may use, for example about the data and the users."""
    max_cost: float | None = None
    """US dollars; no call starts when so much has been spent."""


@dataclass(frozen=True, slots=True)
class RejectedScenario:
    """A generated scenario that failed validation."""

    starting_prompt: str
    why: str


@dataclass(slots=True)
class Generated:
    """The result of a generation."""

    model: str
    prompt: str
    """Hash of the instructions."""
    agent: AgentOutline
    """The agent that the scenarios are for."""
    scenarios: list[ConversationScenario] = field(default_factory=list)
    tools: list[tuple[str, ...]] = field(default_factory=list)
    """For each scenario, the tools that the agent needs according to the model."""
    refused: list[RejectedScenario] = field(default_factory=list)
    problem: str = ""
    """Why there are fewer scenarios than requested; empty if there are not."""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    """US dollars; `None` if a price is unknown."""


async def generate(
    model: ChatModel,
    agent: AgentOutline,
    request: GenerationRequest,
    *,
    existing: Sequence[ConversationScenario] = (),
    settings: Mapping[str, object] | None = None,
) -> Generated:
    """Request scenarios until there are enough, or until the model finds no new ones.

    A scenario that is similar to one in `existing` or to another generated one (see `likeness`) is rejected. Answers are
    parsed strictly; an unusable answer is requested again.
    """
    generator = _Generator(model, agent, request, existing, settings or {})
    await generator.run()
    return generator.result


class _UnusableError(ValueError):
    """An answer does not have the requested form, or no further request is allowed."""


class _Generator:
    def __init__(
        self,
        model: ChatModel,
        agent: AgentOutline,
        request: GenerationRequest,
        existing: Sequence[ConversationScenario],
        settings: Mapping[str, object],
    ) -> None:
        self._model, self._agent, self._request, self._settings = model, agent, request, settings
        self._existing = [*existing]
        self._prompt = read_prompt("proctor.simulation.prompts", "generate.md")
        self.result = Generated(model.name, self._prompt.hash, agent)

    async def run(self) -> None:
        """Request one batch after another."""
        result, idle = self.result, 0
        for _ in range(2 * ceil(self._request.count / BATCH) + _IDLE):
            missing = self._request.count - len(result.scenarios)
            if not missing or idle == _IDLE:
                break
            before = len(result.scenarios)
            try:
                items = await self._request_batch(min(missing, BATCH))
            except (ModelError, _UnusableError) as error:
                result.problem = str(error)
                return
            self._add(items)
            idle = 0 if len(result.scenarios) > before else idle + 1
        if len(result.scenarios) < self._request.count:
            result.problem = "the model returned no further scenarios that are usable and new"

    async def _request_batch(self, count: int) -> list[_Item]:
        problem = ""
        for _ in range(_TRIES):
            options = ModelOptions(
                schema=_schema(count, self._agent.tools),
                schema_name="scenarios",
                settings=self._settings,
                timeout=patience_of(self._settings),
            )
            self._check_budget()
            reply = await self._model.complete(self._messages(count, problem), options=options)
            self._add_usage(reply)
            try:
                return _parse_answer(reply, has_schemas=self._model.has_schemas)
            except _UnusableError as error:
                problem = str(error)
        raise _UnusableError(f"{self._model.name} gave no usable answer in {_TRIES} attempts: {problem}")

    def _messages(self, count: int, problem: str) -> list[Message]:
        rejected = [f"{each.starting_prompt!r}: {each.why}" for each in self.result.refused[-BATCH:]]
        material = {
            "agent": self._agent.name,
            "description": self._agent.description,
            "instructions": dict(self._agent.instructions),
            "tools": list(self._agent.declarations),
            "environment": self._request.environment,
            "scenarios that there are already": [each.starting_prompt for each in self._all_scenarios()],
            "scenarios that were not taken, and why": rejected,
        }
        agent = json.dumps(
            {key: value for key, value in material.items() if value},
            ensure_ascii=False,
            indent=1,
            default=str,
        )
        sections = [
            f"# The agent\n\n{agent}",
            f"# Guidance\n\n{self._request.guidance}" if self._request.guidance else "",
            f"Write {count_text(count, 'new scenario')}, each unlike those that there are already.",
            f"Your last answer could not be used: {problem}." if problem else "",
        ]
        return [Message("system", self._prompt.text), Message("user", "\n\n".join(filter(None, sections)))]

    def _all_scenarios(self) -> list[ConversationScenario]:
        return [*self._existing, *self.result.scenarios]

    def _add(self, items: Sequence[_Item]) -> None:
        """Add the scenarios that are valid and new until there are enough; record each rejected one once."""
        for item in items:
            if len(self.result.scenarios) == self._request.count:
                break
            scenario = ConversationScenario(
                starting_prompt=item["starting_prompt"].strip(),
                conversation_plan=item["conversation_plan"].strip(),
            )
            tools = tuple(item["tools"])
            problem = next(self._problems(scenario, tools), "")
            rejected = RejectedScenario(scenario.starting_prompt, problem)
            if not problem:
                self.result.scenarios.append(scenario)
                self.result.tools.append(tools)
            elif rejected not in self.result.refused:
                self.result.refused.append(rejected)

    def _problems(self, scenario: ConversationScenario, tools: Sequence[str]) -> Iterator[str]:
        for name in ("starting_prompt", "conversation_plan"):
            if not getattr(scenario, name):
                yield f"its {name} is empty"
        known = self._agent.tools
        if known is not None:
            mentioned = [first or second for first, second in _CALL.findall(_text(scenario))]
            for name in (*tools, *mentioned):
                if name not in known:
                    yield f"it names the tool {name!r}, which the agent does not have"
        for other in self._all_scenarios():
            if (similarity := likeness(_text(scenario), _text(other))) >= NEAR:
                yield f"it is nearly the same as {other.starting_prompt!r} ({similarity:.2f})"

    def _check_budget(self) -> None:
        cost, limit = self.result.cost, self._request.max_cost
        if limit is None:
            return
        if cost is None:
            raise _UnusableError(
                f"the price of {self._model.name} is unknown, so a limit of ${limit:g} cannot be enforced"
            )
        if cost >= limit:
            raise _UnusableError(f"${cost:.4g} were spent; the limit is ${limit:g}")

    def _add_usage(self, reply: Reply) -> None:
        result, usage = self.result, reply.usage
        result.calls += 1
        result.input_tokens += (usage and usage.input_tokens) or 0
        result.output_tokens += (usage and usage.output_tokens) or 0
        result.cost = None if result.cost is None or reply.cost is None else result.cost + reply.cost


def _text(scenario: ConversationScenario) -> str:
    return f"{scenario.starting_prompt}\n{scenario.conversation_plan}"


def _schema(count: int, tools: Collection[str] | None) -> dict[str, object]:
    name: dict[str, object] = (
        {"type": "string"} if tools is None else {"type": "string", "enum": sorted(tools)}
    )
    fields: dict[str, object] = {
        "starting_prompt": {"type": "string"},
        "conversation_plan": {"type": "string"},
        # an empty enum is not a valid schema
        "tools": {"type": "array", "items": name if tools is None or tools else {"type": "string"}},
    }
    scenario = {"type": "object", "properties": fields, "required": [*_FIELDS], "additionalProperties": False}
    # the description has the count because not every provider accepts minItems and maxItems
    scenarios = {"type": "array", "items": scenario, "description": f"The scenarios: {count} in all."}
    return {
        "type": "object",
        "properties": {"scenarios": scenarios},
        "required": ["scenarios"],
        "additionalProperties": False,
    }


class _Item(TypedDict):
    """One scenario in an answer."""

    starting_prompt: str
    conversation_plan: str
    tools: list[str]


def _parse_answer(reply: Reply, *, has_schemas: bool) -> list[_Item]:
    """Return the scenarios of an answer.

    Raises:
        _UnusableError: the answer does not have the requested form.
    """
    answer = _answer_json(reply, has_schemas=has_schemas)
    items = answer["scenarios"] if isinstance(answer, dict) and answer.keys() == {"scenarios"} else None
    if not isinstance(items, list):
        raise _UnusableError('it must be an object {"scenarios": [...]} and nothing else')
    if not items:
        raise _UnusableError("it has no scenario")
    for number, item in enumerate(items):
        _check_item(item, f"scenarios[{number}]")
    return cast("list[_Item]", items)


def _answer_json(reply: Reply, *, has_schemas: bool) -> object:
    if reply.finish in _UNUSABLE_ENDS:
        raise _UnusableError(_UNUSABLE_ENDS[reply.finish])
    if reply.structured is not None:
        return reply.structured
    if has_schemas:
        raise _UnusableError("it does not have the requested form")
    try:
        return parse_whole_json(reply.text)
    except (ValueError, RecursionError):
        raise _UnusableError("it must be one JSON object and nothing else") from None


_UNUSABLE_ENDS = {
    Finish.REFUSAL: "it was refused",
    Finish.CONTENT_FILTER: "the provider's content filter blocked it",
    Finish.LENGTH: "it was cut off at its maximum length",
}


def _check_item(item: object, where: str) -> None:
    if not isinstance(item, dict) or item.keys() != {*_FIELDS}:
        raise _UnusableError(f"{where} must be an object with the fields {', '.join(_FIELDS)} and no others")
    for name in _FIELDS[:2]:
        if not isinstance(item[name], str):
            raise _UnusableError(f"{where}.{name} must be a text")
    tools = item["tools"]
    if not isinstance(tools, list) or not all(isinstance(tool, str) for tool in tools):
        raise _UnusableError(f"{where}.tools must be an array of texts")


# --- The similarity of two texts by their words: deterministic, without a model call ---------------------------------


NEAR = 0.6
"""From this likeness on, two scenarios count as the same."""
_WORD = re.compile(r"\w+")


def likeness(one: str, other: str) -> float:
    """Return the similarity of two texts from 0 to 1: the Jaccard index of the multisets of their words and word pairs.

    Case, punctuation and white space are ignored. Two texts of ten words that differ in one word have 0.73; the same request
    for another city and day has about 0.4.
    """
    first, second = _features(one), _features(other)
    union = (first | second).total()
    return (first & second).total() / union if union else 1.0


def _features(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return Counter([*((word,) for word in words), *pairwise(words)])
