"""What judging has taken so far: calls, tokens, dollars, by model."""

from __future__ import annotations

from dataclasses import dataclass, field

from proctor.models.base import ModelError, Reply
from proctor.schema.results.model_usage import Spent as SpentOf

__all__ = ["Spent", "SpentOnModel"]


@dataclass(slots=True)
class SpentOnModel:
    """What calls of one model took."""

    calls: int = 0
    """Calls that ended, with or without a reply."""
    requests: int = 0
    """How often its provider was asked for them."""
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    """Replies whose tokens the provider did not tell: the sums are too low by theirs."""
    cost: float = 0.0
    """US dollars."""
    unpriced: int = 0
    """Replies of which the price is not known."""


@dataclass(slots=True)
class Spent:
    """What the judges of a run took, by model as users name it."""

    models: dict[str, SpentOnModel] = field(default_factory=dict)
    cached: int = 0
    """Votes that were known from before, and cost nothing."""

    @property
    def calls(self) -> int:
        """How many calls there were."""
        return sum(one.calls for one in self.models.values())

    @property
    def cost(self) -> float | None:
        """US dollars; `None` where the price of any reply is not known."""
        if any(one.unpriced for one in self.models.values()):
            return None
        return sum(one.cost for one in self.models.values())

    def add(self, model: str, reply: Reply) -> None:
        """Count a reply."""
        one = self.models.setdefault(model, SpentOnModel())
        one.calls += 1
        one.requests += reply.requests
        usage = reply.usage
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            one.uncounted += 1
        else:
            one.input_tokens += usage.input_tokens
            one.output_tokens += usage.output_tokens
        if reply.cost is None:
            one.unpriced += 1
        else:
            one.cost += reply.cost

    def by_model(self, purpose: str) -> list[SpentOf]:
        """Return what they took as it is kept with a run; answers from before are not told by model."""
        found = [
            SpentOf(
                purpose=purpose,
                model=model,
                calls=one.calls,
                input_tokens=one.input_tokens,
                output_tokens=one.output_tokens,
                uncounted=one.uncounted,
                cost=one.cost,
                unpriced=one.unpriced,
            )
            for model, one in self.models.items()
        ]
        return [*found, SpentOf(purpose=purpose, cached=self.cached)] if self.cached else found

    def failed(self, model: str, error: ModelError) -> None:
        """Count a call that gave no reply."""
        one = self.models.setdefault(model, SpentOnModel())
        one.calls += 1
        one.failed += 1
        one.requests += getattr(error, "requests", 1)
