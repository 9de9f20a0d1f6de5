"""Where in a text the value of a path is."""

import json
from typing import Any

from hypothesis import given, strategies as st

from proctor.files.text.json_scanner import string_offsets
from proctor.files.text.json_tree import Places
from proctor.files.text.problems import Path_, Place, SourceText, field_name, quote

TEXT = """{
  "a": [1, {"b": "x",
    "ü": [ ]}],  # comment
  "c": {"d": null}
}"""


def place(path: Path_, *, key: bool = False) -> Place:
    places = Places(SourceText("f", TEXT), [path])
    return places.key(path) if key else places.value(path)


def test_a_value_a_key_and_a_missing_key() -> None:
    assert place(("a", 1, "ü")) == (3, 10)
    assert place(("a", 1, "ü"), key=True) == (3, 5)
    assert place(("a", 1)) == (2, 12)
    assert place(("c", "nothing", 3)) == (4, 8), "the nearest object around it"
    assert place(()) == (1, 1)


def test_a_piece_of_a_file_has_the_places_of_the_file() -> None:
    source = SourceText("f", '{"x":\n 1}', Place(10, 5))
    places = Places(source, [("eval_cases", 7, "x")], base=("eval_cases", 7))
    assert places.key(("eval_cases", 7, "x")) == (10, 6)
    assert places.value(("eval_cases", 7, "x")) == (11, 2)


def walk(value: Any, path: Path_ = ()) -> list[tuple[Path_, Any]]:
    found = [(path, value)]
    for key, item in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        found += walk(item, (*path, key))
    return found


DOCUMENTS = st.recursive(
    st.integers() | st.text("ab\n", max_size=3) | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("kü\\", max_size=2), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(DOCUMENTS, st.sampled_from([None, 1]))
def test_the_text_at_a_place_is_the_value(document: Any, indent: int | None) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    paths = walk(document)
    places = Places(SourceText("f", text), [path for path, _ in paths])
    lines = text.split("\n")
    for path, value in paths:
        line, column = places.value(path)
        rest = "\n".join([lines[line - 1][column - 1 :], *lines[line:]])
        assert json.JSONDecoder().raw_decode(rest)[0] == value


def test_field_names_read_as_people_write_them() -> None:
    assert (
        field_name(("eval_cases", 3, "session_input", "state", "odd key"))
        == "eval_cases[3].session_input.state[“odd key”]"
    )
    assert field_name((0, "query")) == "[0].query"


def test_quoted_text_is_short_and_holds_no_control_characters() -> None:
    assert quote("a\x1b[31m\u202e\n") == "“a\\x1b[31m\\u202e\\n”"
    assert len(quote("x" * 500)) == 62


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_offsets_inside_a_string_lead_to_its_escapes(text: str) -> None:
    for outer in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
        inner, offsets = string_offsets(outer)
        assert inner == text
        assert len(offsets) == len(text) + 1
        assert offsets == sorted(offsets)
        assert outer[offsets[-1]] == '"'


@given(st.text("aé\n", max_size=20), st.data())
def test_the_place_of_an_offset(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    before = text[:offset].split("\n")
    assert SourceText("f", text).place(offset) == (len(before), len(before[-1]) + 1)
