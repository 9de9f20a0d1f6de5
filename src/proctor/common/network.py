"""Which addresses are this machine's own."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from math import isfinite


def is_loopback_ip(host: str) -> bool:
    """Tell whether `host` is a loopback address of IP, 4 or 6; a name is none."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# --- How long a provider asks to wait: Retry-After in every form that is sent -----------------------------------------


def read_retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Return the seconds to wait, above 0; `None` where nothing usable is said.

    Read in this order: `retry-after-ms` (milliseconds, as OpenAI and Anthropic send it), `retry-after` as a number of
    seconds, `retry-after` as an HTTP date (RFC 9110, 10.2.3), seen from the server's own `date` where it is sent, so
    that clocks which differ do no harm, else from `now` (seconds since the epoch). Negative numbers, zero, dates that
    are over and anything else say nothing.
    """
    told = {name.lower(): value.strip() for name, value in headers.items()}
    milliseconds = _number(told.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    said = told.get("retry-after", "")
    seconds = _number(said)
    if seconds is not None:
        return seconds
    until = _date(said)
    if until is None:
        return None
    began = _date(told.get("date", ""))
    wait = until - (now if began is None else began)
    return wait if wait > 0 else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) and number > 0 else None


def _date(text: str) -> float | None:
    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
