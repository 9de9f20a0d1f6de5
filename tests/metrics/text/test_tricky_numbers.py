"""Texts with digits that a hasty reader takes for a number: what a careful person reads, and what is left open.

`numbers`: what is read. A text in brackets is a number that could be read in several ways; a text that is not a number (a date, a
version, a name) is not listed. After `#` the careful person's why.
"""

import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.errors import MetricError
from proctor.metrics.text.numeric.number_forms import NumberText
from proctor.metrics.text.numeric.numbers import read_numbers
from proctor.schema.format.case import EvalCase
from tests.metrics.text.text_scores import case_of, explanation, metric, reason, scored, value


def read(text: str, **options: Any) -> str:
    return " ".join(_shown(each) for each in read_numbers(text, **options) if each.counts)


def _shown(figure: NumberText) -> str:
    return f"[{figure.text}]" if figure.value is None else f"{figure.value:f}"


# fmt: off
READ = {
    # --- no numbers: names, codes, versions, dates, times, addresses --------------------------------------------------------
    "version": ("running v1.2.3", ""),
    "version, bare": ("1.2.3", ""),
    "version of a name": ("GPT4.5, GPT-4.5 and gpt_4", ""),
    "date, ISO": ("on 2024-05-01", ""),
    "date and time": ("2024-05-01T12:30:00Z", ""),
    "date, American": ("05/01/2024", ""),
    "date, German": ("1.5.2024", ""),
    "month": ("in 2024-05", ""),  # not from 2024 to 5
    "season": ("2024-25", ""),
    "time": ("at 12:30", ""),
    "ratio": ("3:1", ""),
    "address": ("192.168.0.1:8080", ""),
    "address, version 6": ("2001:db8::1", ""),
    "phone": ("call +1 555-123-4567 or (555) 123-4567 or 555-1234", ""),
    "phone, German": ("+49 30 1234567", ""),
    "book number": ("ISBN 978-3-16-148410-0", ""),
    "order": ("order ORD-123456 of A-12", ""),
    "disease": ("COVID-19", ""),
    "uuid": ("550e8400-e29b-41d4-a716-446655440000", ""),
    "hash": ("0x1F and 1e5x", ""),
    "size": ("a 5x5 grid", ""),
    "link": ("https://example.com/orders/5?page=6", ""),
    "mail": ("a5@example.com", ""),
    "unknown of algebra": ("x-5 and x^2", ""),
    # --- numbers whose value is open ----------------------------------------------------------------------------------------
    "exponent out of range": ("1e999999999", "[1e999999999]"),  # not 1, and not a hang
    "exponent out of range, below": ("-1e-99999", "[1e-99999]"),
    "five hundred digits": ("9" * 500, f"[{'9' * 500}]"),
    "decimals or two numbers": ("1,23", "[1,23]"),
    "nought comma": ("0,123", "[0,123]"),  # surely not 123
    "thousands of another country": ("1.234.567", "[1.234.567]"),
    "blanks between thousands": ("10 200 people", "[10 200]"),  # or room 10, 200 people
    "blanks in a range": ("5-10 200", "5 [10 200] 200"),
    "fraction": ("1/2 and 2 1/2", "[1/2] [2 1/2]"),
    "fraction of LaTeX": (r"\frac{1}{2}", r"[\frac{1}{2}]"),
    "rating": ("8/10", "[8/10]"),
    "power": ("2^10 and 3²", "[2^10] [3^2]"),
    "root": ("√2", "[2]"),
    "either sign": ("±5 or +/-3", "[5] [3]"),
    "dash or minus": ("–5 °C", "[5]"),
    "millions": ("3 million, 2.5 Millionen, 4 тысяч, 5万, 6 लाख, 7 ล้าน", "[3 million] [2.5 Millionen] [4 тысяч] [5万] [6 लाख] [7 ล้าน]"),
    "thousands and millions elsewhere": (
        "5 Tsd., 5 mld, 5 juta, 5 triệu, 5 milyon, 5 אלף, 5 χιλιάδες, 5 miljoen, 5-hundred, 5million",
        "[5 Tsd] [5 mld] [5 juta] [5 triệu] [5 milyon] [5 אלף] [5 χιλιάδες] [5 miljoen] [5-hundred] [5million]",
    ),
    "millions, short": ("$2B, 5k, 1.5M, 3 Mrd", "[2B] [5k] [1.5M] [3 Mrd]"),
    "dozens": ("2 dozen", "[2 dozen]"),
    "and a half": ("2 and a half, 3 y medio", "[2 and a half] [3 y medio]"),
    "below zero": ("5 degrees below zero", "[5 degrees below zero]"),
    "less or minus": ("menos 5", "[5]"),
    "code with noughts": ("agent 007", "[007]"),
    "feet": ("5'10\"", "[5'10]"),
    "digits of two scripts": ("1٢3", "[1٢3]"),  # a deliberate trick
    # --- numbers -----------------------------------------------------------------------------------------------------------
    "signs": ("-5, −5, ‑5, －5, (-5), -$5, $-5, −€5", "-5 -5 -5 -5 -5 -5 -5 -5"),
    "minus, in words": ("minus 5, negative 3, минус 2, マイナス1度, 零下4", "-5 -3 -2 -1 -4"),
    "true minus and a blank": ("it is − 5", "-5"),
    "bullet": ("- 5 apples", "5"),
    "subtraction": ("10 minus 5, 10 apples minus 3 apples, 3 − 2", "10 5 10 3 3 2"),
    "at least, in Romance languages": ("al menos 5, au moins 5, pelo menos 5, almeno 5", "5 5 5 5"),
    "range": ("5-10, 5–10, 1990-1995, 5-10km", "5 10 5 10 1990 1995 5 10"),
    "marks around": ("«5», „5“, *5*, **5**, [5], (5), $5$, #5, No.5, ~5, ≈5", "5 5 5 5 5 5 5 5 5 5 5"),
    "unit": ("5%, 5kg, 21°C, 3rd, 3-day, 5 m², ¥5, 5€, USD100", "5 5 21 3 3 5 5 5 100"),
    "the other notation shows itself": ("1.234,5 and 1.234.567,89", "1234.5 1234567.89"),
    "thousands": ("1,234.5 and 12,34,567 and 1'234 and 1_000", "1234.5 1234567 1234 1000"),
    "thousands, LaTeX": (r"1{,}234 and 1\,234", "1234 1234"),
    "blanks that must be between thousands": ("10 000 or 1 050 000", "10000 1050000"),  # no number begins with 0
    "space of no width": ("1\u200b234", "1234"),
    "marks of direction": ("\u200e-5\u200f and \u202e5\u202c", "-5 5"),
    "scientific": ("5 × 10³, 6.02×10^23, 1e3, 10^5, 2·10⁻²", f"5000 602{'0' * 21} 1000 100000 0.02"),
    "digits of other scripts": ("١٢٣٫٥, १२, ๕, １２, 𝟝", "123.5 12 5 12 5"),
    "fractions of one character": ("½, 2½, −½, 1 ¾", "0.5 2.5 -0.5 1.75"),
    "point first": (".5 but wait...5", "0.5 5"),
    "struck out": ("~~41~~ 42, ~~5 to 6~~", "42"),
    "about": ("~5 to ~6", "5 6"),
    "times a power": ("5 times 10^3", "5000"),
    "end of a sentence": ("It is 3.50. Or 4.", "3.50 4"),
    "numerals that are no digits": ("二十, Ⅳ, ⑤", ""),
    "without blanks": ("共有5个，ราคา๑๒บาท", "5 12"),
    "coordinates": ("(1,2,3)", "1 2 3"),
    "exact to the last digit": ("12345678901234567890.123456789", "12345678901234567890.123456789"),
}

