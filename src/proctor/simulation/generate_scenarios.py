"""New scenarios for an agent, by a model that is told the agent's instructions and tools; each is checked before it counts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil
from typing import Any

from proctor.common.prompts import read_prompt
from proctor.common.quick_dataclasses import dataclass, field
from proctor.models.base import ChatModel, Finish, Message, ModelError, ModelOptions, Reply
from proctor.models.settings import patience_of
from proctor.models.strict_json import whole_json
from proctor.schema.format.scenario import ConversationScenario

__all__ = ["NEAR", "AgentOutline", "Generated", "Refused", "Wish", "generate", "likeness"]

BATCH = 10
"""Scenarios that are asked for at once: more of them are more alike."""
_TRIES = 3
"""How often a model is asked for one batch, where its answers cannot be used."""
_IDLE = 2
"""Batches in a row that bring nothing new, after which no more are asked for."""
_FIELDS = ("starting_prompt", "conversation_plan", "tools")
_CALL = re.compile(r"`([A-Za-z]\w*_\w*)`|\b([A-Za-z]\w*_\w*)\s*\(")
"""A word that stands there as the name of a tool would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOutline:
    """What an agent says about itself, as far as it matters here."""

    name: str
    description: str = ""
    instructions: Mapping[str, str] = field(default_factory=dict)
    """By the name of the agent that has them."""
    declarations: Sequence[Any] = ()
    """Its tools as it declares them (JSON)."""
    tools: Collection[str] | None = None
    """Their names; `None` where it may have others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What scenarios are wanted."""

    count: int
    guidance: str = ""
    """What kind."""
    environment: str = ""
    """Facts that they may rest on: what is in the data, who the users are."""
    max_cost: float | None = None
    """US dollars: what was spent before a call has to be less."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A scenario that a model wrote and that is not taken."""

    starting_prompt: str
    why: str


@dataclass(slots=True)
class Generated:
    """What came of asking for scenarios."""

    model: str
    prompt: str
    """Hash of the instructions."""
    agent: AgentOutline
    """What the agent said about itself."""
    scenarios: list[ConversationScenario] = field(default_factory=list)
    tools: list[tuple[str, ...]] = field(default_factory=list)
    """For each scenario the tools that an agent would need, as the model says."""
    refused: list[Refused] = field(default_factory=list)
    problem: str = ""
    """Why there are fewer than were asked for; empty where there are as many."""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    """US dollars; `None` where a price is not known."""


async def generate(
    model: ChatModel,
    agent: AgentOutline,
    wish: Wish,
    *,
    existing: Sequence[ConversationScenario] = (),
    settings: Mapping[str, Any] | None = None,
) -> Generated:
    """Ask for scenarios until there are as many as are wanted, or no new ones come.

    `existing`: those that there are already; none that is near one of them (see `likeness`) is taken, nor one that is near
    another. What a model answers is read strictly, and asked for again where it cannot be used.
    """
    writer = _Writer(model, agent, wish, existing, settings or {})
    await writer.write()
    return writer.found


class _UnusableError(ValueError):
    """An answer is not of the form that was asked for."""


