"""`numeric_match`: which numbers a text states, and when they are the expected ones."""

import time
from decimal import Decimal
from typing import Any, Literal

import pytest
from hypothesis import given, strategies as st

from proctor.errors import CriterionError
from proctor.metrics.text.numeric.numbers import numbers_in
from tests.metrics.text.text_scores import explanation, metric, reason, value


def numbers(text: str, decimal: Literal[".", ","] = ".", *, words: bool = False) -> str:
    return " ".join(f"{number:f}" for number in numbers_in(text, decimal, words=words))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("none", ""),
        ("42", "42"),
        ("It costs 3.50, not 4.", "3.50 4"),
        ("1,234,567.89", "1234567.89"),
        ("12,34,567", "1234567"),
        ("1,2345", ""),
        ("1,200,3", ""),
        ("(1,2,3)", "1 2 3"),
        ("1'234'567", "1234567"),
        ("1’234", "1234"),
        ("1\u00a0234\u00a0567", "1234567"),
        ("1_000_000", "1000000"),
        ("10 000", "10000"),
        (".5 and -.5", "0.5 -0.5"),
        ("6.02e23", "602000000000000000000000"),
        ("1e-3 2E+2", "0.001 200"),
        ("1e5x", ""),
        # signs
        ("-5", "-5"),
        ("−5 °C", "-5"),
        ("from -5 to -3", "-5 -3"),
        ("5-10", "5 10"),
        ("2024-05-01", ""),
        ("x-5", ""),
        ("3 - 5", "3 5"),
        ("(-5)", "-5"),
        ("=-5", "-5"),
        ("-$5 and $-5 and −€5", "-5 -5 -5"),
        ("+5", "5"),
        ("COVID-19", ""),
        # within names, versions, dates
        ("GPT4 and H2O in A4", ""),
        ("x_1", ""),
        ("3rd, 21°C, 5kg, 50%", "3 21 5 50"),
        ("version 1.2.3", ""),
        ("192.168.0.1", ""),
        ("12:30", ""),
        ("1/2", ""),
        ("No.5", "5"),
        ("1. First", "1"),
        # other scripts
        ("١٢٣٫٥", "123.5"),
        ("١٬٢٣٤", "1234"),
        ("१,२३,४५६", "123456"),
        ("５，０００．５", "5000.5"),
        ("共有5个", "5"),
        ("ราคา๑๒บาท", "12"),
        ("2½ or ½ or 1 ¾", "2.5 0.5 1.75"),
        ("x²", ""),
        ("二", ""),
    ],
)
def test_numbers_in_a_text(text: str, expected: str) -> None:
    found = [Decimal(number) for number in numbers(text).split()]
    assert found == [Decimal(number) for number in expected.split()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.234.567,89", "1234567.89"),
        ("3,5", "3.5"),
        ("1.5", ""),
        ("1 234,5", ""),
        ("1\u202f234,5", "1234.5"),
        ("١٢٣٫٥", "123.5"),
        ("-0,5 %", "-0.5"),
    ],
)
def test_decimal_commas(text: str, expected: str) -> None:
    assert numbers(text, ",") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("forty-two", "42"),
        ("Forty two", "42"),
        ("zero", "0"),
        ("thirteen or twenty", "13 20"),
        ("a hundred", "100"),
        ("two hundred and five", "205"),
        ("a hundred and five thousand and three", "105003"),
        ("two million, three hundred thousand and one", "2300001"),
        ("nine hundred ninety-nine thousand nine hundred ninety-nine", "999999"),
        ("one billion", "1000000000"),
        ("two trillion and one", "2000000000001"),
        ("3.5 million", "3500000"),
        ("1,200 thousand", "1200000"),
        ("minus five", "-5"),
        ("negative two point five", "-2.5"),
        ("three point one four", "3.14"),
        ("one of the two", "1 2"),  # with words enabled the pronoun counts, too
        ("twenty twenty-four", ""),  # a year, or two numbers
        ("five and six", "5 6"),
        ("seven 7", "7 7"),
        ("often, someone, weight, tenth, a cat", ""),
        ("hundreds of thousands", ""),
    ],
)
def test_number_words(text: str, expected: str) -> None:
    found = [Decimal(number) for number in numbers(text, words=True).split()]
    assert found == [Decimal(number) for number in expected.split()]