COMMA = {
    "decimals": ("3,5 and 1.234,5", "3.5 1234.5"),
    "thousands": ("1.234", "1234"),
    "the other notation shows itself": ("1,234.5", "1234.5"),
    "decimals or a date": ("1.5", "[1.5]"),
    "thousands of another country": ("1,234,567", "[1,234,567]"),
    "half": ("2½", "2.5"),
    "Arabic sign": ("٣٫٥", "3.5"),
    "no breaking": ("1\u202f234,5", "1234.5"),
}

WORDS = {
    "hundreds": ("twenty-five hundred", "2500"),
    "hundreds and more": ("nineteen hundred and five", "1905"),
    "year, or two numbers": ("twenty twenty-four", "[20 24]"),
    "counting": ("one two three", "[1 2 3]"),
    "half of it": ("half a million, a quarter of a million", ""),
    "and a half": ("two and a half million", "[2 and a half]"),
    "fraction": ("three quarters", "[3 quarters]"),
    "with decimals": ("one point two million", "[1.2 million]"),
    "sign": ("minus five, negative two point five", "-5 -2.5"),
    "subtraction": ("ten minus five", "10 5"),
    "dozens": ("two dozen", "[2 dozen]"),
    "another language": ("3 Millionen", "[3 Millionen]"),
    "digits and words": ("3.5 million or 1,200 thousand", "3500000 1200000"),
    "one after the other is not a sum": ("2 million, 3 million", "[2000000 3000000]"),
    "a sum": ("2 million, 3 thousand and five", "2003005"),
}
# fmt: on


