"""What the agent's own calls cost: counted as they are reported, priced when somebody asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from proctor.schema.evidence.trial import Trial, Turn
from proctor.schema.results.model_usage import Spent

_MOST_UNLIKE = 2_000
"""Calls with different counts that are kept before they are priced: memory stays flat."""
_PRICES = "proctor.models.prices:price_of"

Call = tuple[str, int, int, int]
"""Model, input tokens, output tokens, and the input tokens that came from the provider's cache."""


class AgentCosts:
    """The calls of models that an agent reported."""

    __slots__ = ("_calls", "_spent")

    def __init__(self) -> None:
        """Begin with nothing."""
        self._calls: Counter[Call] = Counter()
        self._spent: dict[str, Spent] = {}

    def add(self, model: str | None, usage: Mapping[str, Any]) -> None:
        """Count one call: the usage as google-adk's events have it."""
        asked = (usage.get("prompt_token_count") or 0) + (usage.get("tool_use_prompt_token_count") or 0)
        said = (usage.get("candidates_token_count") or 0) + (usage.get("thoughts_token_count") or 0)
        if not said and usage.get("total_token_count"):
            said = max(0, usage["total_token_count"] - asked)
        self._calls[model or "", asked, said, usage.get("cached_content_token_count") or 0] += 1
        if len(self._calls) >= _MOST_UNLIKE:
            self._price()

    def add_turns(self, turns: Iterable[Turn]) -> None:
        """Count the calls that are reported in turns."""
        for turn in turns:
            for event in turn.events:
                if event.usage_metadata is not None:
                    self.add(event.model_version, event.usage_metadata.__dict__)

    def spent(self) -> list[Spent]:
        """Return what they took so far, by model."""
        self._price()
        return [one.model_copy() for one in self._spent.values()]

    def _price(self) -> None:
        if not self._calls:
            return
        from proctor.common.registry import load_object

        price_of = load_object(_PRICES)
        for (model, asked, said, cached), times in self._calls.items():
            one = self._spent.setdefault(model, Spent(purpose="agent", model=model))
            one.calls += times
            one.input_tokens += times * asked
            one.output_tokens += times * said
            price = (
                price_of(model, input_tokens=asked, output_tokens=said, cached_tokens=cached)
                if model
                else None
            )
            if price is None:
                one.unpriced += times
            else:
                one.cost += times * price
        self._calls.clear()


def costs_of(trial: Trial) -> list[Spent]:
    """Return what the agent spent in one trial, its earlier attempts included, by model."""
    costs = AgentCosts()
    for turns in (trial.turns, *(attempt.turns for attempt in trial.attempts)):
        costs.add_turns(turns)
    return costs.spent()
