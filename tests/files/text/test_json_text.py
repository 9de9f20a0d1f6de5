"""Bytes to text to value: what is JSON, what is read all the same, and what is refused with its place."""

import json
import time
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from proctor.errors import EvalFileError
from proctor.files.text.json_decode import parse


def refused(data: bytes) -> str:
    with pytest.raises(EvalFileError) as caught:
        parse(data, "f.json")
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        pytest.param(b'{"a": 1}', {"a": 1}, id="plain"),
        pytest.param(b'\xef\xbb\xbf{"a": 1}', {"a": 1}, id="byte-order mark"),
        pytest.param('{"ä": "日本"}'.encode(), {"ä": "日本"}, id="not ASCII"),
        pytest.param(b'{"a": "\\ud83d\\ude00"}', {"a": "😀"}, id="both halves of a character"),
        pytest.param(b'["NaN", "Infinity", "1e999", "\\\\u0000"]', ["NaN", "Infinity", "1e999", "\\u0000"], id="texts that speak of numbers"),
        pytest.param(b"[1e308, 123456789012345678901234567890]", [1e308, 123456789012345678901234567890], id="large numbers"),
        pytest.param(b"[" * 200 + b"]" * 200, None, id="200 levels"),
    ],
)  # fmt: skip
def test_json_reads_without_a_word(data: bytes, value: object) -> None:
    text = parse(data, "f.json")
    assert text.warnings == []
    assert not text.has_comments
    if value is not None:
        assert text.value == value


@pytest.mark.parametrize(
    ("text", "value", "warned"),
    [
        pytest.param('{"a": 1} # end', {"a": 1}, ["1:10"], id="# comment"),
        pytest.param('// start\n{"a": 1}', {"a": 1}, ["1:1"], id="// comment"),
        pytest.param('{"a": "x # y // z"}', {"a": "x # y // z"}, [], id="not inside a string"),
        pytest.param('{"a": 1, # one\n "b": 2 // two\n}', {"a": 1, "b": 2}, ["1:10"], id="one warning for all comments"),
        pytest.param('{"a": [1, 2,],}', {"a": [1, 2]}, ["1:12"], id="trailing commas"),
        pytest.param('{"a": 1 # x\n , # y\n}', {"a": 1}, ["1:9", "2:2"], id="comma between comments"),
        pytest.param('{"ü": "é", } # ö', {"ü": "é"}, ["1:10", "1:14"], id="columns are characters"),
        pytest.param('{"a": 1#x\n}', {"a": 1}, ["1:8"], id="right behind a number"),
    ],
)  # fmt: skip
def test_comments_and_trailing_commas_read_with_a_warning(
    text: str, value: object, warned: list[str]
) -> None:
    read = parse(text.encode(), "f.json")
    assert read.value == value
    assert [f"{warning.line}:{warning.column}" for warning in read.warnings] == warned
    assert all(warning.severity == "warning" and "ADK refuses" in warning.hint for warning in read.warnings)


def test_blanking_keeps_every_place() -> None:
    read = parse(b'{"a": 1, # one\n "b": [1,],\n}', "f.json")
    assert read.data.decode() == '{"a": 1,      \n "b": [1 ] \n}'


