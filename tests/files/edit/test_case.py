"""One case of a set is edited, and every other byte is unchanged."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from proctor.errors import EvalFileError
from proctor.files.edit.case import EditedText, with_case
from proctor.files.edit.editable_file import IN_PLACE, text_of_file
from proctor.files.edit.json_edit import JsonEdit, change_value, same_json
from proctor.files.eval_sets.convert import yaml_text
from proctor.files.eval_sets.source import load_eval_set_text, open_eval_set
from proctor.schema.format.case import EvalCase
from tests.files.edit.test_json_edit import JSON, LAYOUTS
from tests.files.yaml.generated_sets import SETS

PICK = st.integers(0, 100)


def edited(path: Path, index: int, value: Any) -> EditedText:
    return with_case(path, open_eval_set(path, allow_duplicate_ids=True), text_of_file(path), index, value)


# --- any JSON ----------------------------------------------------------------------------------------------------------


@given(JSON, JSON, st.sampled_from(LAYOUTS))
def test_any_value_becomes_any_other(before: Any, after: Any, layout: dict[str, Any]) -> None:
    edit = JsonEdit(json.dumps(before, **layout))
    change_value(edit, edit.root, after)
    assert same_json(json.loads(edit.text()), after)


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in inner for found in _paths(item, (*path, key)))]


@pytest.mark.slow
@given(JSON, JSON, st.sampled_from(LAYOUTS), st.data())
def test_what_is_equal_keeps_its_bytes(
    before: Any, new: Any, layout: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps({"a": before, "z": [1, before]}, **layout)
    after = {"a": deepcopy(before), "z": [1, deepcopy(before)]}
    path = data.draw(st.sampled_from(_paths(before)))
    place: Any = after
    steps: tuple[str | int, ...] = ("z", 1, *path)
    for step in steps[:-1]:
        place = place[step]
    place[steps[-1]] = new
    edit = JsonEdit(text)
    node = edit.root.at(*steps)
    assert node is not None
    change_value(edit, edit.root, after)
    changed = edit.text()
    assert changed[: node.start] == text[: node.start]
    assert changed.endswith(text[node.end :])
    assert same_json(json.loads(changed), after)


COMMENTED = """\
{
  // which one
  "eval_id": "a",  // its id
  "conversation": [
    {"user_content": {"parts": [{"text": "hi"}]}},
    // the second
    {"user_content": {"parts": [{"text": "there"}]}, "x": 1.0}
  ],
  "tags": ["one", "two"]
}"""


def _changed(change: Any) -> str:
    edit = JsonEdit(COMMENTED)
    value = edit.value(edit.root)
    change(value)
    change_value(edit, edit.root, value)
    return edit.text()


def _swap(value: Any) -> None:
    value["conversation"].reverse()


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        pytest.param(lambda v: v.update(eval_id="b"), '"a",', '"b",', id="a text"),
        pytest.param(lambda v: v.pop("tags"), ',\n  "tags": ["one", "two"]', "", id="a key goes"),
        pytest.param(lambda v: v["tags"].append("three"), '"two"]', '"two", "three"]', id="an item comes"),
        pytest.param(lambda v: v["tags"].pop(0), '["one", "two"]', '["two"]', id="an item goes"),
        pytest.param(lambda v: v["tags"].reverse(), '["one", "two"]', '["two", "one"]', id="items moved"),
        pytest.param(lambda v: v["conversation"][1].update(x=2), "1.0", "2", id="a number inside"),
        pytest.param(lambda v: v["conversation"][1].update(x=1), "1.0", "1", id="a number of another kind"),
        pytest.param(lambda v: v["conversation"][1].pop("x"), ', "x": 1.0', "", id="a key inside goes"),
        pytest.param(
            lambda v: v.pop("eval_id"), '"eval_id": "a",  // its id\n  ', "", id="the first key goes"
        ),
    ],
)
def test_only_what_differs_is_written(change: Any, old: str, new: str) -> None:
    assert _changed(change) == COMMENTED.replace(old, new)


def test_comments_that_would_go_are_named() -> None:
    edit = JsonEdit(COMMENTED)
    value = edit.value(edit.root)
    _swap(value)
    change_value(edit, edit.root, value)
    assert edit.lost_comments() == ["6: // the second"]


# --- sets --------------------------------------------------------------------------------------------------------------


def _field_changes(value: dict[str, Any]) -> list[dict[str, Any]]:
    """A case with one field changed, for several fields."""
    found = []
    for path in _paths(value)[1:]:
        changed = deepcopy(value)
        place: Any = changed
        for step in path[:-1]:
            place = place[step]
        if isinstance(place[path[-1]], str) and path[-1] in {"text", "name", "text_property", "author"}:
            place[path[-1]] += " — “changed” \n\t\\ 😀"
            found.append(changed)
    return [*found[:3], {**value, "a_key_of_mine": {"kept": [1.0, None, "</script>"]}}]


@pytest.mark.slow
@settings(max_examples=25)
@given(SETS, st.sampled_from(LAYOUTS), PICK)
def test_a_field_of_any_set_in_json(
    tmp_path_factory: pytest.TempPathFactory, made: Any, layout: dict[str, Any], pick: int
) -> None:
    assume(made["eval_cases"])
    path = tmp_path_factory.mktemp("set") / "s.evalset.json"
    path.write_text(json.dumps(made, **layout))
    before = json.loads(path.read_text())
    index = pick % len(before["eval_cases"])
    changes = _field_changes(before["eval_cases"][index])
    value = changes[pick // 7 % len(changes)]
    after = json.loads(edited(path, index, value).text)
    before["eval_cases"][index] = value
    assert same_json(after, before)


@pytest.mark.slow
@settings(max_examples=25)
@given(SETS, PICK)
def test_a_field_of_any_set_in_yaml(tmp_path_factory: pytest.TempPathFactory, made: Any, pick: int) -> None:
    assume(made["eval_cases"])
    path = tmp_path_factory.mktemp("set") / "s.evalset.yaml"
    path.write_text(yaml_text(load_eval_set_text(json.dumps(made))))
    source = open_eval_set(path)
    index = pick % len(source)
    changes = _field_changes(source.value(index))
    value = changes[pick // 7 % len(changes)]
    path.write_text(edited(path, index, value).text)
    again = open_eval_set(path)
    assert again.case(index) == EvalCase.model_validate(value)
    assert [again.case(i) for i in range(len(source)) if i != index] == [
        case for i, case in enumerate(load_eval_set_text(json.dumps(made)).eval_cases) if i != index
    ]


@pytest.mark.nightly
def test_a_field_of_every_set_of_the_corpus(shared: Path) -> None:
    checked = 0
    for path in sorted((shared / "corpus").rglob("*.json")):
        try:
            source = open_eval_set(path, allow_duplicate_ids=True)
        except EvalFileError:
            continue
        if source.kind not in IN_PLACE:
            continue
        text = text_of_file(path)
        index = len(source) // 2
        for value in _field_changes(source.value(index)):
            changed = with_case(path, source, text, index, value)
            assert changed.lost_comments == [], path
            _check_the_rest(path, text, changed.text, index, value)
            checked += 1
    assert checked > 200


def _check_the_rest(path: Path, before: str, after: str, index: int, value: Any) -> None:
    wanted = json.loads(before.removeprefix("\ufeff"))
    cases = wanted if isinstance(wanted, list) else wanted.get("eval_cases", wanted.get("evalCases"))
    if cases is None:
        wanted = value
    else:
        cases[index] = value
    assert same_json(json.loads(after.removeprefix("\ufeff")), wanted), path
    same = sum(1 for line in after.split("\n") if line in set(before.split("\n")))
    assert same >= before.count("\n") - 3, path  # layout and all


LINES = '{"eval_set_id":"s"}\n{"eval_id":"a","conversation":[]}\n\n{"eval_id":"b","conversation":[{"user_content":{}}]}\n'


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param({"eval_id": "b", "conversation": [{"user_content": {"parts": []}}]},
                     '{"eval_id":"b","conversation":[{"user_content":{"parts":[]}}]}', id="in an empty object"),
        pytest.param({"eval_id": "c", "conversation": []}, '{"eval_id":"c","conversation":[]}', id="emptied"),
        pytest.param({"eval_id": "b", "conversation": [{"user_content": {}}, {"user_content": {}}]},
                     '{"eval_id":"b","conversation":[{"user_content":{}},{"user_content":{}}]}', id="one turn more"),
    ],
)  # fmt: skip
def test_a_case_of_a_file_of_lines_stays_on_its_line(tmp_path: Path, value: Any, written: str) -> None:
    path = tmp_path / "s.evalset.jsonl"
    path.write_text(LINES)
    lines = LINES.split("\n")
    assert edited(path, 1, value).text.split("\n") == [*lines[:3], written, ""]


YAML = """\
eval_set: trip
cases:
  # the first one
  - case: rome
    ask: Where to?  # a question
    tools:
      - find(city=Rome)
    expect: Rome
  - ask: And you?
    expect: Paris  # always
