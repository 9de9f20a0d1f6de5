"""The kinds of values that the cause of a failure leaves out."""

from __future__ import annotations

import string
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from proctor.reports.content.failure_causes import violation
from proctor.reports.content.value_kinds import VALUE_KINDS, mask_values

KINDS: dict[str, list[str]] = {
    "quoted text": ['"a b"', "'it is'", '""', "'/tmp/x'"],
    "URL": ["https://api.example/v1?x=1&y=2#z", "http://127.0.0.1:8080", "gs://bucket/a.json"],
    "e-mail address": ["ann@example.com", "ann.b+c@mail.example.co"],
    "UUID": ["123e4567-e89b-12d3-a456-426614174000", "ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB"],
    "path with a root": ["/tmp/a/b.json", "/usr/lib", "./a", "../a/b", "~/x.y", "C:\\a\\b.txt", "/tmp/a.py:12:3"],
    "path of a file": ["a/x.json", "src/my_agent/tools.py:7", "sets/orders.evalset.json"],
    "date and time": ["2026-12-01T10:00:00Z", "2026-12-01 10:00", "2026-12-01T10:00:00.123+01:00"],
    "amount of money": ["$3.20", "€5", "3.20 €", "USD 5", "1,000.50 EUR", "-$3", "US$7"],
    "percentage": ["85 %", "12.5%", "100\u00a0%"],
    "duration": ["1.2 s", "900 ms", "3 min", "5s", "1h30m", "1 h 5 min", "2 hours", "1 minute", "45 seconds", "7d"],
    "size": ["2.5MB", "12 KiB", "3 bytes", "1 B"],
    "number": ["4", "-0.5", "1,000", "1e-05", "3/4", "9:30", "2026-12-01", "1.2.3"],
    "hexadecimal id": ["0x7f3a2b", "3fa91bc2", "DEADBEEF01", "9" * 12],
}  # fmt: skip
VALUES = st.sampled_from([value for values in KINDS.values() for value in values]) | st.one_of(
    st.uuids().map(str),
    st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat),
    st.integers().map(str),
    st.floats(min_value=0.001, max_value=1e9).map("{:.3f} s".format),
    st.from_regex(r"[$€£][0-9]{1,5}(\.[0-9]{2})?", fullmatch=True),
    st.from_regex(r"/[a-z]{1,8}(/[a-z0-9_]{1,8}){1,4}(\.json)?", fullmatch=True),
    st.from_regex(r"https://[a-z]{1,9}(\.[a-z]{2,4})(/[a-z0-9]{1,5}){0,3}", fullmatch=True),
    st.from_regex(r"[0-9][0-9a-f]{6,31}", fullmatch=True),
)
WORDS = st.text(string.ascii_letters + "_", min_size=3, max_size=9).filter(
    lambda word: mask_values(f"1 {word}") == f"… {word}"  # no unit
)


def _reason(words: list[str], values: list[str]) -> str:
    return " ".join(text for pair in zip(words, values, strict=True) for text in pair)


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_of_a_kind_is_replaced_as_a_whole(kind: str) -> None:
    for value in KINDS[kind]:
        assert mask_values(f"the {value} was wrong, not {value}.") == "the … was wrong, not ….", value
        assert mask_values(f"at ({value}): late") == "at (…): late", value


def test_every_kind_has_an_example() -> None:
    assert [*KINDS] == [name for name, _ in VALUE_KINDS]


@pytest.mark.parametrize(
    "words",
    ["and/or", "input/output km/h", "openai/gpt-4o", "decade facade", "in 3.4x", "/orders", "a@b", "call_1b", "e2e utf8"],
)  # fmt: skip
def test_words_are_kept(words: str) -> None:
    assert mask_values(words) == words


@given(st.lists(st.tuples(WORDS, VALUES, VALUES), min_size=1, max_size=4))
def test_another_value_never_changes_the_cause(parts: list[tuple[str, str, str]]) -> None:
    words, values, others = map(list, zip(*parts, strict=True))
    assert violation(_reason(words, values)) == violation(_reason(words, others))


@given(st.data(), st.integers(1, 4))
def test_reasons_that_differ_in_words_never_share_a_cause(data: st.DataObject, size: int) -> None:
    many_words = st.lists(WORDS, min_size=size, max_size=size)
    words, others = data.draw(st.tuples(many_words, many_words).filter(lambda both: both[0] != both[1]))
    values = data.draw(st.lists(VALUES, min_size=size, max_size=size))
    assert violation(_reason(words, values)) != violation(_reason(others, values))


@pytest.mark.parametrize(
    "part", ["1,", "a/", "a.", "/a", '"a', "'a ", "a@", "1-", "a0", "$1,", "1 h ", "\\", "1.x/"]
)
def test_a_long_value_that_does_not_end_takes_linear_time(part: str) -> None:
    """With quadratic time, this test would take hours."""
    mask_values(part * 50_000 + "é")
