"""`json_equal`: JSON as models write it, equal as JSON values are."""

import json
import time
from contextlib import suppress
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.errors import CriterionError, MetricError
from proctor.metrics.text.json.difference import Rules, json_differences
from proctor.metrics.text.json.parse import json_in, read_json
from proctor.metrics.text.one_to_one import equal_pairs, most_pairs, pairs_within
from proctor.schema.format.case import EvalCase
from tests.metrics.text.text_scores import case_of, explanation, metric, reason, scored, value

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 0.5, 1.0, 1e300]) | st.sampled_from(["", "a", "1", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b c", "1"]), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "answer", "options", "equal"),
    [
        ({"a": 1, "b": 2}, '{"b": 2, "a": 1}', {}, True),
        ({"a": 1}, ' {\n  "a" : 1.0 }\n', {}, True),
        ({"a": 1}, '{"a": 1.0}', {"strict": True}, False),
        ({"a": 1.0}, '{"a": 1e0}', {"strict": True}, True),
        ({"a": 1}, '{"a": true}', {}, False),
        ({"a": 0}, '{"a": false}', {}, False),
        ({"a": 1}, '{"a": "1"}', {}, False),
        ({"a": None}, "{}", {}, False),
        ({}, '{"a": null}', {}, False),
        (None, "null", {}, True),
        ([1, 2], "[2, 1]", {}, False),
        ([1, 2], "[2, 1]", {"ignore_order": True}, True),
        ([1, 1, 2], "[1, 2, 2]", {"ignore_order": True}, False),
        ({"a": [{"b": [1, 2]}, 3]}, '{"a": [3, {"b": [2, 1.0]}]}', {"ignore_order": True}, True),
        ([1, 2], "[2, 1.0]", {"ignore_order": True, "strict": True}, False),
        ({"a": 1}, '{"a": 1, "b": 2}', {}, False),
        ({"a": 1}, '{"a": 1, "b": 2}', {"allow_extra": True}, True),
        ([{"a": 1}, {"a": 1, "b": 2}], '[{"a": 1, "b": 2}, {"a": 1}]', {"allow_extra": True, "ignore_order": True}, True),
        ([1], "[1, 2]", {"allow_extra": True}, False),
        ({"a": 1.0}, '{"a": 1.1}', {"tolerance": 0.1}, True),
        ({"a": 1.0}, '{"a": 1.1001}', {"tolerance": 0.1}, False),
        ([1.0, 1.05], "[1.1, 1.05]", {"tolerance": 0.06, "ignore_order": True}, True),
        ("é", '"e\\u0301"', {}, False),
        (12345678901234567890, "12345678901234567891", {}, False),
        (0.1, "0.10", {}, True),
        ("text", '"text"', {}, True),
        ("text", "text", {}, False),
        # what models put around JSON
        ({"a": 1}, '```json\n{"a": 1}\n```', {}, True),
        ({"a": 1}, '```\n{"a": 1}\n```\n', {}, True),
        ({"a": 1}, '\ufeff{"a": 1}', {}, True),
        ({"a": 1}, 'Here it is: {"a": 1}.', {}, False),
        ({"a": 1}, 'Here it is: {"a": 1}.', {"anywhere": True}, True),
        ({"a": 1}, 'As noted in [1], it is:\n```json\n{"a": 1}\n```\nDone.', {"anywhere": True}, True),
        ({"a": 1}, 'See [1] and [2]: {"a": 1}', {"anywhere": True}, True),
        ({"a": 1}, '{"a": 1} is it, not {"a": 2}', {"anywhere": True}, True),
        ({"a": 2}, '{"a": 1} is it, not {"a": 2}', {"anywhere": True}, True),
        ({"a": 1}, '{"b": {"a": 1}}', {"anywhere": True}, False),  # a part of the answer is not the answer
        (1, "The answer is 1", {"anywhere": True}, False),  # only objects and lists are looked for in a text
        # what is not JSON
        ({"a": 1}, "{'a': 1}", {}, False),
        ({"a": 1}, '{"a": 1,}', {}, False),
        ({"a": 1}, '{"a": 1, "a": 1}', {}, False),
        ({"a": 1}, '{"a": 1} {"a": 1}', {}, False),
        ({"a": 1}, '```json\n{"a": 1}\n``` and ```json\n{"a": 1}\n```', {}, False),
    ],
)  # fmt: skip
def test_values(expected: Any, answer: str, options: dict[str, Any], equal: bool) -> None:
    assert value("json_equal", None, answer, expected=expected, **options) == (1.0 if equal else 0.0)
    if expected is not None and equal and not options:
        assert value("json_equal", json.dumps(expected), answer) == 1.0


@pytest.mark.parametrize(
    "reference",
    ["{", "it rains", '{"a": NaN}', '{"a": 1, "a": 2}', "[1e999]", pytest.param("[" * 100_000, id="deep")],
)
def test_reference_that_is_not_json_is_an_error_not_a_zero(reference: str) -> None:
    with pytest.raises(MetricError, match=r"the reference answer .* is not JSON: "):
        value("json_equal", reference, "{}")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("[" * 100_000, id="deep"),
        "[1e999]",
        "NaN",
        pytest.param("9" * 5000, id="long number"),
        pytest.param('["\ud800"', id="half a character"),
    ],
)
def test_odd_answers_are_zeros(answer: str) -> None:
    assert value("json_equal", "[]", answer) == 0.0
    assert reason("json_equal", "[]", answer).startswith("the answer is not JSON: ")


