"""Eval sets grow and shrink case by case, and the rest of the file is unchanged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from proctor import EvalCase, EvalFileError, SetupError
from proctor.files.edit.add_remove_cases import add_cases, create_set, remove_cases
from proctor.files.edit.editable_file import cases_of, edit_of
from proctor.files.edit.json_edit import JsonEdit
from proctor.files.eval_sets.source import load_eval_set, open_eval_set
from proctor.files.text.json_tree import JsonNode, JsonTree, PathTree


def case(eval_id: str, text: str = "hi") -> EvalCase:
    turn = {"user_content": {"parts": [{"text": text}], "role": "user"},
            "final_response": {"parts": [{"text": "hello"}], "role": "model"}}  # fmt: skip
    return EvalCase.model_validate({"eval_id": eval_id, "conversation": [turn]})


NAMES = ["s.evalset.json", "s.evalset.jsonl", "s.evalset.yaml"]


@pytest.mark.parametrize("name", NAMES)
def test_a_set_is_made_grows_and_shrinks(name: str, tmp_path: Path) -> None:
    path = tmp_path / "new" / name
    made = create_set(path, cases=[case("a")])
    assert (made.eval_set_id, load_eval_set(path).eval_set_id) == ("s", "s")
    one = path.read_bytes()
    add_cases(path, [case("b"), case("c", "ä # : \n- x")])
    three = load_eval_set(path)
    assert [each.eval_id for each in three.eval_cases] == ["a", "b", "c"]
    assert three.eval_cases[2] == case("c", "ä # : \n- x")
    remove_cases(path, ["b", "c"])
    assert path.read_bytes() == one


@pytest.mark.parametrize("name", NAMES[:2])
def test_a_set_may_begin_empty(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    create_set(path)
    add_cases(path, [case("a")])
    assert load_eval_set(path).eval_cases == [case("a")]
    remove_cases(path, ["a"])
    assert load_eval_set(path).eval_cases == []


AS_WRITTEN = {
    "comments and odd spaces": (
        "s.evalset.json",
        '{ "eval_set_id": "s", // mine\n  "eval_cases": [\n    %s\n  ], "own":  1 }\n',
        '{ "eval_set_id": "s", // mine\n  "eval_cases": [\n    %s,\n    %s\n  ], "own":  1 }\n',
    ),
    "YAML with comments": (
        "s.evalset.yaml",
        "# mine\ncases:\n- case: a  # one\n  ask: hi\n  expect: hello\n\nname: x\n",
        "# mine\ncases:\n- case: a  # one\n  ask: hi\n  expect: hello\n- case: b\n  ask: hi\n  expect: hello\n\nname: x\n",
    ),
    "lines without an end": ("s.evalset.jsonl", '{"eval_set_id":"s"}\n%s', '{"eval_set_id":"s"}\n%s\n%s\n'),
}


@pytest.mark.parametrize(("name", "before", "after"), AS_WRITTEN.values(), ids=AS_WRITTEN)
def test_existing_text_is_unchanged(name: str, before: str, after: str, tmp_path: Path) -> None:
    path = tmp_path / name
    first = json.dumps(case("a").model_dump(exclude_none=True, exclude_defaults=True))
    path.write_text(before.replace("%s", first))
    add_cases(path, [case("b")])
    written = path.read_text()
    if "%s" in after:
        start = after.partition("%s")[0] + first
        assert written.startswith(start)
        assert written.endswith(after.rpartition("%s")[2])
    else:
        assert written == after
    assert [each.eval_id for each in load_eval_set(path).eval_cases] == ["a", "b"]


def test_id_is_unique(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.json"
    create_set(path, cases=[case("a")])
    before = path.read_bytes()
    with pytest.raises(EvalFileError, match=r"s\.evalset\.json:5: the set already has a case a"):
        add_cases(path, [case("b"), case("a")])
    assert path.read_bytes() == before


def test_missing_case_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.json"
    create_set(path, cases=[case("apple")])
    with pytest.raises(SetupError, match=r"no case 'aple'\. Did you mean 'apple'\?"):
        remove_cases(path, ["aple"])


def test_a_file_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.json"
    create_set(path)
    with pytest.raises(EvalFileError, match="the file already exists"):
        create_set(path)


@pytest.mark.parametrize("name", ["s.json", "s", ".evalset.json", "s.evalset.txt"])
def test_a_set_is_known_by_its_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(EvalFileError, match=r"name the file NAME\.evalset\.json"):
        create_set(tmp_path / name)


def test_old_forms_are_not_changed_in_place(tmp_path: Path) -> None:
    path = tmp_path / "s.test.json"
    path.write_text(json.dumps([{"query": "hi", "reference": "hello", "expected_tool_use": []}]))
    with pytest.raises(EvalFileError, match="this form is read-only: use `proctor migrate`"):
        add_cases(path, [case("a")])


@pytest.mark.slow
def test_every_published_set_gets_its_bytes_back(shared: Path, tmp_path: Path) -> None:
    """A case is added and taken out again."""
    tried = 0
    for entry in json.loads((shared / "corpus" / "index.json").read_text()):
        source = shared / "corpus" / entry["file"]
        if entry["kind"] not in {"evalset", "test-new"} or source.suffix != ".json":
            continue
        path = tmp_path / "s.evalset.json"
        path.write_bytes(source.read_bytes())
        try:
            if not open_eval_set(path).ids():
                continue
            add_cases(path, [case("the new one")])
        except EvalFileError:
            continue
        tried += 1
        assert load_eval_set(path).eval_cases[-1] == case("the new one")
        remove_cases(path, ["the new one"])
        assert path.read_bytes() == source.read_bytes(), entry["file"]
    assert tried == 95


UNUSUAL = {
    "an alias among the cases": "cases:\n  - &a\n    case: a\n    ask: hi\n    expect: &e old\n  - case: b\n    ask: hi\n    expect: *e\n",
    "a comment behind the dash": "cases:\n  - # foo-bar\n    case: a\n    ask: hi\n  - case: b\n    ask: hi\n",
}
CHANGES: dict[str, tuple[list[str], Callable[[Path], object]]] = {
    "remove": (["b"], lambda path: remove_cases(path, ["a"])),
    "add": (["a", "b", "new"], lambda path: add_cases(path, [case("new")])),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL)
def test_an_unusual_layout_is_changed_rightly_or_not_at_all(text: str, change: str, tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.yaml"
    path.write_text(text)
    ids, do = CHANGES[change]
    try:
        do(path)
    except EvalFileError as refused:
        assert "Nothing was written" in str(refused)  # noqa: PT017  (refusing is as right as doing it)
        assert path.read_text() == text
    else:
        assert [each.eval_id for each in load_eval_set(path).eval_cases] == ids


COMMENTS = {
    "s.evalset.yaml": "cases:\n  - case: a\n    ask: hi\n    expect: x  # beside\n# the end\n",
    "s.evalset.json": (
        '{"eval_set_id": "s",\n "eval_cases": [\n  {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": '
        '"hi"}]}}]} // beside\n  // the end\n ]}\n'
    ),
}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("name", COMMENTS)
def test_comment_of_the_last_case_stays_on_its_line(name: str, line_end: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(COMMENTS[name].replace("\n", line_end).encode())
    before = file.read_bytes()
    turn = {"user_content": {"parts": [{"text": "q"}]}, "final_response": {"parts": [{"text": "r"}]}}
    add_cases(file, [EvalCase.model_validate({"eval_id": "b", "conversation": [turn]})])
    lines = file.read_text().splitlines()
    assert next(n for n, line in enumerate(lines) if "beside" in line) < next(
        n for n, line in enumerate(lines) if '"b"' in line or "case: b" in line
    )
    remove_cases(file, ["b"])
    assert file.read_bytes() == before


# --- sets of any text are changed where they are to change, without reading every word of them again ---------------------

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
LAYOUTS = st.sampled_from([None, 1, 2, "\t"])


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ids=st.lists(WORDS, min_size=1, max_size=5, unique=True),
    indent=LAYOUTS,
    mark=st.booleans(),
    ascii_only=st.booleans(),
    data=st.data(),
)
def test_what_is_added_and_removed_leaves_every_other_byte(
    ids: list[str],
    indent: int | str | None,
    mark: bool,
    ascii_only: bool,
    data: st.DataObject,
    tmp_path: Path,
) -> None:
    document = {
        "eval_set_id": "s\u00e9",
        "eval_cases": [{"eval_id": each, "conversation": [], f"x{each}": [1.50]} for each in ids],
    }
    text = ("\ufeff" if mark else "") + json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    path = tmp_path / "s.evalset.json"
    path.write_bytes(text.encode())
    new, gone = "".join(ids) + "new", data.draw(st.sampled_from(ids))
    source = open_eval_set(path)
    quick, slow = edit_of(source, text), JsonEdit(text, start=mark)
    for edit in (quick, slow):
        edit.remove_items(cases_of(edit, source), {ids.index(gone)})
    assert quick.text() == slow.text()
    add_cases(path, [case(new)])
    assert [*open_eval_set(path).ids()] == [*ids, new]
    remove_cases(path, [new])
    assert path.read_bytes().decode() == text


def test_a_large_set_is_not_read_word_by_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.evalset.json"
    create_set(path, cases=[case(f"c{number}") for number in range(300)])
    checks: list[int] = []
    read_members = JsonTree._read_members

    def counted(tree: JsonTree, node: JsonNode, path_tree: PathTree | None) -> None:
        checks.append(1)
        read_members(tree, node, path_tree)

    monkeypatch.setattr(JsonTree, "_read_members", counted)
    add_cases(path, [case("new")])
    remove_cases(path, ["new", "c7"])
    assert len(checks) == 2
    assert len(open_eval_set(path)) == 299