def test_words_are_numbers_only_when_asked_for() -> None:
    assert numbers("forty-two or 3 of 4") == "3 4"
    assert numbers("forty-two or 3 million", words=True) == "42 3000000"


@pytest.mark.parametrize(
    ("reference", "answer", "options", "score"),
    [
        ("21 degrees", "It is 21 °C on 22 May", {}, 1.0),
        ("21.0", "21", {}, 1.0),
        ("1,000", "1000", {}, 1.0),
        ("21", "22", {}, 0.0),
        ("21", "-21", {}, 0.0),
        ("between 5 and 10", "5", {}, 0.5),
        ("5 and 5", "5", {}, 0.5),  # each needs a separate number
        ("5 and 5", "5, 5", {}, 1.0),
        # tolerances
        ("0.3", "0.1", {"tolerance": 0.2}, 1.0),  # exactly 0.2 apart, which floats would deny
        ("0.3", "0.0999", {"tolerance": 0.2}, 0.0),
        ("100", "99", {"relative_tolerance": 0.01}, 1.0),
        ("100", "101.01", {"relative_tolerance": 0.01}, 0.0),
        ("-100", "-99", {"relative_tolerance": 0.01}, 1.0),
        ("0", "0.001", {"relative_tolerance": 0.5}, 0.0),  # a share of nothing is nothing
        ("0", "0.001", {"relative_tolerance": 0.5, "tolerance": 0.01}, 1.0),
        ("1 and 1.05", "1.05 and 1.1", {"tolerance": 0.06}, 1.0),  # no greedy pairing
        # which numbers count
        ("42", "41, no, 42", {"pick": "last"}, 1.0),
        ("42", "42, no, 41", {"pick": "last"}, 0.0),
        ("6*7=42", "so it is 42", {"pick": "last"}, 1.0),
        ("42", "42, not 41", {"pick": "first"}, 1.0),
        ("42", "41, not 42", {"pick": "first"}, 0.0),
        ("42", "42 or 43", {"pick": "all"}, 0.5),
        ("42 and 43", "43, 42", {"pick": "all"}, 1.0),
        ("42 and 43", "42", {"pick": "all"}, 0.5),
        # reading
        ("forty-two", "42", {"words": True}, 1.0),
        ("42", "forty-two", {}, 0.0),
        ("42", "forty-two", {"words": True}, 1.0),
        ("3,5", "3.5", {"decimal": ","}, 0.0),
        ("3,5", "3,50", {"decimal": ","}, 1.0),
        (None, "it is 42", {"expected": 42}, 1.0),
        (None, "it is 0.1", {"expected": 0.1}, 1.0),
        (None, "it is 42 or 7", {"expected": [42, "7 apples"]}, 1.0),
        (None, "it is 42", {"expected": [42, "7 apples"]}, 0.5),
    ],
)
def test_scores(reference: str | None, answer: str, options: dict[str, Any], score: float) -> None:
    assert value("numeric_match", reference, answer, **options) == score


@pytest.mark.parametrize(
    ("reference", "answer", "options", "message"),
    [
        ("21", "21", {}, "the answer states 21"),
        ("21", "20", {"tolerance": 2}, "the answer states 21; within the tolerance: 20"),
        ("21 and 22", "21, 23", {}, "not in the answer: 22; the answer states 23"),
        ("21", "soon", {}, "the answer states no number; expected 21"),
        ("21", "21, 22", {"pick": "all"}, "not expected: 22"),
        ("1e30", "1", {}, "not in the answer: 1E+30; the answer states 1"),
    ],
)
def test_reasons(reference: str, answer: str, options: dict[str, Any], message: str) -> None:
    assert reason("numeric_match", reference, answer, **options) == message