NFC, NFD = "é", "e\u0301"
EXACT = {
    "one and one point nought": ("1", "1.0", True),
    "one and an exponent": ("1", "1e0", True),
    "large with an exponent": ("100000000000000000000000", "1e23", True),  # as floats they differ
    "large with decimals": ("12345678901234567890", "12345678901234567890.0", True),
    "large, another last digit": ("9007199254740992.0", "9007199254740993.0", False),  # one float
    "large integers": (f"1{'0' * 400}1", f"1{'0' * 400}2", False),
    "small difference": ("0.1", "0.1000000000000000055511151231257827", False),  # one float
    "smaller difference": ("1", "1.00000000000000000001", False),
    "nothing and nearly nothing": ("0", "1e-300", False),
    "minus nought": ("0", "-0", True),
    "minus nought with decimals": ("-0.0", "0", True),
    "sign": ("1", "-1", False),
    "truth": ("1", "true", False),
    "truth and nothing": ("false", "null", False),
    "digits in quotes": ("1", '"1"', False),
    "key in another form": (f'{{"{NFC}": 1}}', f'{{"{NFD}": 1}}', False),  # other keys to any reader
    "text in another form": (f'"{NFC}"', f'"{NFD}"', False),
    "key as an escape": (f'{{"{NFC}": 1}}', '{"\\u00e9": 1}', True),
    "emoji as escapes": ('"😀"', '"\\ud83d\\ude00"', True),
    "slash as an escape": ('"a/b"', '"a\\/b"', True),
    "blanks in a text": ('"a b"', '"a  b"', False),
    "order of keys": ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', True),
    "empty object and list": ("{}", "[]", False),
    "lists in lists": ("[[1]]", "[1]", False),
    "blanks around": ("[1]", "\r\n[ 1 ]\t", True),
}


@pytest.mark.parametrize(("one", "other", "equal"), EXACT.values(), ids=EXACT)
def test_values_are_compared_to_the_last_digit_and_character(one: str, other: str, equal: bool) -> None:
    for options in ({}, {"ignore_order": True}, {"allow_extra": True}):
        for wanted, made in ((one, other), (other, one)):
            assert value("json_equal", f"[{wanted}]", f"[{made}]", **options) == float(equal)
        assert value("json_equal", f'{{"a": {one}}}', f'{{"a": {one}}}', **options) == 1.0


