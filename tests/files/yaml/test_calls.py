"""Tool calls as text: their meaning, the location of errors, and reading back what is written."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.files.yaml.call_syntax import CallError, parse_call, write_call
from proctor.files.yaml.turns import offset_in
from tests.files.yaml.generated_sets import JSON, TEXTS


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("f()", {}),
        ("f(city=Paris)", {"city": "Paris"}),
        ("f( city = Paris , n = 3 )", {"city": "Paris", "n": 3}),
        ("f(name=La Trattoria, covers=2, time=19:00)", {"name": "La Trattoria", "covers": 2, "time": "19:00"}),
        ('f(a="x, y)", b=\'it\'\'s\', c="\\u00e9\\n")', {"a": "x, y)", "b": "it's", "c": "é\n"}),
        ('f(list=[1,2, x y], obj={a: 1, "b": [true], c:d})', {"list": [1, 2, "x y"], "obj": {"a": 1, "b": [True], "c": "d"}}),
        ("f(a=[], b={}, c=[[1], []])", {"a": [], "b": {}, "c": [[1], []]}),
        ("f(a=null, b=~, c=true, d=no, e=1e3, f=-0.5)", {"a": None, "b": None, "c": True, "d": "no", "e": 1000.0, "f": -0.5}),
        ("f(a=2024-05-01, b=on, c=@me, d=*, e=&x, f=!x, g=50%)", {"a": "2024-05-01", "b": "on", "c": "@me", "d": "*", "e": "&x", "f": "!x", "g": "50%"}),
        ("f(q=what (now), z=1)", {"q": "what (now)", "z": 1}),
        ("f(url=http://x.y/z?a=1&b=2)", {"url": "http://x.y/z?a=1&b=2"}),
        ("f(a=it's, b=5 o'clock)", {"a": "it's", "b": "5 o'clock"}),
        ("f(a=1,)", {"a": 1}),
        ('f("odd key"=1, with space=2)', {"odd key": 1, "with space": 2}),
        ("f(\n  a=one\n    two,\n  b=2\n)\n", {"a": "one two", "b": 2}),
        ('f(a="007")', {"a": "007"}),
    ],
)  # fmt: skip
def test_meaning_of_a_call(text: str, arguments: dict[str, Any]) -> None:
    assert parse_call(text) == ("f", arguments)


def test_many_parallel_lists_are_not_deep() -> None:
    assert parse_call(f"f(a=[{', '.join(['[{x: 1}]'] * 300)}])") == ("f", {"a": [[{"x": 1}]] * 300})


@pytest.mark.parametrize("name", ["get_weather", "ns:get-weather.v2", "a/b", "wetter_für", "f2", "x"])
def test_names_of_tools(name: str) -> None:
    assert parse_call(f"{name}(a=1)") == (name, {"a": 1})
    assert write_call(name, {"a": 1}) == f"{name}(a=1)"


@pytest.mark.parametrize(
    ("text", "marked", "message"),
    [
        ("^", "", "expected a tool's name, got nothing"),
        ("^(a=1)", "", "expected a tool's name"),
        ("f^", "", "a call without arguments is `f()`"),
        ("get weather", "get ^weather", "expected `(` after `get`"),
        ("f(^", "", "the `(` at character 2 is not closed"),
        ("f(a=1^", "", "the `(` at character 2 is not closed"),
        ("f(^Paris)", "", "expected `=` after “Paris”"),
        ("f(a=Hello, ^world)", "", "is it part of the text before the comma?"),
        ("f(a=^)", "", "no value after `a=`"),
        ("f(channel=^", "", "the text ends after `channel=`"),
        ("f(a=^, b=1)", "", "no value after `a=`"),
        ("f(a=1 ^b=2)", "", "is a comma missing before `b=`?"),
        ("f(a=1, ^a=2)", "", "`a` appears twice"),
        ("f(a={b: 1, ^b: 2})", "", "`b` appears twice"),
        ("f(a=1)^x", "", "text after the call"),
        ("f(a=1) ^g(b=2)", "", "text after the call"),
        ("f(a=^'x)", "", "never closed"),
        ('f(a=^"x)', "", "never closed"),
        ('f(a="x"^ y)', "", "expected `,` or `)`"),
        ('f(a=^"\\q")', "", "an escape that JSON does not have"),
        ('f(a=^"\\u0000")', "", "NUL"),
        ("f(a=[1, 2^)", "", "expected `,` or `]`"),
        ("f(a={^b})", "", "expected `:` after “b”"),
        ("f(a=[^,])", "", "no value after `[`"),
        ("f(a=^007)", "", "disagree about the value of “007”"),
        ("f(a=[1, ^.nan])", "", "JSON has no number"),
        ("f(a=^None)", "", "a null is `null` (the text is `\"None\"`)"),
        ("f(a=[1, ^NaN])", "", "JSON has no such number"),
        ("f(a={b: ^-Infinity})", "", "the text is `\"-Infinity\"`"),
        ("f(^=1)", "", "expected an argument's name"),
        ("f(a=" + "[" * 100 + "^" + "[" * 9, "", "nested deeper than 100 levels"),
    ],
    ids=lambda value: value[:30],
)  # fmt: skip
def test_where_a_call_is_broken(text: str, marked: str, message: str) -> None:
    marked = marked or text
    with pytest.raises(CallError) as caught:
        parse_call(marked.replace("^", ""))
    error = caught.value
    assert message in f"{error.message} ({error.hint})"
    plain = marked.replace("^", "")
    assert error.offset == marked.index("^") or plain[marked.index("^") : error.offset].isspace()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"city": "Paris", "n": 3, "x": 0.5, "b": False, "none": None}, "f(city=Paris, n=3, x=0.5, b=false, none=null)"),
        ({"time": "19:00", "name": "La Trattoria"}, "f(time=19:00, name=La Trattoria)"),
        ({"a": "3", "b": "true", "c": "", "d": " x", "e": "007"}, 'f(a="3", b="true", c="", d=" x", e="007")'),
        ({"a": "x, y", "b": "x=y", "c": "x (y)"}, 'f(a="x, y", b="x=y", c="x (y)")'),
        ({"a": [1, "x"], "b": {"c": {"d": []}}}, "f(a=[1, x], b={c: {d: []}})"),
        ({"odd,key": 1}, 'f("odd,key"=1)'),
        ({"a": "None", "b": ["NaN"], "c": "None of it"}, 'f(a="None", b=["NaN"], c=None of it)'),
    ],
)  # fmt: skip
def test_how_a_call_is_written(arguments: dict[str, Any], text: str) -> None:
    assert write_call("f", arguments) == text


@pytest.mark.parametrize("name", ["", "two words", "f(", "a=b", " f", "f:", "#f", "it's"])
def test_names_without_a_text_form(name: str) -> None:
    assert write_call(name, {}) is None


@pytest.mark.slow
@given(st.dictionaries(TEXTS, JSON, max_size=4))
def test_what_is_written_is_read_again(arguments: dict[str, Any]) -> None:
    text = write_call("f", arguments)
    assert text is not None
    name, again = parse_call(text)
    assert (name, again) == ("f", arguments)
    assert repr(again) == repr(arguments)  # 1 is not 1.0, and not true


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused_with_a_place_inside_it(text: str) -> None:
    for attempt in (text, f"f({text})", f"f(a={text})"):
        error: CallError | None = None
        try:
            parse_call(attempt)
        except CallError as raised:
            error = raised
        assert error is None or (error.message and 0 <= error.offset <= len(attempt))


@pytest.mark.parametrize(
    ("raw", "text", "marked"),
    [
        ("f(a=1)", "f(a=1)", "f(^a=1)"),
        ("'f(a=''x'', b=1)'", "f(a='x', b=1)", "'f(a=''x'', ^b=1)'"),
        ('"f(a=\\"x\\", b=1)"', 'f(a="x", b=1)', '"f(a=\\"x\\", ^b=1)"'),
        ('"f(\\u0061=1, b=1)"', "f(a=1, b=1)", '"f(\\u0061=1, ^b=1)"'),
        ("f(a=1,\n    b=1)", "f(a=1, b=1)", "f(a=1,\n    ^b=1)"),
        ("|\n    f(\n      a=1,\n      b=1)", "f(\n  a=1,\n  b=1)", "|\n    f(\n      a=1,\n      ^b=1)"),
        (">\n    f(a=1,\n    b=1)", "f(a=1, b=1)", ">\n    f(a=1,\n    ^b=1)"),
    ],
)  # fmt: skip
def test_location_of_a_character_in_the_file(raw: str, text: str, marked: str) -> None:
    letter = marked[marked.index("^") + 1]
    assert offset_in(raw, text, text.index(f"{letter}=")) == marked.index("^")
