"""Loopback addresses, and the Retry-After header of providers."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from math import isfinite


def is_loopback_ip(host: str) -> bool:
    """Return whether `host` is a loopback address of IPv4 or IPv6. A host name is not one."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Return the seconds to wait, above 0; `None` if the headers give no usable value.

    The order is: `retry-after-ms` (milliseconds, as OpenAI and Anthropic send it), `retry-after` as a number of seconds,
    `retry-after` as an HTTP date (RFC 9110, 10.2.3). A date is relative to the server's `date` header, so that different
    clocks do no harm, or else to `now` (seconds since the epoch). Zero, negative numbers, past dates and anything else are
    ignored.
    """
    values = {name.lower(): value.strip() for name, value in headers.items()}
    milliseconds = _number(values.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    retry_after = values.get("retry-after", "")
    seconds = _number(retry_after)
    if seconds is not None:
        return seconds
    until = _date(retry_after)
    if until is None:
        return None
    server_time = _date(values.get("date", ""))
    wait = until - (now if server_time is None else server_time)
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