NO_JSON = {
    "not a number": ('{"a": NaN}', "NaN is not JSON"),
    "infinity": ('{"a": Infinity}', "Infinity is not JSON"),
    "minus infinity": ("[-Infinity]", "-Infinity is not JSON"),
    "beyond floats": ("[1e999]", "1e999 is outside the range"),
    "exponent out of range": ("[1e999999999]", "1e999999999 is outside the range"),
    "below floats": ("[1e-999999999]", "1e-999999999 is outside the range"),  # not 0
    "nearly nothing": ("[-0.1e-400]", "is outside the range"),
    "very many digits": (f"[{'1' * 5000}]", "a number of 5000 digits is too large"),
    "very many decimals": (f"[0.{'1' * 5000}]", "a number of 5002 digits is too large"),
    "a key twice": ('{"a": 1, "a": 1}', 'an object has the key "a" twice'),
    "a key twice, inside": ('[{"b": {"a": 1, "a": 1}}]', 'an object has the key "a" twice'),
    "a key twice, as an escape": ('{"a": 1, "\\u0061": 1}', 'an object has the key "a" twice'),
    "text behind": ("[1] is it", "Extra data"),
    "text before": ("It is [1]", "Expecting value"),
    "two values": ("[1] [1]", "Extra data"),
    "two fences": ("```json\n[1]\n``` or ```json\n[1]\n```", "Expecting value"),
    "a fence and text": ("```json\n[1]\n```\nDone.", "Expecting value"),
    "a fence that does not close": ("```json\n[1]", "Expecting value"),
    "comment": ("[1] // one", "Extra data"),
    "comma at the end": ("[1,]", "is not JSON"),
    "leading nought": ("[01]", "is not JSON"),
    "plus": ("[+1]", "is not JSON"),
    "hexadecimal": ("[0x1]", "is not JSON"),
    "Python": ("{'a': True}", "is not JSON"),
    "cut off": ('{"a": [1', "is not JSON"),
    "nothing": ("", "gave no answer text"),
    "digits of another script": ("[١]", "is not JSON"),
}


@pytest.mark.parametrize(("answer", "why"), NO_JSON.values(), ids=NO_JSON)
def test_ambiguous_json_is_refused(answer: str, why: str) -> None:
    """Each would be a wrong pass for some reader."""
    for expected in (0, 1, [1], [0], {"a": 1}, [10], None):
        assert value("json_equal", None, answer, expected=expected) == 0.0
    assert why in reason("json_equal", "[7]", answer)


BROKEN = {
    "cut off": ('{"result": {"a": 1}, "more": [2', []),
    "a key twice around": ('{"r": {"a": 1}, "r": 2}', []),
    "NaN in addition": ('{"r": {"a": 1}, "s": NaN}', []),
    "one quote too few": ('{"r": {"a": 1}, "s: 2}', []),
    "in brackets of a sentence": ('(see [the value {"a": 1}])', [{"a": 1}]),
    "behind a name in braces": ('Dear {name}, it is {"a": 1}', [{"a": 1}]),
    "behind a broken one": ('[1, is not it, but {"a": 1}', [{"a": 1}]),
    "two": ('{"a": 1} or [2]', [{"a": 1}, [2]]),
}


@pytest.mark.parametrize(("text", "found"), BROKEN.values(), ids=BROKEN)
def test_a_piece_of_broken_json_is_not_the_answer(text: str, found: list[Any]) -> None:
    if found:
        assert json_in(text) == found
        return
    with pytest.raises(ValueError, match="no JSON object or list"):
        json_in(text)
    assert value("json_equal", None, text, expected={"a": 1}, anywhere=True) == 0.0


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ("0.1", "0.1000000000000000055511151231257827", "$[0] is 0.1000000000000000055511151231257827, expected 0.1"),
        ("1", "1.00000000000000000001", "$[0] is 1.00000000000000000001, expected 1"),
        (f'{{"{NFC}": 1}}', f'{{"{NFD}": 1}}', "$[0].é is missing, expected 1; $[0]['e\\u0301'] is 1, expected none"),
        (f'"{NFC}"', f'"{NFD}"', '$[0] is "e\\u0301", expected "\\u00e9"'),
        ("[0.5]", "{}", "$[0] is {}, expected [0.5]"),
    ],
)  # fmt: skip
def test_values_that_look_alike_are_distinguished(one: str, other: str, message: str) -> None:
    assert reason("json_equal", f"[{one}]", f"[{other}]") == message


@pytest.mark.parametrize(
    ("expected", "problem"),
    [
        ({"a": float("nan")}, r"nan at \$\.a is not JSON|finite"),
        ([float("inf")], r"inf at \$\[0\] is not JSON|finite"),
        ({1: 2}, "the key 1 at .* is not a text"),
        ({"a": [{2}]}, r"\{2\} at \$\.a\[0\] is not JSON"),
    ],
)
def test_an_expected_value_that_no_json_can_be_is_refused(expected: Any, problem: str) -> None:
    with pytest.raises((CriterionError, ValueError), match=problem):
        metric("json_equal", expected=expected)


def test_duplicate_key_is_named() -> None:
    assert 'an object has the key "a" twice' in reason("json_equal", "[]", '{"b": 1, "a": 1, "a": 2}')


def test_text_that_holds_json_is_refused_as_an_option() -> None:
    with pytest.raises(CriterionError, match="write the value itself, without quotes"):
        metric("json_equal", expected='{"a": 1}')


