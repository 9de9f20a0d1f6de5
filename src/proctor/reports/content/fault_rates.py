"""Agent-fault and simulator-fault rates of played conversations, as text and as data for reports."""

from __future__ import annotations

from typing import Any

from proctor.reports.content.summary import bounds, percent
from proctor.reports.content.symbols import Marks
from proctor.schema.results.case_statistics import FaultRate, FaultRates

__all__ = ["fault_data", "fault_fields", "fault_texts"]


def fault_texts(found: FaultRates, marks: Marks) -> list[str]:
    """Return both rates and the kinds of simulator faults as text; empty without simulated users."""
    if not found:
        return []
    kinds = ", ".join(f"{count} {kind.words}" for kind, count in found.kinds.most_common())
    texts = [f"agent at fault {_text(found.agent, marks)}", f"simulator at fault {_text(found.user, marks)}"]
    return [*texts, kinds] if kinds else texts


def _text(rate: FaultRate, marks: Marks) -> str:
    if rate.rate is None:
        return "in none that could be judged"
    share = percent(rate.rate)
    return f"{share} % ({rate.faults} of {rate.of}, 95 %: {bounds(*rate.interval, marks)})"


def fault_fields(found: FaultRates, marks: Marks) -> list[str]:
    """Return the same for lines that programs read: `agent=25%(1/4,5-70)`, `simulator=…`, `left_plan=2`."""
    if not found:
        return []
    both = (("agent", found.agent), ("simulator", found.user))
    rates = [
        f"{name}={'-' if rate.rate is None else percent(rate.rate) + '%'}({rate.faults}/{rate.of},{bounds(*rate.interval, marks)})"
        for name, rate in both
    ]
    return [*rates, *(f"{kind.value}={count}" for kind, count in found.kinds.most_common())]


def fault_data(found: FaultRates) -> dict[str, Any] | None:
    """Return both rates as plain data; `None` without simulated users."""
    if not found:
        return None
    kinds = {kind.value: count for kind, count in found.kinds.most_common()}
    return {"agent": _data(found.agent), "simulator": {**_data(found.user), "kinds": kinds}}


def _data(rate: FaultRate) -> dict[str, Any]:
    low, high = rate.interval
    return {"faults": rate.faults, "of": rate.of, "rate": rate.rate, "low": low, "high": high}
