"""Pairs of texts that look alike and differ, or differ and mean the same: the verdict and the reason of a careful person.

Each row: the reference answer (None: only the criterion expects something), the answer, a criterion, whether it passes
(None: nothing to compare with), what the metric's own reason must hold, and after `#` the careful person's why.
"""

from typing import Any, NamedTuple

import pytest

from tests.metrics.text.text_scores import case_of, metric, scored


class Pair(NamedTuple):
    reference: str | None
    answer: str | None
    metric: str
    options: dict[str, Any]
    passes: bool | None
    cause: str


def pair(
    reference: str | None, answer: str | None, name: str, passes: bool | None, cause: str, **options: Any
) -> Pair:
    return Pair(reference, answer, name, options, passes, cause)


# fmt: off
TRICKY = {
    # --- the same thing, written in another way ---------------------------------------------------------------------
    "accent in two characters": pair("café", "cafe\u0301", "exact_match", True, "is the expected text"),  # Unicode: the same letter
    "accent left out": pair("résumé", "resume", "exact_match", False, "ignore_accents"),  # another word in English; an option ignores it
    "line break at the end": pair("Paris", "Paris\n", "exact_match", True, "is the expected text"),  # it is invisible
    "full stop at the end": pair("Paris", "Paris.", "exact_match", False, "ignore_punctuation"),  # exact is exact, and the message gives the remedy
    "German sharp s in capitals": pair("Straße", "STRASSE", "exact_match", True, "is the expected text", ignore_case=True),  # how ß is capitalised
    "Turkish capital i": pair("İstanbul", "istanbul", "rouge_1", True, "the reference's words"),  # the dot is the letter's
    "non-breaking space": pair("10 km", "10\u00a0km", "exact_match", True, "is the expected text", ignore_whitespace=True),  # typography only
    "curly apostrophe": pair("It doesn't rain", "It doesn’t rain", "rouge_l", True, "the reference's words"),  # typography only
    "curly quotes are not ASCII quotes": pair('say "hi"', "say “hi”", "contains", False, "not in the answer"),  # exact characters unless punctuation is ignored
    "soft hyphen": pair("cooperation", "coopera\u00adtion", "rouge_1", True, "the reference's words"),  # invisible
    "full-width letters": pair("ABC 123", "ＡＢＣ　１２３", "rouge_1", True, "the reference's words"),  # an input method's habit
    "ligature": pair("the finest", "the ﬁnest", "rouge_1", True, "the reference's words"),  # copied from a PDF
    "order of words": pair("rain tomorrow", "tomorrow rain", "rouge_l", False, "in the same order"),  # ROUGE-L respects the order
    "order of words, bag": pair("rain tomorrow", "tomorrow rain", "rouge_1", True, "the reference's words"),  # ROUGE-1 does not, and warns
    # --- one small word turns the meaning -----------------------------------------------------------------------------
    "negation": pair("It is safe to eat", "It is not safe to eat", "response_match_score", True, "not in the reference: \"not\""),  # 0.91: overlap sees words, not meaning; the reason shows the word
    "negation, exactly": pair("It is safe to eat", "It is not safe to eat", "exact_match", False, "expected \"It is safe to eat\""),  # so ask exactly
    "negation, pairs": pair("It is safe to eat", "It is not safe to eat", "rouge_2", False, "missing: \"is safe\"", threshold=0.8),  # neighbours notice
    "negation, forbidden": pair(None, "It is not safe to eat", "contains", False, "forbidden", expected="safe", forbidden="not", whole_words=True),  # state the forbidden text
    "yes within no": pair("yes", "There is no yes or no here", "contains", True, "contains the expected texts"),  # containing is not meaning
    "opposite emoji": pair("👍", "👎", "rouge_1", False, "missing: \"👍\""),  # yes and no
    "opposite emoji, response_match": pair("👍", "👎", "response_match_score", False, "no words that ROUGE counts"),  # ADK's words have no emoji
    "same emoji, another skin": pair("👍", "👍🏽", "rouge_1", False, "missing: \"👍\""),  # another sign; unlike ADK, which sees neither
    "one character of Japanese": pair("東京は雨です", "東京は晴です", "edit_similarity", True, "1 of 6 characters"),  # 0.83: rain or sun is one sign; similarity is not meaning
    "one character of Japanese, exactly": pair("東京は雨です", "東京は晴です", "exact_match", False, "expected"),  # so ask exactly
    # --- words in words ----------------------------------------------------------------------------------------------
    "art in party": pair("art", "the party", "contains", True, "contains the expected texts"),  # a substring, as asked for
    "art in party, whole words": pair("art", "the party", "contains", False, "not in the answer: \"art\"", whole_words=True),
    "4 in 42": pair(None, "42", "contains", False, "not in the answer", expected="4", whole_words=True),
    "4 in 42, as number": pair("4", "42", "numeric_match", False, "not in the answer: 4"),
    "Tokyo in Kyoto, Japanese": pair("京都", "東京都", "contains", True, "contains the expected texts", whole_words=True),  # 東京都 is 東京+都, but blanks do not show it: no metric without a dictionary can
    "cat in concatenate": pair("cat", "concatenate", "final_response_match_v1", False, "missing: \"cat\""),  # whole tokens
    "user in username, regex": pair(None, "your username", "regex_match", False, "nothing in the answer matches", pattern=r"\buser\b"),
    # --- numbers ------------------------------------------------------------------------------------------------------
    "thousands": pair("1,000 people", "1000 people", "numeric_match", True, "states 1000"),  # the same number
    "thousands, ROUGE": pair("1,000", "1000", "rouge_1", False, "missing"),  # to ROUGE, words: 1 and 000
    "thousand or one": pair("1.000", "1000", "numeric_match", False, "not in the answer: 1.000"),  # English reads 1.000 as one
    "thousand or one, German": pair("1.000", "1000", "numeric_match", True, "states 1000", decimal=","),
    "decimals": pair("21", "21.0", "numeric_match", True, "states 21"),
    "sign": pair("-5 °C", "5 °C", "numeric_match", False, "not in the answer: -5"),  # frost or not
    "typographic minus": pair("-5 °C", "−5 °C", "numeric_match", True, "states -5"),
    "range is not a minus": pair("-10", "5-10", "numeric_match", False, "not in the answer: -10"),  # from five to ten
    "date is not a sum": pair("-5", "2024-05-01", "numeric_match", False, "a date, a phone number or a code"),
    "number of a name": pair("4", "I am GPT4", "numeric_match", False, "states no number"),  # a name, not a quantity
    "number by chance": pair("22", "It is 21 °C on May 22", "numeric_match", True, "states 22"),  # stated, though of the day: `pick` narrows it
    "number by chance, first": pair("22", "It is 21 °C on May 22", "numeric_match", False, "states 21", pick="first"),
    "last word on it": pair("42", "First I thought 41, but it is 42", "numeric_match", True, "states 42", pick="last"),
    "two candidates": pair("42", "42 or 43", "numeric_match", False, "not expected: 43", pick="all", threshold=1),  # hedging
    "digits of Arabic": pair("123", "١٢٣", "numeric_match", True, "states 123"),
    "digits of Arabic, ROUGE": pair("123", "١٢٣", "rouge_1", True, "the reference's words"),
    "digits of Arabic, ADK": pair("123", "١٢٣", "response_match_score", False, "missing"),  # a known weakness of its tokenizer
    "number in words": pair("42", "forty-two", "numeric_match", True, "states 42", words=True),
    "half": pair("2.5", "2½", "numeric_match", True, "states 2.5"),
    "float dust": pair("0.3", "0.30000000000000004", "numeric_match", False, "not in the answer: 0.3"),  # another number; allow a tolerance
    "float dust, tolerated": pair("0.3", "0.30000000000000004", "numeric_match", True, "within the tolerance", tolerance=1e-9),
    "square": pair("x2", "x²", "rouge_1", False, "missing"),  # a power is not an index
    "percent": pair("50", "50%", "numeric_match", True, "states 50"),  # units are not read
    # --- scripts without blanks ----------------------------------------------------------------------------------------
    "Thai and digits": pair("ไทย 123", "ไทย123", "rouge_1", True, "the reference's words"),  # a blank more
    "Thai and digits, ADK": pair("ไทย 123", "ไทย123", "response_match_score", False, "missing"),  # digits stick to the last letter there
    "Thai vowel taken apart": pair("น้ำ", "น้ํา", "rouge_1", True, "the reference's words"),  # water, water
    "ideographs of extension B": pair("𠮷野家", "𠮷田", "rouge_1", False, "missing: \"野\", \"家\""),  # one shared character, not one whole word
    "Korean particle": pair("서울은 덥다", "서울이 덥다", "rouge_1", True, "missing: \"은\"", threshold=0.7),  # the same city, another particle
    "Persian joiner": pair("می‌خواهم", "میخواهم", "rouge_1", True, "the reference's words"),  # both spellings are current
    "Hebrew points": pair("שָׁלוֹם", "שלום", "rouge_1", True, "the reference's words"),  # points are for learners
    "Hindi vowel sign": pair("कल", "काल", "rouge_1", False, "missing"),  # tomorrow, time: a vowel sign is not an accent
    "script that sees nothing": pair("東京", "大阪", "token_set_f1", False, "ASCII"),  # both texts are empty to it
    # --- JSON -----------------------------------------------------------------------------------------------------------
    "order of keys": pair('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', "json_equal", True, "is the expected value"),
    "order of a list": pair("[1, 2]", "[2, 1]", "json_equal", False, "$[0] is 2, expected 1"),
    "one and true": pair('{"ok": 1}', '{"ok": true}', "json_equal", False, "$.ok is true, expected 1"),  # equal in Python, not in JSON
    "absent and null": pair('{"a": null}', "{}", "json_equal", False, "$.a is missing"),
    "text of a number": pair('{"a": 1}', '{"a": "1"}', "json_equal", False, '$.a is "1", expected 1'),
    "fenced": pair('{"a": 1}', '```json\n{"a": 1}\n```', "json_equal", True, "is the expected value"),  # how models write JSON
    "Python's dict": pair('{"a": 1}', "{'a': 1}", "json_equal", False, "is not JSON"),
    "key twice": pair('{"a": 1}', '{"a": 2, "a": 1}', "json_equal", False, "an object has the key"),  # readers disagree on which holds
    "footnote": pair("[1]", "As said in [1], no.", "json_equal", False, "is not JSON"),
    # --- regular expressions ----------------------------------------------------------------------------------------------
    "dot matches more": pair(None, "v1x2", "regex_match", True, 'matched: "1x2"', pattern="1.2"),  # an unescaped dot
    "anchors and lines": pair(None, "Sure:\nyes", "regex_match", False, "nothing in the answer matches", pattern="^yes$"),  # the text begins before
    "part of an answer": pair(None, "not yes", "regex_match", False, "the whole answer does not match", pattern="yes", match="full"),
    "version is not a number": pair("2.3", "It is v1.2.3", "numeric_match", False, "a name or a code"),  # a version states no 2.3
    "address is not a number": pair("168", "192.168.0.1", "numeric_match", False, "an address"),
    "time is not a number": pair("30", "at 12:30", "numeric_match", False, "a time"),
    "phone is not a number": pair("555", "call 555-1234", "numeric_match", False, "a phone number"),
    "three of a million": pair("3", "3 million", "numeric_match", False, "multiplies it"),
    "three of a million, words": pair("3000000", "3 million", "numeric_match", True, "states 3000000", words=True),
    "three of 万": pair("3", "3万", "numeric_match", False, "multiplies it"),
    "half a million": pair("1000000", "half a million", "numeric_match", False, "states no number", words=True),
    "minus in words": pair("5", "minus 5", "numeric_match", False, "not in the answer: 5"),
    "minus in words, meant": pair("-5", "It is minus 5", "numeric_match", True, "states -5"),
    "dash or minus": pair("5", "–5 °C", "numeric_match", False, "a dash or a minus"),  # frost, or a bullet
    "decimal comma": pair("1.5", "1,5", "numeric_match", False, "`decimal`"),  # one and a half, or one and five
    "the other notation shows itself": pair("1234.5", "1.234,5", "numeric_match", True, "states 1234.5"),
    "blank between thousands": pair("10", "10 000 people", "numeric_match", False, "not in the answer: 10"),  # ten thousand
    "power": pair("5", "5 × 10³", "numeric_match", False, "not in the answer: 5"),
    "fraction": pair("2", "2 1/2 cups", "numeric_match", False, "a fraction"),
    "huge exponent": pair("1", "1e999999999", "numeric_match", False, "too large to be compared"),
    "hidden digits": pair("1", "1\u200b000", "numeric_match", False, "not in the answer: 1"),  # a space of no width
    "minus, ROUGE": pair("-5 degrees", "5 degrees", "rouge_1", True, "the reference's words"),  # its words; the sign is warned about
    "less than, ROUGE": pair("5 < 6", "5 > 6", "response_match_score", True, "the reference's words"),
    "C++, ROUGE": pair("C++", "C", "rouge_l", True, "the reference's words"),
    # --- what is seen -------------------------------------------------------------------------------------------------------
    "all punctuation": pair(None, "???", "exact_match", False, "expected", expected="!!!", ignore_punctuation=True),  # nothing left is not a match
    "all punctuation, similar": pair(None, "???", "edit_similarity", False, "3 of 3", expected="!!!", unit="words"),
    "hidden in a forbidden word": pair(None, "the pass\u200bword", "contains", False, "forbidden", forbidden="password"),
    "soft hyphen in a word": pair("cooperation", "co\u00adoperation", "contains", True, "contains the expected texts"),
    "marks of direction around": pair("שלום", "\u200fשלום\u200f", "exact_match", True, "is the expected text"),
    "byte order mark": pair("Paris", "\ufeffParis", "exact_match", True, "is the expected text"),
    "woman in a family": pair("👩", "👩\u200d👩\u200d👧", "contains", False, "not in the answer"),
    "Egypt between two flags": pair("🇪🇬", "🇸🇪🇬🇧", "contains", False, "not in the answer"),
    "letter under an accent": pair("e", "cafe\u0301", "contains", False, "not in the answer"),
    "Hindi word in another": pair("कल", "कला", "contains", False, "not in the answer"),  # tomorrow in art
    "accent in two characters, adk-rs": pair("café", "cafe\u0301", "final_response_match_v1", True, "the reference's words"),
    # --- JSON to the last digit -----------------------------------------------------------------------------------------------
    "one digit more": pair("[0.1]", "[0.1000000000000000055]", "json_equal", False, "is 0.1000000000000000055, expected 0.1"),
    "large with an exponent": pair("[1e23]", "[100000000000000000000000]", "json_equal", True, "is the expected value"),
    "key in another form": pair('{"é": 1}', '{"e\u0301": 1}', "json_equal", False, "['e\\u0301'] is 1"),  # another key to any reader
    "minus nought": pair("[0]", "[-0.0]", "json_equal", True, "is the expected value"),
    "piece of what was cut off": pair('{"a": 1}', '{"r": {"a": 1}, "s', "json_equal", False, "no JSON object", anywhere=True),
    # --- nothing ----------------------------------------------------------------------------------------------------------
    "no answer": pair("Paris", None, "rouge_1", False, "gave no answer text"),
    "no reference": pair(None, "Paris", "rouge_1", None, "states no reference answer"),  # nothing to be right or wrong about
    "no number to find": pair("I do not know", "42", "numeric_match", None, "states no number"),
    "no answer contains nothing forbidden": pair(None, "", "contains", True, "no forbidden ones", forbidden="sorry"),  # true, and warned about
    "a longer answer costs no recall": pair("It rains", "It rains, and here is a poem about it", "rouge_1", True, "not in the reference", measure="recall"),
    "a longer answer costs precision": pair("It rains", "It rains, and here is a poem about it", "rouge_1", False, "not in the reference", measure="precision"),
    "repeating earns nothing": pair("very good", "very very very good", "rouge_1", False, "not in the reference: \"very\"", threshold=0.8),
    "repeating earns nothing, adk-rs": pair("very very good", "very good", "final_response_match_v1", True, "the reference's words"),  # one covers all: its definition
}
# fmt: on