@pytest.mark.parametrize(
    ("expected", "answer", "options", "message"),
    [
        ({"a": 1}, '{"a": 1.0}', {}, "the answer is the expected value"),
        ({"a": [1, {"b c": 2}]}, '{"a": [1, {"b c": 3}]}', {}, "$.a[1]['b c'] is 3, expected 2"),
        ({"a": 1}, "{}", {}, "$.a is missing, expected 1"),
        ({}, '{"a": 1}', {}, "$.a is 1, expected none"),
        ([1, 2], "[1]", {}, "$[1] is missing, expected 2"),
        ([1], "[1, 2]", {}, "$[1] is 2, expected none"),
        ([1, 2], "[3, 2]", {"ignore_order": True}, "$[0] is missing, expected 1; $[0] is 3, expected none"),
        ({"a": 1}, "[]", {}, '$ is [], expected {"a": 1}'),
        ({"a": 1}, '{"a": true}', {}, "$.a is true, expected 1"),
        ({"a": 1}, '{"a": 1.0}', {"strict": True}, "$.a is 1.0, expected 1"),
        ({"a": 1}, 'is {"a": 1}', {}, "the answer is not JSON: Expecting value: line 1 column 1 (char 0); it contains JSON, which counts with `anywhere`"),
        ({"a": 1}, "none", {"anywhere": True}, "the answer is not JSON: it contains no JSON object or list"),
        ({"a": 1, "b": 1}, 'x [] {"a": 1}', {"anywhere": True}, "$ is [], expected {\"a\": 1, \"b\": 1}"),
    ],
)  # fmt: skip
def test_reasons(expected: Any, answer: str, options: dict[str, Any], message: str) -> None:
    assert reason("json_equal", None, answer, expected=expected, **options) == message


def test_details_hold_every_difference_and_both_values() -> None:
    found = explanation("json_equal", '{"b": 1, "a": 2}', '{"a": 3, "c": null}')
    assert found.details == {
        "text": {"expected": '{\n  "a": 2,\n  "b": 1\n}', "actual": '{\n  "a": 3,\n  "c": null\n}'},
        "differences": [
            {"path": "$.b", "kind": "missing", "expected": 1},
            {"path": "$.a", "kind": "differs", "expected": 2, "actual": 3},
            {"path": "$.c", "kind": "extra", "actual": None},
        ],
    }


@given(VALUES)
def test_a_value_is_equal_to_itself_however_it_is_written(made: Any) -> None:
    options = {"strict": True, "expected": made}
    if isinstance(made, str) and made[:1] in "{[":
        return
    for text in (json.dumps(made), json.dumps(made, indent=3, ensure_ascii=False, sort_keys=True)):
        assert value("json_equal", None, text, **options) == 1.0


@given(VALUES, VALUES)
def test_differences_are_symmetric(one: Any, other: Any) -> None:
    for rules in (Rules(), Rules(strict=True), Rules(ignore_order=True), Rules(tolerance=0.5)):
        there, back = [*json_differences(one, other, rules)], [*json_differences(other, one, rules)]
        assert bool(there) == bool(back)


@given(VALUES, VALUES)
def test_looser_rules_never_find_more(one: Any, other: Any) -> None:
    if not [*json_differences(one, other, Rules(strict=True))]:
        for rules in (
            Rules(),
            Rules(ignore_order=True),
            Rules(allow_extra=True),
            Rules(tolerance=1, ignore_order=True),
        ):
            assert [*json_differences(one, other, rules)] == []


@given(st.lists(VALUES, max_size=4), st.randoms())
def test_the_order_of_lists_can_be_ignored(values: list[Any], chance: Any) -> None:
    shuffled = chance.sample(values, len(values))
    for rules in (Rules(ignore_order=True), Rules(ignore_order=True, tolerance=0.1)):
        assert [*json_differences(values, shuffled, rules)] == []


@given(VALUES)
def test_json_is_found_in_a_text(made: Any) -> None:
    if isinstance(made, dict | list):
        assert json_in(f"Sure! {json.dumps(made)} is it.") == [made]
        assert json_in(f"Sure!\n```json\n{json.dumps(made, indent=1)}\n```\nis it [1].") == [made]