class _Writer:
    def __init__(
        self,
        model: ChatModel,
        agent: AgentOutline,
        wish: Wish,
        existing: Sequence[ConversationScenario],
        settings: Mapping[str, Any],
    ) -> None:
        self._model, self._agent, self._wish, self._settings = model, agent, wish, settings
        self._existing = [_text(one) for one in existing]
        self._told = [one.starting_prompt for one in existing]
        self._prompt = read_prompt("proctor.simulation", "generate.md")
        self.found = Generated(model.name, self._prompt.hash, agent)

    async def write(self) -> None:
        """Ask batch after batch."""
        found, idle = self.found, 0
        for _ in range(2 * ceil(self._wish.count / BATCH) + _IDLE):
            missing = self._wish.count - len(found.scenarios)
            if not missing or idle == _IDLE:
                break
            before = len(found.scenarios)
            try:
                items = await self._batch(min(missing, BATCH))
            except (ModelError, _UnusableError) as error:
                found.problem = str(error)
                return
            self._take(items)
            idle = 0 if len(found.scenarios) > before else idle + 1
        if len(found.scenarios) < self._wish.count:
            found.problem = "no further ones came that are usable and new"

    async def _batch(self, count: int) -> list[dict[str, Any]]:
        wrong = ""
        for _ in range(_TRIES):
            options = ModelOptions(
                schema=_schema(count, self._agent.tools),
                schema_name="scenarios",
                settings=self._settings,
                timeout=patience_of(self._settings),
            )
            self._admit()
            reply = await self._model.complete(self._messages(count, wrong), options=options)
            self._note(reply)
            try:
                return _read(reply, has_schemas=self._model.has_schemas)
            except _UnusableError as error:
                wrong = str(error)
        raise _UnusableError(f"{self._model.name} gave no usable answer in {_TRIES} tries: {wrong}")

    def _messages(self, count: int, wrong: str) -> list[Message]:
        there = [*self._told, *(one.starting_prompt for one in self.found.scenarios)]
        lacking = [f"{one.starting_prompt!r}: {one.why}" for one in self.found.refused[-BATCH:]]
        material = {
            "agent": self._agent.name,
            "description": self._agent.description,
            "instructions": dict(self._agent.instructions),
            "tools": list(self._agent.declarations),
            "environment": self._wish.environment,
            "scenarios that there are already": there,
            "scenarios that were not taken, and why": lacking,
        }
        told = json.dumps(
            {key: one for key, one in material.items() if one}, ensure_ascii=False, indent=1, default=str
        )
        asked = [
            f"# The agent\n\n{told}",
            f"# Guidance\n\n{self._wish.guidance}" if self._wish.guidance else "",
            f"Write {count} new scenario{'' if count == 1 else 's'}, each unlike those that there are already.",
            f"Your last answer could not be used: {wrong}." if wrong else "",
        ]
        return [Message("system", self._prompt.text), Message("user", "\n\n".join(filter(None, asked)))]

    def _take(self, items: Sequence[dict[str, Any]]) -> None:
        """Take what is usable and new, as long as more is wanted; say why of the others, once."""
        for item in items:
            if len(self.found.scenarios) == self._wish.count:
                break
            scenario = ConversationScenario(
                starting_prompt=item["starting_prompt"].strip(),
                conversation_plan=item["conversation_plan"].strip(),
            )
            tools = tuple(item["tools"])
            if why := next(self._problems(scenario, tools), ""):
                refused = Refused(scenario.starting_prompt, why)
                self.found.refused += [] if refused in self.found.refused else [refused]
            else:
                self.found.scenarios.append(scenario)
                self.found.tools.append(tools)

    def _problems(self, scenario: ConversationScenario, tools: Sequence[str]) -> Iterator[str]:
        for name in ("starting_prompt", "conversation_plan"):
            if not getattr(scenario, name):
                yield f"its {name} is empty"
        known = self._agent.tools
        if known is not None:
            said = [first or second for first, second in _CALL.findall(_text(scenario))]
            for name in (*tools, *said):
                if name not in known:
                    yield f"it names {name!r}, which is no tool of the agent"
        yield from self._near(scenario)

    def _near(self, scenario: ConversationScenario) -> Iterator[str]:
        text = _text(scenario)
        others = [*zip(self._told, self._existing, strict=True)]
        others += [(one.starting_prompt, _text(one)) for one in self.found.scenarios]
        for prompt, other in others:
            if (alike := likeness(text, other)) >= NEAR:
                yield f"it is nearly the same as {prompt!r} ({alike:.2f})"

    def _admit(self) -> None:
        spent, most = self.found.cost, self._wish.max_cost
        if most is not None and spent is None:
            raise _UnusableError(
                f"nobody knows what {self._model.name} costs, so that a limit of ${most:g} cannot be kept"
            )
        if most is not None and spent is not None and spent >= most:
            raise _UnusableError(f"${spent:.4g} were spent; the limit is ${most:g}")

    def _note(self, reply: Reply) -> None:
        found, usage = self.found, reply.usage
        found.calls += 1
        found.input_tokens += (usage and usage.input_tokens) or 0
        found.output_tokens += (usage and usage.output_tokens) or 0
        found.cost = None if found.cost is None or reply.cost is None else found.cost + reply.cost


