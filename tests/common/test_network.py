"""Retry-After in every form that is sent."""

from __future__ import annotations

from email.utils import formatdate
from math import inf, isfinite, nan

import pytest
from hypothesis import given, strategies as st

from proctor.common.network import read_retry_after

NOW = 1_790_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": " 7 "}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "1e9"}, 1e9),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"retry-after": "Mon, 21 Sep 2026 14:13:50 GMT"}, 30.0),
        ({"retry-after": "Mon, 21 Sep 2026 16:13:50 +0200"}, 30.0),
        ({"retry-after": "Mon Sep 21 14:13:50 2026"}, 30.0),
        (
            {"retry-after": formatdate(NOW + 3630, usegmt=True), "date": formatdate(NOW + 3600, usegmt=True)},
            30.0,
        ),
        ({"retry-after": formatdate(NOW + 30, usegmt=True), "date": "yesterday"}, 30.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after": formatdate(NOW - 30, usegmt=True)}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "１２"}, 12.0),
        ({"retry-after": "1, 2"}, None),
        ({}, None),
    ],
    ids=str,
)
def test_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers, now=NOW) == (None if seconds is None else pytest.approx(seconds))


@given(st.text(), st.text(), st.text())
def test_parsed_wait_is_a_positive_number_or_none(after: str, ms: str, date: str) -> None:
    wait = read_retry_after({"retry-after": after, "retry-after-ms": ms, "date": date}, now=NOW)
    assert wait is None or (isfinite(wait) and wait > 0)


@given(st.sampled_from([nan, inf, -inf]) | st.floats(max_value=0, allow_nan=False))
def test_invalid_retry_time_gives_none(number: float) -> None:
    assert read_retry_after({"retry-after": str(number)}, now=NOW) is None
