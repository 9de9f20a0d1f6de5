"""Parameter types for durations and points in time: `7d`, `2026-11-20`, `yesterday`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import click

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])[a-z]*", re.IGNORECASE)


class Age(click.ParamType):  # type: ignore[type-arg]  # generic for some releases of click only
    """A duration: `30d`, `12h`, `2w`."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Parse `value`."""
        if isinstance(value, timedelta):
            return value
        age = read_age(str(value))
        if age is None:
            self.fail(f"{value!r} is not a valid duration (expected e.g. 30d, 12h, 2w)", param, ctx)
        return age


class MomentType(click.ParamType):  # type: ignore[type-arg]  # generic for some releases of click only
    """A point in time: a date, a date with a time, `today`, `yesterday`, or an age (`7d`)."""

    name = "when"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Parse `value`; without a time zone it is in local time."""
        if isinstance(value, datetime):
            return value
        moment = read_moment(str(value), datetime.now(tz=UTC).astimezone())
        if moment is None:
            self.fail(
                f"{value!r} is not a valid time (expected e.g. 7d (ago), yesterday, 2026-11-20 or '2026-11-20 14:00')",
                param,
                ctx,
            )
        return moment


def read_age(text: str) -> timedelta | None:
    """Return the duration that `text` denotes, or `None` if it is not valid."""
    match = _AGE.fullmatch(text.strip())
    if match is None:
        return None
    try:
        return timedelta(seconds=float(match[1]) * _UNITS[match[2].lower()])
    except OverflowError:
        return None


def read_moment(text: str, now: datetime) -> datetime | None:
    """Return the point in time that `text` denotes relative to `now`, or `None` if it is not valid."""
    word = text.strip().lower()
    if word in {"today", "yesterday"}:
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(days=word == "yesterday")
    try:
        if (age := read_age(text)) is not None:
            return now - age
        moment = datetime.fromisoformat(text.strip())
    except (OverflowError, ValueError):
        return None
    return moment if moment.tzinfo else moment.astimezone()
