"""What a run will take, in words and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

from proctor.common.safe_text import clean, clean_json, encodable
from proctor.reports.content.cost_text import dollars
from proctor.reports.content.summary import duration
from proctor.schema.results.estimate import Estimate, Forecast, PurposeEstimate

_NAMES = {"judge": "judges", "agent": "agent", "user": "played users"}


def write_estimate(found: Estimate, out: TextIO) -> None:
    """Write an estimate for people."""
    encoding = getattr(out, "encoding", None)
    out.writelines(encodable(clean(line), encoding) + "\n" for line in _lines(found))


def write_json(found: Estimate, out: TextIO) -> None:
    """Write an estimate as JSON."""
    out.write(clean_json(json.dumps(as_data(found), indent=2, ensure_ascii=False, allow_nan=False)) + "\n")


def as_data(found: Estimate) -> dict[str, Any]:
    """Return an estimate as plain data; what is not known is null."""
    return {
        "cases": found.cases,
        "trials": found.trials,
        "confidence": found.confidence,
        "run_id": found.run_id or None,
        "seen": found.seen,
        "cost": _data(found.cost),
        "seconds": _data(found.seconds),
        "purposes": {
            part.purpose: {name: _data(getattr(part, name)) for name in ("calls", "tokens", "cost")}
            for part in found.parts
        },
        "notes": found.notes,
    }


def _data(forecast: Forecast | None) -> dict[str, Any] | None:
    return forecast.model_dump() if forecast is not None else None


def brief(found: Estimate) -> str:
    """Return an estimate in a line: `about $6.20 (5.90-6.60), 620 calls of judges`."""
    judges = next((part.calls for part in found.parts if part.purpose == "judge"), None)
    told = [_cost(found.cost), f"{_whole(judges)} calls of judges" if judges is not None else ""]
    return ", ".join(filter(None, told))


def _lines(found: Estimate) -> Iterator[str]:
    seen = (
        f"; by {found.seen} case{'' if found.seen == 1 else 's'} of run {found.run_id}"
        if found.run_id
        else ""
    )
    yield f"{_count(found.trials, 'trial')} of {_count(found.cases, 'case')}{seen}"
    for part in found.parts:
        yield f"  {_NAMES.get(part.purpose, part.purpose):12} {', '.join(_told(part))}"
    if len(found.parts) > 1:
        yield f"  {'together':12} {_cost(found.cost)}"
    if found.seconds is not None:
        yield f"  {'time':12} {_time(found.seconds)}"
    if found.run_id and found.seen > 1:
        yield f"between brackets: where it will lie at {100 * found.confidence:g} %, if its cases are like those"
    elif found.run_id:
        yield "how far it may be from that, one case cannot tell"
    for note in found.notes:
        yield f"note: {note}"


def _told(part: PurposeEstimate) -> Iterator[str]:
    if part.calls is not None:
        yield f"{_whole(part.calls)} calls"
    if part.tokens is not None:
        yield f"{_whole(part.tokens)} tokens"
    yield _cost(part.cost)


def _whole(forecast: Forecast) -> str:
    if forecast.low is None or forecast.high is None:
        return f"{forecast.value:,.0f}"
    return f"{forecast.value:,.0f} [{forecast.low:,.0f}-{forecast.high:,.0f}]"


def _time(forecast: Forecast) -> str:
    if forecast.low is None or forecast.high is None:
        return f"about {duration(forecast.value)}"
    return f"about {duration(forecast.value)} [{duration(forecast.low)}-{duration(forecast.high)}]"


def _cost(forecast: Forecast | None) -> str:
    if forecast is None:
        return "cost unknown"
    if forecast.low is None or forecast.high is None:
        return f"about {dollars(forecast.value)}"
    return f"about {dollars(forecast.value)} [{dollars(forecast.low)}-{dollars(forecast.high)}]"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
