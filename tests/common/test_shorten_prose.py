"""The rows of the table of cases."""

from __future__ import annotations

import pytest

from proctor.common.safe_text import shorten_prose


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("turn 1: `look(at=bye)` was not called", 60, "turn 1: `look(at=bye)` was not called"),
        ("turn 1: `look(at=bye)` was not called", 27, "turn 1: `look(at=bye)` was…"),
        ("turn 1: `look(at=bye)` was not called", 15, "turn 1:…"),
        ("`look` and `tell` were called", 14, "`look` and…"),
        ("no code at all in here", 8, "no code…"),
    ],
    ids=["short enough", "after a code", "inside a code", "inside the second code", "without code"],
)
def test_a_shortened_reason_has_no_half_code_mark(text: str, width: int, short: str) -> None:
    assert shorten_prose(text, width) == short
