"""Model usage as text: dollars, calls and tokens by purpose. An unknown price is "unknown", never 0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from proctor.common.safe_text import count_text
from proctor.schema.results.model_usage import PURPOSES, Spent, total_cost
from proctor.schema.results.run_result import RunResult

VOID = "calibration void"
"""The start of a badge that is no longer valid (`proctor.schema.analysis.calibration`)."""
PURPOSE_NAMES = {"judge": "judges", "user": "simulated users", "agent": "agent"}


def money_of(run: RunResult) -> list[str]:
    """Return the cost of each purpose: `judges $0.60 (60 calls, 6,600 tokens)`."""
    return [
        f"{PURPOSE_NAMES.get(purpose, purpose)} {usage}" for purpose, usage in money_by_purpose(run.spent)
    ]


def money_by_purpose(spent: Sequence[Spent]) -> Iterator[tuple[str, str]]:
    """Return each purpose that used models, with its cost."""
    for purpose, usages in by_purpose(spent):
        yield purpose, f"{cost_text(usages)} ({', '.join(_counts(usages))})"


def by_purpose(spent: Sequence[Spent]) -> Iterator[tuple[str, list[Spent]]]:
    """Return the usage for each purpose, judges first."""
    others = [one.purpose for one in spent if one.purpose not in PURPOSES]
    for purpose in dict.fromkeys([*reversed(PURPOSES), *others]):
        if usages := [one for one in spent if one.purpose == purpose]:
            yield purpose, usages


def cost_text(spent: Iterable[Spent]) -> str:
    """Return US dollars: `$0.60`; `unknown` or `at least $0.60` if some prices are unknown."""
    usages = list(spent)
    cost = total_cost(usages)
    if cost is not None:
        return dollars(cost)
    known = sum(one.cost for one in usages)
    return f"at least {dollars(known)}" if known else "unknown"


def dollars(cost: float) -> str:
    """Return US dollars: `$12.30`, `$0.0042`; small amounts with two digits."""
    return f"${cost:,.2f}" if cost >= 1 or not cost else f"${cost:.2g}" if cost < 0.01 else f"${cost:.3f}"


def _counts(spent: Sequence[Spent]) -> Iterator[str]:
    calls, cached = sum(one.calls for one in spent), sum(one.cached for one in spent)
    tokens = sum(one.input_tokens + one.output_tokens for one in spent)
    yield count_text(calls, "call")
    if tokens:
        yield f"{tokens:,} tokens"
    if cached:
        yield f"{cached:,} known from before"
    if unknown := unpriced_models(spent):
        yield f"no price known of {', '.join(unknown)}"


def unpriced_models(spent: Sequence[Spent]) -> list[str]:
    """Return the models whose price is not known."""
    return sorted({one.model or "a model without a name" for one in spent if one.unpriced})


def spent_data(run: RunResult) -> dict[str, object]:
    """Return the model usage and the judges as plain data."""
    return {
        "cost": run.cost,
        "spent": [{**one.model_dump(), "cost": one.known_cost} for one in run.spent],
        "judged_by": [asdict(one) for one in run.judged_by],
        "calibrations": run.badges,
    }
