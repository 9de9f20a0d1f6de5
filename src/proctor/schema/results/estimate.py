"""What a run will take, before it is run."""

from __future__ import annotations

from dataclasses import dataclass, field

from proctor.schema.format.wire_model import WireModel


class Forecast(WireModel):
    """A figure of a run to come, with the interval that it will lie in."""

    value: float
    low: float | None = None
    """`None` with `high`: one case says nothing of how cases differ."""
    high: float | None = None


@dataclass(slots=True)
class PurposeEstimate:
    """What calls for one purpose will take."""

    purpose: str
    """`judge` or `agent`."""
    calls: Forecast | None = None
    tokens: Forecast | None = None
    cost: Forecast | None = None
    """US dollars. `None` in all of these: not known."""


@dataclass(slots=True)
class Estimate:
    """What a run will take."""

    cases: int
    trials: int
    run_id: str = ""
    """The run that it rests on; empty where there is none to go by."""
    seen: int = 0
    """How many cases of that run there are to go by."""
    confidence: float = 0.95
    seconds: Forecast | None = None
    """How long it takes by the time of its agent, as many trials at once as it may have; judging comes on top."""
    parts: list[PurposeEstimate] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What it does not know."""

    @property
    def cost(self) -> Forecast | None:
        """US dollars of all that is known; `None` where some of it is not. Its interval takes the parts as they add up."""
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