def _text(scenario: ConversationScenario) -> str:
    return f"{scenario.starting_prompt}\n{scenario.conversation_plan}"


def _schema(count: int, tools: Collection[str] | None) -> dict[str, Any]:
    name: dict[str, Any] = {"type": "string"} if tools is None else {"type": "string", "enum": sorted(tools)}
    fields: dict[str, Any] = {
        "starting_prompt": {"type": "string"},
        "conversation_plan": {"type": "string"},
        # without tools there is no name, and an enumeration of nothing is none
        "tools": {"type": "array", "items": name if tools is None or tools else {"type": "string"}},
    }
    one = {"type": "object", "properties": fields, "required": [*_FIELDS], "additionalProperties": False}
    # how many stands in words: not every provider takes a schema with numbers of items
    scenarios = {"type": "array", "items": one, "description": f"The scenarios: {count} in all."}
    return {
        "type": "object",
        "properties": {"scenarios": scenarios},
        "required": ["scenarios"],
        "additionalProperties": False,
    }


def _read(reply: Reply, *, has_schemas: bool) -> list[dict[str, Any]]:
    """Return the scenarios of an answer.

    Raises:
        _UnusableError: it is not of the form that was asked for.
    """
    if reply.finish in _ENDS:
        raise _UnusableError(_ENDS[reply.finish])
    answer = reply.structured
    if answer is None and has_schemas:
        raise _UnusableError("it was not given in the form that was asked for")
    if answer is None:
        try:
            answer = whole_json(reply.text)
        except (ValueError, RecursionError):
            raise _UnusableError("it must be one JSON object and nothing else") from None
    if (
        not isinstance(answer, dict)
        or answer.keys() != {"scenarios"}
        or not isinstance(answer["scenarios"], list)
    ):
        raise _UnusableError('it must be an object {"scenarios": [...]} and nothing else')
    if not answer["scenarios"]:
        raise _UnusableError("it has no scenario")
    for number, item in enumerate(answer["scenarios"]):
        _check(item, f"scenarios[{number}]")
    found: list[dict[str, Any]] = answer["scenarios"]
    return found


_ENDS = {
    Finish.REFUSAL: "it was refused",
    Finish.CONTENT_FILTER: "the provider's content filter kept it back",
    Finish.LENGTH: "it was cut off at its greatest length",
}


def _check(item: Any, where: str) -> None:
    if not isinstance(item, dict) or item.keys() != {*_FIELDS}:
        raise _UnusableError(f"{where} must be an object with the fields {', '.join(_FIELDS)} and no others")
    for name in _FIELDS[:2]:
        if not isinstance(item[name], str):
            raise _UnusableError(f"{where}.{name} must be a text")
    tools = item["tools"]
    if not isinstance(tools, list) or not all(isinstance(one, str) for one in tools):
        raise _UnusableError(f"{where}.tools must be an array of texts")


# --- How alike two texts are, by their words: the same answer every time, and nobody is asked -------------------------


NEAR = 0.6
"""From here on two scenarios are taken for the same one in other words."""
_WORD = re.compile(r"\w+")


def likeness(one: str, other: str) -> float:
    """Return how much two texts share, from 0 to 1: of their words and pairs of neighbouring words, the share in both.

    Case, punctuation and blanks do not count; what stands twice counts twice (a Jaccard index of multisets). Two texts
    of ten words that differ in one have 0.73, the same request for another city and day about 0.4.
    """
    first, second = _features(one), _features(other)
    union = (first | second).total()
    return (first & second).total() / union if union else 1.0


def _features(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return Counter([*((word,) for word in words), *pairwise(words)])