def test_details_hold_the_numbers_that_were_read() -> None:
    found = explanation("numeric_match", "1,000", "GPT4 says 1000 or 2½")
    assert found.details == {
        "numbers": {
            "expected": ["1000"],
            "actual": ["1000", "2.5"],
            "unread": [{"text": "GPT4", "why": "a name or a code"}],
        },
    }


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"expected": "none"}, "there is no number in 'none'"),
        ({"expected": True}, "there is no number in True"),
        ({"expected": []}, "expected"),
        ({"expected": float("inf")}, "expected"),
        ({"expected": "3 million"}, r'"3 million" \(the word after it multiplies it'),
        (
            {"expected": [42, "on 2024-05-01"]},
            r'"2024-05-01" \(a date, a phone number or a code\). Write the number',
        ),
        ({"tolerance": -1}, "tolerance"),
        ({"tolerance": 1e308}, "so large that every number matches"),
        ({"tolerance": 1e308, "expected": 5, "pick": "first"}, "so large that every number matches"),
        ({"tolerance": float("inf")}, "tolerance"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"relative_tolerance": 1}, "relative_tolerance"),
        ({"pick": "some"}, "pick"),
        ({"decimal": ";"}, "decimal"),
        ({"tolerence": 1}, "Did you mean 'tolerance'"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(CriterionError, match=problem):
        metric("numeric_match", **options)


AMOUNTS = st.decimals(-(10**9), 10**9, places=2)


@given(AMOUNTS)
def test_number_is_read_as_written(amount: Decimal) -> None:
    for text in (f"{amount}", f"{amount:,}", f"about {amount:,} EUR.", f"({amount:,})".replace(",", "_")):
        assert numbers_in(text) == [amount]
    german = f"{amount:,}".translate({ord(","): ".", ord("."): ","})
    assert numbers_in(german, ",") == [amount]


@given(st.lists(AMOUNTS, max_size=5))
def test_numbers_keep_their_order(amounts: list[Decimal]) -> None:
    assert numbers_in("; ".join(map(str, amounts))) == amounts


UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def in_words(number: int) -> str:
    """An oracle that goes the other way."""
    for scale, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= scale:
            rest = f" {in_words(number % scale)}" if number % scale else ""
            return f"{in_words(number // scale)} {name}{rest}"
    if number < 20:
        return UNITS[number]
    return TENS[number // 10 - 2] + (f"-{UNITS[number % 10]}" if number % 10 else "")


@given(st.integers(0, 10**12 - 1) | st.integers(0, 2000))
def test_every_number_in_words_is_read_back(number: int) -> None:
    assert numbers_in(f"It is {in_words(number)}.", words=True) == [number]


@given(AMOUNTS, AMOUNTS, st.floats(0, 10**6))
def test_tolerance_is_symmetric_and_monotone(one: Decimal, other: Decimal, tolerance: float) -> None:
    there = value("numeric_match", str(one), str(other), tolerance=tolerance)
    assert there == value("numeric_match", str(other), str(one), tolerance=tolerance)
    if there == 1.0:
        assert value("numeric_match", str(one), str(other), tolerance=tolerance * 2) == 1.0
    assert (there == 1.0) == (abs(one - other) <= Decimal(repr(tolerance)))


@given(st.text(st.sampled_from("0123456789.,-'eE+ $½\u00a0a"), max_size=25))
def test_any_text_is_read(text: str) -> None:
    assert all(number.is_finite() for number in numbers_in(text, words=True))


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1,2",
        "1,22",
        "1,222",
        "1'222",
        "1.2",
        "-",
        "$-",
        "1e",
        "one hundred and ",
        "one ",
        "minus ",
        "1 million ",
    ],
)
def test_long_texts_are_read_in_time(piece: str) -> None:
    """Ten times the text takes about ten times as long: less than thirty times, with room for a busy machine."""
    assert min(_seconds(piece * 20_000) for _ in range(3)) < max(30 * _seconds(piece * 2_000), 1)


def _seconds(text: str) -> float:
    started = time.process_time()
    numbers_in(text, words=True)
    return time.process_time() - started
