"""The estimated cost and duration of a run, before it starts."""

from __future__ import annotations

from dataclasses import dataclass, field

from proctor.schema.format.wire_model import WireModel


class Forecast(WireModel):
    """An estimated figure of a future run, with its prediction interval."""

    value: float
    low: float | None = None
    """`None`, as `high` is: one case gives no information on the variation between cases."""
    high: float | None = None


@dataclass(slots=True)
class PurposeEstimate:
    """The estimated usage of calls for one purpose."""

    purpose: str
    """`judge` or `agent`."""
    calls: Forecast | None = None
    tokens: Forecast | None = None
    cost: Forecast | None = None
    """US dollars. `None` in all of these fields: unknown."""


@dataclass(slots=True)
class Estimate:
    """The estimated usage of a run."""

    cases: int
    trials: int
    run_id: str = ""
    """The run that the estimate is based on; empty if there is none."""
    seen: int = 0
    """The number of cases of that run."""
    confidence: float = 0.95
    seconds: Forecast | None = None
    """The duration by the agent's latency, with the same number of parallel trials; scoring is not included."""
    parts: list[PurposeEstimate] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What the estimate does not cover."""

    @property
    def cost(self) -> Forecast | None:
        """US dollars of all known purposes; `None` if some are unknown. The interval combines those of the purposes."""
        costs = [part.cost for part in self.parts]
        known = [cost for cost in costs if cost is not None]
        if not known or len(known) < len(costs):
            return None
        lows = [cost.low for cost in known if cost.low is not None]
        highs = [cost.high for cost in known if cost.high is not None]
        whole = len(lows) == len(known)
        return Forecast(
            value=sum(cost.value for cost in known),
            low=sum(lows) if whole else None,
            high=sum(highs) if whole else None,
        )
