"""What an unquoted word of YAML is: only where all readers agree it is more than text."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.files.yaml.nodes import Fault, is_text, resolve


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("null", None), ("~", None), ("", None), ("Null", None),
        ("true", True), ("False", False), ("TRUE", True),
        ("3", 3), ("-1", -1), ("+2", 2), ("0", 0), ("123456789012345678901234567890", 123456789012345678901234567890),
        ("0.5", 0.5), (".5", 0.5), ("5.", 5.0), ("-1.5e-3", -0.0015), ("1e3", 1000.0), ("1E+2", 100.0),
    ],
)  # fmt: skip
def test_words_that_are_more_than_text(word: str, value: Any) -> None:
    found = resolve(word)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "word",
    [
        "yes", "no", "on", "off", "y", "N", "No",  # YAML 1.1 takes these for true and false
        "19:00", "1:30:00", "-1:30",  # and these for seconds
        "2024-05-01", "2024-05-01T10:00:00Z",  # and these for dates
        "1_000", "12e03x", "1,000", "1.2.3", "+", "-", ".", "e3", "+-1", "--1",
        "nUll", "tRue", "none", "nan", "inf", "NaN", "Infinity", "=", "<<", "0b11", "é", "１",
    ],
)  # fmt: skip
def test_words_that_are_text(word: str) -> None:
    assert resolve(word) == word
    assert is_text(word)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("007", "disagree about the value of “007”"), ("-01.5", "disagree"), ("00", "disagree"),
        ("0x1F", "disagree"), ("0o17", "disagree"),
        (".inf", "JSON has no number “.inf”"), ("-.Inf", "JSON has no number"), (".nan", "JSON has no number"),
        ("1e999", "too large"), ("-1e999", "too large"), ("1" * 4301, "a number with 4301 digits"),
    ],
)  # fmt: skip
def test_words_that_are_refused(word: str, message: str) -> None:
    fault = resolve(word)
    assert isinstance(fault, Fault)
    assert message in fault.message
    assert fault.hint
    assert not is_text(word)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none())
def test_what_json_writes_is_read_as_json_reads_it(value: Any) -> None:
    found = resolve(json.dumps(value))
    assert (found, type(found)) == (value, type(value))
