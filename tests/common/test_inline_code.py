"""Names in sentences that are marked as code."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from proctor.common.inline_code import code_mark, code_parts, shorten_prose

NAMES = ["get_order", "a`b", "`", "``", "`x`", "```sh", " x", "a `b` c", "x``", "it's", "(a`)"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_with_backticks_is_one_code_in_its_sentence(name: str) -> None:
    text = f"turn 1: {code_mark(name)} was not called, and ({code_mark('look')}) was"
    assert [*code_parts(text)] == [
        ("turn 1: ", False),
        (name, True),
        (" was not called, and (", False),
        ("look", True),
        (") was", False),
    ]


@given(st.text("ab` (é", min_size=1).filter(str.strip))
def test_a_mark_is_read_as_it_was_written(name: str) -> None:
    assert [*code_parts(code_mark(name))] == [(name, True)]


@pytest.mark.parametrize("text", ["never a`b: a `c", "`", "don`t and won`t", "`` open", "", "a\n`b\nc`"])
def test_backticks_that_mark_nothing_stay(text: str) -> None:
    assert "".join(part for part, is_code in code_parts(text) if not is_code) == text


def test_a_name_written_without_a_longer_mark_is_read_up_to_the_end_of_its_word() -> None:
    assert [*code_parts("`a`b()` was called")] == [("a`b()", True), (" was called", False)]


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("turn 1: `look(at=bye)` was not called", 60, "turn 1: `look(at=bye)` was not called"),
        ("turn 1: `look(at=bye)` was not called", 27, "turn 1: `look(at=bye)` was…"),
        ("turn 1: `look(at=bye)` was not called", 15, "turn 1: `look…`"),
        ("turn 1: `` l`ok(at=bye) `` was not called", 19, "turn 1: `` l`ok… ``"),
        ("turn 1: `look(at=bye)` was not called", 10, "turn 1:…"),
        ("turn 1: `` l`ok(at=bye) `` was not called", 14, "turn 1:…"),
        ("`look` and `tell` were called", 14, "`look` and…"),
        ("no code at all in here", 8, "no code…"),
    ],
    ids=[
        "short enough", "after a code", "inside a code", "inside a code with a backtick", "at the mark", "at a long mark",
        "inside the second code", "without code",
    ],
)  # fmt: skip
def test_a_shortened_reason_has_no_half_code_mark(text: str, width: int, short: str) -> None:
    assert shorten_prose(text, width) == short
