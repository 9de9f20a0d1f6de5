"""Usage of models in a run: tokens and cost, by purpose and model. Unknown values are reported as unknown, not as 0."""

from collections.abc import Iterable

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


def together(spent: Iterable[Spent]) -> list[Spent]:
    """Add up usage by purpose and model, in the order of purposes."""
    found: dict[tuple[str, str], Spent] = {}
    for one in spent:
        key = one.purpose, one.model
        if (sum_ := found.get(key)) is None:
            found[key] = one.model_copy()
            continue
        for name in _COUNTS:
            setattr(sum_, name, getattr(sum_, name) + getattr(one, name))
    order = {purpose: place for place, purpose in enumerate(PURPOSES)}
    return sorted(found.values(), key=lambda one: (order.get(one.purpose, len(order)), one.model))


def without(spent: Iterable[Spent], part: Iterable[Spent]) -> list[Spent]:
    """Return `spent` minus `part`, for each purpose and model with more calls in `spent`."""
    parts = {(one.purpose, one.model): one for one in together(part)}
    left = []
    for one in together(spent):
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
