"""The expected calls, tokens, cost and time of a run, as text blocks and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TextIO

from proctor.common.json_values import JsonObject
from proctor.common.safe_text import count_text
from proctor.reports.content.summary import PURPOSE_NAMES, dollars, duration
from proctor.reports.content.text_blocks import Block, Column, text_line, text_table
from proctor.reports.plain import write_blocks
from proctor.schema.results.model_usage import Estimate, Forecast, PurposeEstimate


def write_estimate(estimate: Estimate, out: TextIO) -> None:
    """Write an estimate for people."""
    write_blocks(lambda _: estimate_blocks(estimate), out)


def estimate_data(estimate: Estimate) -> JsonObject:
    """Return an estimate as plain data; what is not known is null."""
    return {
        "cases": estimate.cases,
        "trials": estimate.trials,
        "confidence": estimate.confidence,
        "run_id": estimate.run_id or None,
        "seen": estimate.seen,
        "cost": _data(estimate.cost),
        "known_cost": _data(estimate.known_cost),
        "seconds": _data(estimate.seconds),
        "purposes": {
            part.purpose: {name: _data(getattr(part, name)) for name in ("calls", "tokens", "cost")}
            for part in estimate.parts
        },
        "notes": list(estimate.notes),
    }


def _data(forecast: Forecast | None) -> JsonObject | None:
    return forecast.model_dump() if forecast is not None else None


def brief(estimate: Estimate) -> str:
    """Return an estimate in a line: `about $6.20 (5.90-6.60), 620 calls of judges`."""
    judges = next((part.calls for part in estimate.parts if part.purpose == "judge"), None)
    texts = [_total(estimate), f"{_whole(judges)} calls of judges" if judges is not None else ""]
    return ", ".join(filter(None, texts))


def estimate_blocks(estimate: Estimate) -> Iterator[Block]:
    """Return an estimate as blocks, the same in every form."""
    basis = f"; by {count_text(estimate.seen, 'case')} of run {estimate.run_id}" if estimate.run_id else ""
    yield text_line(f"{count_text(estimate.trials, 'trial')} of {count_text(estimate.cases, 'case')}{basis}")
    rows = [
        (PURPOSE_NAMES.get(part.purpose, part.purpose), ", ".join(_figures(part))) for part in estimate.parts
    ]
    if len(estimate.parts) > 1:
        rows.append(("together", _total(estimate)))
    if estimate.seconds is not None:
        rows.append(("time", _time(estimate.seconds)))
    if rows:
        yield text_table([Column(), Column(wraps=True)], rows)
    if estimate.run_id and estimate.seen > 1:
        yield text_line(
            f"In brackets: {100 * estimate.confidence:g} % prediction interval, if the cases are like those of the run"
        )
    elif estimate.run_id:
        yield text_line("No prediction interval: the run has one case only")
    for note in estimate.notes:
        yield text_line(f"note: {note}")


def _figures(part: PurposeEstimate) -> Iterator[str]:
    if part.calls is not None:
        yield f"{_whole(part.calls)} calls"
    if part.tokens is not None:
        yield f"{_whole(part.tokens)} tokens"
    yield _cost(part.cost)


def _whole(forecast: Forecast) -> str:
    return _with_interval(forecast, "{:,.0f}".format)


def _time(forecast: Forecast) -> str:
    return f"about {_with_interval(forecast, duration)}"


def _total(estimate: Estimate) -> str:
    """Return the cost of all purposes; if that of one is unknown, the known part as a lower limit."""
    if estimate.cost is None and estimate.known_cost is not None and estimate.known_cost.value:
        return f"at least {_cost(estimate.known_cost)}"
    return _cost(estimate.cost)


def _cost(forecast: Forecast | None) -> str:
    if forecast is None:
        return "cost unknown"
    return f"about {_with_interval(forecast, dollars)}"


def _with_interval(forecast: Forecast, text: Callable[[float], str]) -> str:
    """Return a figure with its prediction interval, if there is one and it is more than a single value."""
    low, high = (None if end is None else text(end) for end in (forecast.low, forecast.high))
    interval = "" if low is None or high is None or low == high else f" [{low}-{high}]"
    return f"{text(forecast.value)}{interval}"
