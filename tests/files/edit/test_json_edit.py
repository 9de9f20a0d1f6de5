"""A change in a JSON text changes that, and not one byte around it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.files.edit.json_edit import JsonEdit, same_json
from proctor.files.text.json_tree import JsonNode

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
LAYOUTS: list[dict[str, Any]] = [
    {},
    {"indent": 2},
    {"indent": 4},
    {"indent": "\t"},
    {"separators": (",", ":")},
    {"ensure_ascii": False, "indent": 1},
]


def node_at(edit: JsonEdit, *path: str | int) -> JsonNode:
    found = edit.root.at(*path)
    assert found is not None
    return found


def nodes(node: JsonNode) -> list[JsonNode]:
    return [node, *(inner for child in node.children for inner in nodes(child))]


@given(JSON, st.sampled_from(LAYOUTS))
def test_a_text_is_read_as_json_reads_it(value: Any, layout: dict[str, Any]) -> None:
    text = json.dumps(value, **layout)
    edit = JsonEdit(text)
    assert json.dumps(edit.value(edit.root)) == json.dumps(value)
    assert edit.text() == text


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, id="the order of keys"),
        pytest.param([float("nan")], [float("nan")], True, id="NaN"),
        pytest.param([1], [1.0], False, id="1 and 1.0"),
        pytest.param([1], [True], False, id="1 and true"),
    ],
)
def test_equal_json_has_equal_texts(one: object, other: object, is_same: bool) -> None:
    assert same_json(one, other) is is_same


@pytest.mark.slow
@given(JSON, JSON, st.sampled_from(LAYOUTS), st.data())
def test_a_value_is_replaced_and_nothing_else(
    value: Any, new: Any, layout: dict[str, Any], data: st.DataObject
) -> None:
    edit = JsonEdit(json.dumps(value, **layout))
    chosen = data.draw(st.sampled_from(nodes(edit.root)))
    start, end = chosen.start, chosen.end
    edit.replace(chosen, new)
    text = edit.text()
    assert text.startswith(edit.source[:start])
    assert text.endswith(edit.source[end:])
    put = text[start : len(text) - (len(edit.source) - end)]
    assert json.dumps(json.loads(put), sort_keys=True) == json.dumps(new, sort_keys=True)
    json.loads(text)


@given(st.lists(JSON, min_size=1, max_size=3), JSON, st.sampled_from(LAYOUTS))
def test_removing_an_appended_item_restores_the_text(
    items: list[Any], new: Any, layout: dict[str, Any]
) -> None:
    text = json.dumps({"items": items, "rest": 1}, **layout)
    edit = JsonEdit(text)
    edit.append(node_at(edit, "items"), [new])
    longer = edit.text()
    assert json.loads(longer)["items"] == [*items, new]
    again = JsonEdit(longer)
    again.remove_items(node_at(again, "items"), [len(items)])
    assert again.text() == text


@given(st.dictionaries(st.text(), JSON, max_size=3), st.text(), JSON, st.sampled_from(LAYOUTS))
def test_a_member_is_put_into_an_object(
    members: dict[str, Any], key: str, value: Any, layout: dict[str, Any]
) -> None:
    edit = JsonEdit(json.dumps(members, **layout))
    edit.put(edit.root, key, value)
    assert json.dumps(json.loads(edit.text()), sort_keys=True) == json.dumps(
        {**members, key: value}, sort_keys=True
    )


PUT = {
    "behind another": ('{\n  "a": 1,\n  "c": 3\n}', "a", '{\n  "a": 1,\n  "b": [\n    1\n  ],\n  "c": 3\n}'),
    "on one line": ('{"a": 1, "c": 3}', "a", '{"a": 1, "b": [1], "c": 3}'),
    "tight": ('{"a":1,"c":3}', "c", '{"a":1,"c":3,"b":[1]}'),
    "tabs": ('{\n\t"a": 1\n}', "a", '{\n\t"a": 1,\n\t"b": [\n\t\t1\n\t]\n}'),
    "line ends of Windows": ('{\r\n  "a": 1\r\n}', "a", '{\r\n  "a": 1,\r\n  "b": [\r\n    1\r\n  ]\r\n}'),
    "before a comment": ('{\n  "a": 1 // one\n}', "a", '{\n  "a": 1,\n  "b": [\n    1\n  ] // one\n}'),
    "before a comma too many": ('{\n  "a": 1,\n}', "a", '{\n  "a": 1,\n  "b": [\n    1\n  ],\n}'),
    "nested deeper": ('[\n    {\n        "a": 1\n    }\n]', "a",
                      '[\n    {\n        "a": 1,\n        "b": [\n            1\n        ]\n    }\n]'),
    "into nothing": ("{}", "", '{\n  "b": [\n    1\n  ]\n}'),
}  # fmt: skip


@pytest.mark.parametrize(("text", "after", "expected"), PUT.values(), ids=PUT)
def test_what_is_new_takes_the_layout_of_its_surroundings(text: str, after: str, expected: str) -> None:
    edit = JsonEdit(text)
    edit.put(node_at(edit, 0) if text.startswith("[") else edit.root, "b", [1], after=after)
    assert edit.text() == expected


REPLACED = {
    "a text": ('{"a": "x", "b": 1}', "y", '{"a": "y", "b": 1}'),
    "escapes where there are escapes": ('{"a": "\\u00e9"}', "ü", '{"a": "\\u00fc"}'),
    "letters where there are letters": ('{"a": "é"}', "ü", '{"a": "ü"}'),
    "an equal value is unchanged": ('{"a": {"x" : 1}}', {"x": 1}, '{"a": {"x" : 1}}'),
    "1 is not true": ('{"a": 1}', True, '{"a": true}'),
    "the last of two keys counts": ('{"a": 1, "a": 2}', 3, '{"a": 1, "a": 3}'),
    "an object on one line": ('{\n "a": {"x": 1}\n}', {"x": 2}, '{\n "a": {"x": 2}\n}'),
    "an object on several": ('{\n "a": {\n  "x": 1\n }\n}', {"x": 2}, '{\n "a": {\n  "x": 2\n }\n}'),
}  # fmt: skip


@pytest.mark.parametrize(("text", "value", "expected"), REPLACED.values(), ids=REPLACED)
def test_a_value_is_written_as_its_text_writes(text: str, value: Any, expected: str) -> None:
    edit = JsonEdit(text)
    edit.replace(node_at(edit, "a"), value)
    assert edit.text() == expected


REMOVED = {
    "the first": ("[1, 2, 3]", [0], "[2, 3]"),
    "one between": ("[1, 2,  3]", [1], "[1,  3]"),
    "the last": ("[\n 1,\n 2\n]", [1], "[\n 1\n]"),
    "several": ("[1, 2, 3, 4]", [0, 2], "[2, 4]"),
    "all": ("[\n 1,\n 2\n]", [0, 1], "[]"),
    "none": ("[ 1,2 ]", [], "[ 1,2 ]"),
    "before a comma too many": ("[1, 2,]", [0], "[2,]"),
}


@pytest.mark.parametrize(("text", "indexes", "expected"), REMOVED.values(), ids=REMOVED)
def test_items_are_taken_out_with_their_commas(text: str, indexes: list[int], expected: str) -> None:
    edit = JsonEdit(text)
    edit.remove_items(edit.root, indexes)
    assert edit.text() == expected


WITH_COMMENTS = """[
  // about a
  {"id": "a"}, // and a
  // about b
  {"id": "b"}, // and b

  // about c
  {"id": "c"} // and c
  // the end
]"""
REMOVED_WITH_COMMENTS = {
    "the first; a comment above it may be about the list": (
        [0], '[\n  // about a\n  // about b\n  {"id": "b"}, // and b\n\n  // about c\n  {"id": "c"} // and c\n  // the end\n]',
    ),
    "one in between": (
        [1], '[\n  // about a\n  {"id": "a"}, // and a\n\n  // about c\n  {"id": "c"} // and c\n  // the end\n]',
    ),
    "the last": (
        [2], '[\n  // about a\n  {"id": "a"}, // and a\n  // about b\n  {"id": "b"} // and b\n  // the end\n]',
    ),
    "two": ([0, 1], '[\n  // about a\n\n  // about c\n  {"id": "c"} // and c\n  // the end\n]'),
}  # fmt: skip


@pytest.mark.parametrize(("indexes", "expected"), REMOVED_WITH_COMMENTS.values(), ids=REMOVED_WITH_COMMENTS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_the_comments_of_an_item_go_with_it_and_those_of_others_stay(
    indexes: list[int], expected: str, line_end: str
) -> None:
    edit = JsonEdit(WITH_COMMENTS.replace("\n", line_end))
    edit.remove_items(edit.root, indexes)
    assert edit.text() == expected.replace("\n", line_end)


def test_removed_comments_are_reported() -> None:
    edit = JsonEdit('{\n  "a": [1, // one\n    2],\n  "b": 3 // three\n}')
    edit.replace(node_at(edit, "a"), [1, 3])
    edit.replace(node_at(edit, "b"), 4)
    assert edit.lost_comments() == ["2: // one"]


@pytest.mark.parametrize("comma", ["", ","], ids=["no comma behind the last", "a comma behind the last"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_comment_of_the_last_item_stays_on_its_line(comma: str, line_end: str) -> None:
    text = f'[\n  {{"id": "a"}},\n  {{"id": "b"}}{comma} // about b\n  // the end\n]'.replace("\n", line_end)
    edit = JsonEdit(text)
    edit.append(edit.root, [{"id": "c"}, 4])
    longer = edit.text()
    assert '{"id": "b"}, // about b' in longer.splitlines()[2]
    again = JsonEdit(longer)
    assert again.value(again.root) == [{"id": "a"}, {"id": "b"}, {"id": "c"}, 4]
    again.remove_items(again.root, [2, 3])
    assert again.text() == text