@pytest.mark.slow
@given(st.text(st.sampled_from('{}[]",:1a `\n'), max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (read_json, json_in):
        with suppress(ValueError):
            json.dumps(read(text))


def test_values_too_deep_to_compare_are_an_error() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    measure = metric("json_equal")
    with pytest.raises(MetricError, match="nested too deeply"):
        measure.compare([deep], "[" * 900 + "]" * 900)
    assert scored(measure, case_of("[]", "[" * 900 + "]" * 900)).value == 0.0


FITS = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


@given(FITS)
def test_most_pairs_are_as_many_as_any_assignment_has(fits: set[tuple[int, int]]) -> None:
    pairs = most_pairs(4, 4, lambda i, j: (i, j) in fits)
    best = max(sum((i, j) in fits for i, j in enumerate(order)) for order in permutations(range(4)))
    assert len(pairs) == best
    assert set(pairs.items()) <= fits
    assert len(set(pairs.values())) == len(pairs)


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 3), max_size=6))
def test_equal_pairs_are_most_pairs_where_fitting_is_equality(left: list[int], right: list[int]) -> None:
    pairs = equal_pairs(left, right)
    assert all(left[i] == right[j] for i, j in pairs.items())
    assert len(pairs) == len(most_pairs(len(left), len(right), lambda i, j: left[i] == right[j]))


SMALL = st.integers(0, 6).map(Fraction)


@given(st.lists(st.tuples(SMALL, SMALL), max_size=5), st.lists(SMALL, max_size=5))
def test_pairs_within_ranges_are_most_pairs(
    ranges: list[tuple[Fraction, Fraction]], points: list[Fraction]
) -> None:
    pairs = pairs_within(ranges, points)
    assert all(ranges[i][0] <= points[j] <= ranges[i][1] for i, j in pairs.items())
    assert len(set(pairs.values())) == len(pairs)
    best = most_pairs(len(ranges), len(points), lambda i, j: ranges[i][0] <= points[j] <= ranges[i][1])
    assert len(pairs) == len(best)


@pytest.mark.slow
def test_a_chain_of_changes_may_be_long() -> None:
    """The last thing fits only the first partner: everybody else has to move one on."""
    count = 2000
    fits = {(i, i) for i in range(count)} | {(i, i + 1) for i in range(count)}
    pairs = most_pairs(count + 1, count + 1, lambda i, j: (i, j) in fits or (i, j) == (count, 0))
    assert len(pairs) == count + 1


@pytest.mark.nightly(check=9)
@pytest.mark.slow  # reads long texts
@pytest.mark.parametrize(
    "piece", ["[", "{", '{"a":', "```", "```json\n", "```a ", " ", "\n", "[1] ", '{"a": 1} ', '"']
)
@pytest.mark.parametrize("start", ["", "```json\n", "x"])
def test_long_answers_are_read_in_time(start: str, piece: str) -> None:
    started = time.process_time()
    with suppress(ValueError):
        json_in(start + piece * 50_000)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        pytest.param({"expected": {}, "allow_extra": True}, "expected: .* it cannot fail", id="any object"),
        pytest.param(
            {"expected": 5, "tolerance": 1e308}, "tolerance: .* every number is equal", id="any number"
        ),
        pytest.param({"expected": {"a": 5}, "tolerance": 1e308}, "tolerance", id="any number within"),
        pytest.param({"tolerance": 1e308}, "tolerance", id="for any expected value"),
    ],
)
def test_what_cannot_fail_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(CriterionError, match=problem):
        metric("json_equal", **options)


@pytest.mark.parametrize(
    "options",
    [
        {"expected": {}},
        {"expected": [], "allow_extra": True},
        {"expected": [], "ignore_order": True},
        {"expected": {"a": {}}, "allow_extra": True},
        {"expected": 5, "tolerance": 1000},
        {"expected": None},
        {"expected": ""},
        {"expected": True},
    ],
    ids=str,
)
def test_what_can_fail_is_accepted(options: dict[str, Any]) -> None:
    metric("json_equal", **options)


@pytest.mark.parametrize(("reference", "problems"), [("{}", 1), ('{"a": {}}', 0), ("[]", 0)])
def test_a_reference_answer_that_accepts_every_value_is_reported(reference: str, problems: int) -> None:
    answer = {"parts": [{"text": reference}]}
    turn = {"user_content": {"parts": [{"text": "q"}]}, "final_response": answer}
    case = EvalCase.model_validate({"eval_id": "a", "conversation": [turn]})
    found = [*metric("json_equal", allow_extra=True).check(case)]
    assert len(found) == problems
    assert all(one.startswith("json_equal: turn 1: the reference answer") for one in found)