def same(text: str, expected: str, **options: Any) -> None:
    plain = [
        each if each[:1] == "[" else str(Decimal(each).normalize()) for each in read_apart(text, options)
    ]
    wanted = [each if each[:1] == "[" else str(Decimal(each).normalize()) for each in apart(expected)]
    assert plain == wanted


def read_apart(text: str, options: dict[str, Any]) -> list[str]:
    return [_shown(each) for each in read_numbers(text, **options) if each.counts]


def apart(expected: str) -> list[str]:
    """Pieces between blanks, those in brackets as a whole."""
    found: list[str] = []
    for piece in expected.split():
        if found and found[-1].startswith("[") and not found[-1].endswith("]"):
            found[-1] += f" {piece}"
        else:
            found.append(piece)
    return found


@pytest.mark.parametrize(("text", "expected"), READ.values(), ids=READ)
def test_numbers_as_a_careful_person_reads_them(text: str, expected: str) -> None:
    same(text, expected)


@pytest.mark.parametrize(("text", "expected"), COMMA.values(), ids=COMMA)
def test_with_a_comma_before_decimals(text: str, expected: str) -> None:
    same(text, expected, decimal=",")


@pytest.mark.parametrize(("text", "expected"), WORDS.values(), ids=WORDS)
def test_with_english_words(text: str, expected: str) -> None:
    same(text, expected, words=True)


@pytest.mark.parametrize(("text", "expected"), READ.values(), ids=READ)
def test_what_is_open_matches_no_number_of_its_digits(text: str, expected: str) -> None:
    """Never a wrong pass: a number in an ambiguous text or outside a number is not stated."""
    stated = {Decimal(each) for each in apart(expected) if not each.startswith("[")}
    digits = {Decimal(run) for run in "".join(c if c in "0123456789" else " " for c in text).split()}
    for number in digits - stated:
        if abs(number.adjusted()) < 20:
            assert value("numeric_match", None, text, expected=f"{number:f}") == 0.0 or number in stated


REASONS = {
    "open": ("5", "it is 1/2", {}, 'the answer states no number; expected 5; not read as a number: "1/2" (a fraction, a date or a rating)'),
    "name": ("2.3", "v1.2.3", {}, '"v1.2.3" (a name or a code)'),
    "millions": ("3", "3 million", {}, "the option `words`"),
    "notation": ("1.23", "1,23", {}, "the option `decimal`"),
    "one that is there": ("5", "5 of 10 200", {}, "the answer states 5"),
    "others that are open": ("5", "5 of 10 200", {"pick": "all"}, '"10 200" (one number, or several with blanks between them)'),
    "the last one is open": ("5", "5 or 1/2", {"pick": "last"}, "the answer states no number; expected 5; not read"),
}  # fmt: skip