"""


@pytest.mark.parametrize(
    ("index", "change", "old", "new"),
    [
        pytest.param(0, lambda v: v["conversation"][0]["final_response"]["parts"][0].update(text="Oslo"),
                     "expect: Rome", "expect: Oslo", id="an answer"),
        pytest.param(0, lambda v: v.update(tags=["a"]), "  - case: rome\n", "  - case: rome\n    tags: [a]\n",
                     id="a key comes"),
        pytest.param(0, lambda v: v["conversation"][0].pop("final_response"), "    expect: Rome\n", "", id="a key goes"),
        pytest.param(1, lambda v: v["conversation"][0]["final_response"]["parts"][0].update(text="Oslo"),
                     "expect: Paris", "expect: Oslo", id="a case without an id"),
    ],
)  # fmt: skip
def test_only_an_entry_of_a_yaml_case_is_written(
    tmp_path: Path, index: int, change: Any, old: str, new: str
) -> None:
    path = tmp_path / "s.evalset.yaml"
    path.write_text(YAML)
    value = open_eval_set(path).value(index)
    change(value)
    found = edited(path, index, value)
    assert found.text == YAML.replace(old, new)
    assert found.lost_comments == []


ON_ONE_LINE = """\
- {case: rome, ask: Where to?, tools: [find(city=Rome), go()], "expect":"Rome"}  # the first one
- {case: oslo, ask: And you?,
   expect: Oslo}
