"""Usage of models: tokens and cost of a run by purpose and model, and the estimate for a future run.

Unknown values are reported as unknown, not as 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from proctor.schema.format.wire_model import WireModel

PURPOSES = ("agent", "user", "judge")
"""The agent under test, the simulated user, the judges."""


class Spent(WireModel):
    """What calls of one model for one purpose took."""

    purpose: str
    model: str = ""
    """The name that the agent's framework reports; for judges, the name in the config."""
    calls: int = 0
    """Finished calls, with or without an answer; for the agent, calls that reported usage."""
    cached: int = 0
    """Answers that were known from before, and cost nothing."""
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    """Answers without a reported number of tokens: they are missing in the sums."""
    cost: float = 0.0
    """US dollars of the answers whose price is known."""
    unpriced: int = 0
    """Answers whose price is unknown: they are not in `cost`."""

    @property
    def known_cost(self) -> float | None:
        """US dollars; `None` if the price of any answer is unknown."""
        return None if self.unpriced else self.cost


def sum_usage(spent: Iterable[Spent]) -> list[Spent]:
    """Add up usage by purpose and model, in the order of purposes."""
    sums: dict[tuple[str, str], Spent] = {}
    for one in spent:
        key = one.purpose, one.model
        if (sum_ := sums.get(key)) is None:
            sums[key] = one.model_copy()
            continue
        for name in _COUNTS:
            setattr(sum_, name, getattr(sum_, name) + getattr(one, name))
    order = {purpose: place for place, purpose in enumerate(PURPOSES)}
    return sorted(sums.values(), key=lambda one: (order.get(one.purpose, len(order)), one.model))


def without(spent: Iterable[Spent], part: Iterable[Spent]) -> list[Spent]:
    """Return `spent` minus `part`, for each purpose and model with more calls in `spent`."""
    parts = {(one.purpose, one.model): one for one in sum_usage(part)}
    left = []
    for one in sum_usage(spent):
        known = parts.get((one.purpose, one.model), Spent(purpose=one.purpose))
        if one.calls > known.calls:
            less = {name: max(0, getattr(one, name) - getattr(known, name)) for name in _COUNTS}
            left.append(one.model_copy(update=less))
    return left


_COUNTS = ("calls", "cached", "input_tokens", "output_tokens", "uncounted", "cost", "unpriced")


def total_cost(spent: Iterable[Spent]) -> float | None:
    """Return the total in US dollars; `None` if the price of any answer is unknown, or nothing was reported."""
    costs = [one.known_cost for one in spent]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def known_cost(spent: Iterable[Spent]) -> float:
    """Return the US dollars of the answers whose price is known."""
    return sum(one.cost for one in spent)


def run_cost(spent: Iterable[Spent], unreported: int = 0) -> float | None:
    """Return what a run or a case cost in US dollars, the agent included.

    `unreported`: the attempts at trials in which the agent reported no usage.
    `None`: unknown, because a price is unknown, or the agent reported no usage, or not of every attempt. The other costs
    alone would be too low.
    """
    usages = list(spent)
    is_known = not unreported and any(one.purpose == "agent" for one in usages)
    return total_cost(usages) if is_known else None


@dataclass(frozen=True, slots=True)
class CaseCost:
    """What a case took on models."""

    spent: Sequence[Spent]
    reported: int
    """The attempts at trials in which the agent reported usage."""
    unreported: int
    """The other attempts."""

    @property
    def cost(self) -> float | None:
        """The US dollars without `unreported` attempts; `None` if a price is unknown or the agent reported no usage."""
        return run_cost(self.spent)


def trial_cost(spent: Iterable[Spent], attempts: int, unreported: int) -> float | None:
    """Return the mean cost in US dollars of an attempt at a trial; `None`: unknown.

    The agent's part is the mean of the attempts that are not `unreported` (see `run_cost`); that of simulated users and judges is
    the mean of all attempts.
    """
    usages, reported = list(spent), attempts - unreported
    if reported <= 0 or (cost := run_cost(usages)) is None:
        return None
    of_agent = known_cost(one for one in usages if one.purpose == "agent")
    return of_agent / reported + (cost - of_agent) / attempts


# --- The estimate of a run, before it starts -------------------------------------------------------------------------


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
        """US dollars of all purposes; `None` if that of one is unknown."""
        return None if any(part.cost is None for part in self.parts) else self.known_cost

    @property
    def known_cost(self) -> Forecast | None:
        """US dollars of the purposes whose cost is known; `None` if there is none. The interval combines those of the purposes."""
        costs = [part.cost for part in self.parts if part.cost is not None]
        if not costs:
            return None
        return Forecast(
            value=sum(cost.value for cost in costs),
            low=_sum_if_known(cost.low for cost in costs),
            high=_sum_if_known(cost.high for cost in costs),
        )


def _sum_if_known(values: Iterable[float | None]) -> float | None:
    """Return the sum; `None` if one of the values is unknown."""
    values = [*values]
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