WARNED = {
    "minus, ROUGE": 'signs differ, which this metric ignores (missing: "-")',
    "less than, ROUGE": 'missing: "<"; not in the reference: ">"',
    "C++, ROUGE": 'missing: "+"',
    "order of words, bag": "does not compare the order",
    "opposite emoji, response_match": "only an identical answer can match",
    "no answer contains nothing forbidden": "gave no answer text",
}
"""The number stays, and its rule is weak there: the score warns."""


def test_the_table_is_long_enough() -> None:
    assert len(TRICKY) >= 115


@pytest.mark.parametrize("row", TRICKY.values(), ids=TRICKY)
def test_verdict_and_reason(row: Pair) -> None:
    options = {"threshold": 0.8, **row.options}
    measure, case = metric(row.metric, **options), case_of(row.reference, row.answer)
    score = scored(measure, case)
    verdict = None if score.value is None else score.value >= options["threshold"]
    assert verdict is row.passes, score.value
    assert row.cause in measure.explain(case, score, 0).reason


@pytest.mark.parametrize("name", WARNED)
def test_where_the_rule_is_weak_the_score_warns(name: str) -> None:
    row = TRICKY[name]
    measure, case = metric(row.metric, **row.options), case_of(row.reference, row.answer)
    score = scored(measure, case)
    warning = measure.explain(case, score, 0).warning or score.per_invocation[0].warning
    assert WARNED[name] in warning


@pytest.mark.parametrize("row", TRICKY.values(), ids=TRICKY)
def test_an_answer_that_is_the_reference_always_passes(row: Pair) -> None:
    if row.reference is None or row.passes is None or row.metric == "regex_match":
        return
    options = {name: value for name, value in row.options.items() if name != "forbidden"}
    score = scored(metric(row.metric, **options), case_of(row.reference, row.reference)).value
    assert score == (0.0 if row.metric == "token_set_f1" else 1.0)  # which sees no word of another script