@pytest.mark.parametrize(("reference", "answer", "options", "message"), REASONS.values(), ids=REASONS)
def test_ambiguous_text_is_reported(
    reference: str, answer: str, options: dict[str, Any], message: str
) -> None:
    assert message in reason("numeric_match", reference, answer, **options)


@pytest.mark.parametrize(("pick", "score"), [("any", 1.0), ("all", 0.5), ("first", 1.0), ("last", 0.0)])
def test_a_number_that_is_left_open_counts_as_another_one(pick: str, score: float) -> None:
    assert value("numeric_match", "5", "5 or 1/2", pick=pick) == score


@pytest.mark.parametrize("reference", ["3 million", "1,23", "about 1/2", "1e99999 or 10 200"])
def test_a_reference_whose_number_is_open_is_an_error_of_the_case(reference: str) -> None:
    with pytest.raises(MetricError, match="the number of the reference answer is ambiguous"):
        value("numeric_match", reference, reference)
    parts = {"parts": [{"text": reference}]}
    case = EvalCase.model_validate(
        {"eval_id": "c", "conversation": [{"user_content": {}, "final_response": parts}]}
    )
    assert next(iter(metric("numeric_match").check(case))).startswith(
        "numeric_match: turn 1: the number of the reference"
    )
    assert not [*metric("numeric_match", expected=5).check(case)]


def test_what_is_left_out_of_a_reference_is_warned_about() -> None:
    found = explanation("numeric_match", "5 of 1/2", "5")
    assert found.warning == 'not compared, of the reference: "1/2" (a fraction, a date or a rating)'
    assert scored(metric("numeric_match"), case_of("5 of 1/2", "5")).value == 1.0
    assert explanation("numeric_match", "5 on 2024-05-01", "5").warning == ""  # a date is not a number


@pytest.mark.parametrize("reference", ["on 2024-05-01", "version 1.2.3", "COVID-19"])
def test_a_reference_without_numbers_has_nothing_to_compare(reference: str) -> None:
    assert value("numeric_match", reference, reference) is None


def test_large_numbers_are_compared_to_the_last_digit() -> None:
    large = 10**30
    assert value("numeric_match", str(large + 1), str(large), tolerance=0.5) == 0.0
    assert value("numeric_match", str(large + 1), str(large), tolerance=1) == 1.0
    assert value("numeric_match", str(large + 1), str(large)) == 0.0
    assert "000000001" in reason("numeric_match", str(large + 1), str(large))


SIGNS = st.sampled_from([*"0123456789.,-'eE+ $½\u00a0a/:–−^²٣x%", "million", " minus ", "1e99"])


@given(st.lists(SIGNS, max_size=25).map("".join), st.booleans(), st.sampled_from(".,"))
def test_any_text_is_read(text: str, words: bool, decimal: Any) -> None:
    for each in read_numbers(text, decimal, words=words):
        assert (each.value is None) == bool(each.why)
        assert each.value is None or each.value.is_finite()


@pytest.mark.nightly(check=11)
@pytest.mark.parametrize(
    "piece",
    [
        "+1 ",
        "(55) 5",
        "5^",
        "5 × 10",
        "1 222",
        "1 2/",
        "a-",
        "1-",
        "1:",
        "1/",
        "1.",
        "v1.",
        "½",
        "²",
        "−",
        "5 million ",
        "\\frac{1}",
        "https://a/",
        "minus 5 ",
        "one two ",
        "2 million, ",
        "٣",
        "1٣",
        "a:",
    ],
)
def test_hostile_texts_are_read_in_time(piece: str) -> None:
    """Ten times the text takes about ten times as long: less than forty times in the quickest of three, however busy the machine."""

    def seconds(count: int) -> float:
        started = time.process_time()
        read_numbers(piece * count, words=True)
        return time.process_time() - started

    assert any(seconds(5_000) < max(40 * seconds(500), 1) for _ in range(3))