"""


@pytest.mark.parametrize(
    ("index", "change", "old", "new"),
    [
        pytest.param(0, lambda v: v["conversation"][0]["final_response"]["parts"][0].update(text="Oslo, or {x}"),
                     ':"Rome"', ": 'Oslo, or {x}'", id="an answer"),
        pytest.param(1, lambda v: v["conversation"][0]["final_response"]["parts"][0].update(text="a\nb"),
                     "expect: Oslo", 'expect: "a\\nb"', id="two lines"),
        pytest.param(0, lambda v: v["conversation"][0]["intermediate_data"]["tool_uses"][1].update(name="stay"),
                     "go()", "stay()", id="a call"),
        pytest.param(0, lambda v: v["conversation"][0]["intermediate_data"]["tool_uses"].pop(),
                     ", go()]", "]", id="a call goes"),
        pytest.param(1, lambda v: v.update(tags=["a"]), "oslo,", "oslo, tags: [a],", id="a key comes"),
        pytest.param(1, lambda v: v["conversation"][0].pop("final_response"), ",\n   expect: Oslo", "", id="a key goes"),
    ],
)  # fmt: skip
def test_only_an_entry_of_a_yaml_case_in_brackets_is_written(
    tmp_path: Path, index: int, change: Any, old: str, new: str
) -> None:
    path = tmp_path / "s.evalset.yaml"
    path.write_text(ON_ONE_LINE)
    value = open_eval_set(path).value(index)
    change(value)
    assert edited(path, index, value).text == ON_ONE_LINE.replace(old, new)


def test_an_old_format_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "s.test.json"
    path.write_text('[{"query": "hi", "expected_tool_use": [], "reference": "hello"}]')
    with pytest.raises(EvalFileError, match="read-only: use `proctor migrate`"):
        edited(path, 0, open_eval_set(path).value(0))


RULED = """\
eval_set: y
cases:
  - {id}: a
    ask: hi   # why
    tools: [get_weather(city=Rome)]
    expectations:
      calls:
        - any_order: [get_calendar, 'find_table(covers=2)']   # both
    rules:
      - never: x   # never ever
    {state}: {{n: 1}}
"""


@pytest.mark.parametrize(
    "change",
    [{}, {"tags": ["x"]}, {"final_session_state": {"n": 2}}, {"response_schema": {"type": "object"}}],
)
@pytest.mark.parametrize(("named", "state"), [("case", "final_state"), ("id", "final_session_state")])
def test_yaml_with_rules_and_expectations_keeps_its_words_and_comments(
    tmp_path: Path, change: dict[str, Any], named: str, state: str
) -> None:
    path = tmp_path / "y.evalset.yaml"
    text = RULED.format(id=named, state=state)
    path.write_text(text)
    source = open_eval_set(path)
    value = {**source.value(0), **change}
    edited = with_case(path, source, text, 0, value)
    assert edited.lost_comments == []
    path.write_text(edited.text)
    assert open_eval_set(path).value(0) == value
    assert [line for line in text.splitlines() if line not in edited.text.splitlines()] == (
        [f"    {state}: {{n: 1}}"] if "final_session_state" in change else []
    )
    if not change:
        assert edited.text == text