@pytest.mark.parametrize(
    ("data", "place", "expected"),
    [
        pytest.param(b"", "1:1", "empty", id="nothing"),
        pytest.param(b" \n ", "1:1", "empty", id="only blanks"),
        pytest.param('{"a": 1}'.encode("utf-16"), "1:1", "UTF-16, at byte offset 0", id="UTF-16"),
        pytest.param('{"a": 1}'.encode("utf-16-le"), "1:2", "UTF-16 without a byte-order mark", id="UTF-16 without mark"),
        pytest.param('{"a": 1}'.encode("utf-32"), "1:1", "UTF-32", id="UTF-32"),
        pytest.param(b'{"a":\n "\xff"}', "2:3", "0xFF is not UTF-8, at byte offset 8", id="invalid UTF-8"),
        pytest.param(b'\xef\xbb\xbf{"a": "\xc3\xa9\xff"}', "1:9", "at byte offset 12", id="invalid UTF-8 behind a mark"),
        pytest.param(b'{"a": NaN}', "1:7", "JSON has no number NaN", id="NaN"),
        pytest.param(b'{"a": [-Infinity]}', "1:8", "-Infinity", id="Infinity"),
        pytest.param(b'{"a": 1E+999}', "1:7", "too large", id="1e999"),
        pytest.param(b"[0, " + b"9" * 400 + b".5]", "1:5", "too large", id="400 digits and a fraction"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", "1:7", "5000 digits", id="5000 digits"),
        pytest.param(b'{"a": "x\\ud800"}', "1:9", "lone surrogate", id="half a character"),
        pytest.param(b'["\\ud800\\n"]', "1:3", "lone surrogate", id="half a character before another escape"),
        pytest.param(b'["\\udc00"]', "1:3", "lone surrogate", id="a second half alone"),
        pytest.param(b'["a\\u0000"]', "1:4", "NUL", id="NUL"),
        pytest.param(b'["a\x00"]', "1:4", "NUL", id="a NUL byte"),
        pytest.param(b'{"a": "x\ny"}', "1:7", "broken by a line end", id="line end in a string"),
        pytest.param(b'["\t"]', "1:3", "control character U+0009", id="tab in a string"),
        pytest.param(b'{"a": "x', "1:7", "no closing quote", id="open string"),
        pytest.param(b'["\\x41"]', "1:3", "not an escape", id="bad escape"),
        pytest.param(b'{"a": 1 "b": 2}', "1:9", "is a comma missing", id="missing comma"),
        pytest.param(b"[1\n2]", "2:1", "is a comma missing", id="missing comma in a list"),
        pytest.param(b"[1,,2]", "1:4", "got a comma", id="two commas"),
        pytest.param(b"{'a': 1}", "1:2", "JSON uses double quotes", id="single quotes around a key"),
        pytest.param(b"['a']", "1:2", "straight double quotes", id="single quotes"),
        pytest.param(b"{a: 1}", "1:2", "put the key in double quotes", id="bare key"),
        pytest.param(b'{"a": True}', "1:7", "JSON writes `true`", id="True"),
        pytest.param(b'{"a": None}', "1:7", "JSON writes `null`", id="None"),
        pytest.param(b'{"a": 01}', "1:7", "not a number as JSON writes it", id="leading zero"),
        pytest.param(b'{"a" 1}', "1:6", "expected `:`", id="missing colon"),
        pytest.param(b'{"a": }', "1:7", "expected a value", id="missing value"),
        pytest.param(b'{"a": [1, 2}', "1:12", "does not close the `[` opened at 1:7", id="wrong bracket"),
        pytest.param(b'{"a": [1', "1:9", "ends inside the `[` opened at 1:7", id="cut off"),
        pytest.param(b'{"a": 1}\n{"b": 2}', "2:1", "JSON lines", id="several documents"),
        pytest.param(b"<html></html>", "1:1", "HTML", id="a web page"),
        pytest.param(b"/* x */ {}", "1:1", "comments of this kind", id="C comment"),
    ],
)  # fmt: skip
def test_what_is_not_json_is_refused_with_its_place(data: bytes, place: str, expected: str) -> None:
    message = refused(data)
    assert message.startswith(f"f.json:{place}: error: ")
    assert expected in message
    assert "\n" not in message


def test_all_invalid_numbers_are_reported_at_once() -> None:
    with pytest.raises(EvalFileError) as caught:
        parse(b'{"a": NaN,\n "b": [1e999, "\\u0000"]}', "f.json")
    assert [(p.line, p.column, p.field) for p in caught.value.problems] == [
        (1, 7, "a"),
        (2, 8, "b[0]"),
        (2, 16, "b[1]"),
    ]


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_deep_nesting_is_refused_quickly_and_in_little_memory(bracket: str) -> None:
    data = (bracket * 100_000).encode()
    tracemalloc.start()
    start = time.process_time()
    message = refused(data)
    seconds, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "nested deeper than 200 levels" in message
    assert seconds < 10
    assert peak < 100 << 20


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('abü\\"#/', max_size=3), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(JSON, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_every_json_document_reads_as_the_standard_library_reads_it(
    value: object, indent: int | str | None, ascii_: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_)
    assert parse(text.encode(), "f.json").value == json.loads(text)


@given(JSON, st.randoms(use_true_random=False))
def test_comments_between_tokens_change_nothing(value: object, random: object) -> None:
    text = json.dumps(value, indent=1).replace("\n", " # c\n") + " // end"
    read = parse(text.encode(), "f.json")
    assert read.value == value
    assert read.has_comments


@given(st.binary(max_size=200))
def test_any_bytes_read_or_are_refused(data: bytes) -> None:
    with suppress(EvalFileError):
        parse(data, "f.json")
