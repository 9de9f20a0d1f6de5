"""Sets in JSON lines: the same cases as the JSON set of them; problems are reported line by line."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.errors import EvalFileError
from proctor.files.eval_sets import json_lines
from proctor.files.eval_sets.convert import convert
from proctor.files.eval_sets.file_problems import check_file
from proctor.files.eval_sets.json_lines import LineWalk, lines_in
from proctor.files.eval_sets.save import save_lines, save_model
from proctor.files.eval_sets.selectors import find_sets
from proctor.files.eval_sets.source import load_eval_set, load_eval_set_text, open_eval_set
from proctor.files.text import json_stream
from proctor.schema import EvalSet
from tests.files.eval_sets.test_stream_cases import InMemory
from tests.files.sample_sets import case, content, eval_set, turn

HEADER = '{"eval_set_id": "s", "name": "S"}'
A, B, C = (json.dumps(case(name)) for name in "abc")


def lines(*texts: str, end: str = "\n") -> str:
    return end.join(texts) + end


def written(tmp_path: Path, text: str | bytes, name: str = "f.evalset.jsonl") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(path: Path) -> list[str]:
    """The problems of a file, without its name; there is at least one."""
    with pytest.raises(EvalFileError) as caught:
        open_eval_set(path)
    return [str(problem).removeprefix(f"{path}:") for problem in caught.value.problems]


# --- what is read ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "set_id", "name", "ids"),
    [
        pytest.param(lines(HEADER, A, B), "s", "S", ["a", "b"], id="fields of the set, then cases"),
        pytest.param(lines(A, B), "f", None, ["a", "b"], id="without the fields the file's name is the id"),
        pytest.param(lines('{"name": "S"}', A), "f", "S", ["a"], id="fields without an id"),
        pytest.param(lines('{"evalSetId": "t"}', A), "t", None, ["a"], id="the other spelling"),
        pytest.param(lines('{"id": "t", "description": "d"}', A), "t", None, ["a"], id="the short spelling"),
        pytest.param(f"{HEADER}\n{A}\n{B}", "s", "S", ["a", "b"], id="a last line without its end"),
        pytest.param(lines(HEADER, A, B, end="\r\n"), "s", "S", ["a", "b"], id="CRLF"),
        pytest.param(f"\ufeff{lines(HEADER, A)}", "s", "S", ["a"], id="a byte-order mark"),
        pytest.param(f"\ufeff{lines(A)}", "f", None, ["a"], id="a byte-order mark before a case"),
        pytest.param(f"\n \t\n{HEADER}\n\r\n\n  {A}  \n\n{B}\n\n", "s", "S", ["a", "b"], id="blank lines and space"),
        pytest.param(lines(json.dumps({"eval_set_id": "t", **case("a")}), B), "f", None, ["a", "b"], id="a case that names its set is a case"),
        pytest.param(lines(HEADER, json.dumps(case("a", note="x\u2028\x85y"), ensure_ascii=False)), "s", "S", ["a"], id="other line ends inside a text"),
        pytest.param(lines(json.dumps({"evalId": "a", "conversation": [{"userContent": content("hi")}]})), "f", None, ["a"], id="camelCase"),
        pytest.param(lines('{"eval_case_id": "a", "prompt": "hi", "reference": "ho"}'), "f", None, ["a"], id="rows of a data set"),
        pytest.param(lines(f"// {B}", HEADER, f"# {C}", A), "s", "S", ["a"], id="lines that were commented out"),
    ],
)  # fmt: skip
def test_a_line_is_a_case(tmp_path: Path, text: str, set_id: str, name: str | None, ids: list[str]) -> None:
    opened = open_eval_set(written(tmp_path, text))
    assert (opened.eval_set_id, opened.name, opened.ids()) == (set_id, name, ids)
    assert [one.eval_id for one in opened] == ids
    assert load_eval_set(opened.label) == opened.eval_set()


def test_unknown_fields_are_kept(tmp_path: Path) -> None:
    path = written(tmp_path, lines('{"eval_set_id": "s", "owner": "me"}', json.dumps(case("a", mood=None))))
    assert load_eval_set(path).model_extra == {"owner": "me"}
    convert(path, tmp_path / "again.jsonl")
    assert load_eval_set(tmp_path / "again.jsonl") == load_eval_set(path)
    assert '"mood":null' in (tmp_path / "again.jsonl").read_text()


def test_every_case_knows_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, f"\ufeff\r\n{HEADER}\r\n\r\n  {A}\r\n{B}")
    opened = open_eval_set(path)
    assert opened.where(1) == f"{path}:5"
    assert opened.where(0) == f"{path}:4"
    assert opened.place("a") == (4, 3)


@pytest.mark.parametrize("name", ["f.jsonl", "F.EVALSET.JSONL", "f.test.jsonl"])
def test_suffix_marks_a_file_of_lines(tmp_path: Path, name: str) -> None:
    opened = open_eval_set(written(tmp_path, lines(A, B), name))
    assert (opened.eval_set_id.lower(), len(opened)) == ("f", 2)


def test_a_folder_is_searched_for_them_by_name(tmp_path: Path) -> None:
    for name in ("b.evalset.jsonl", "a.test.jsonl", "data.jsonl", ".hidden.evalset.jsonl"):
        written(tmp_path, lines(A), name)
    assert [one.path.name for one in find_sets([str(tmp_path)])] == ["a.test.jsonl", "b.evalset.jsonl"]
    assert [one.path.name for one in find_sets([f"{tmp_path}/data.jsonl:a"])] == ["data.jsonl"]
    assert [one.path.name for one in find_sets(["b"], agent_folder=tmp_path)] == ["b.evalset.jsonl"]


CASES = st.lists(
    st.builds(
        lambda text, more: {"conversation": [turn(text)], **more},
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20),
        st.dictionaries(st.sampled_from(["note", "tags", "x"]), st.text("aé\u2028\n{}", max_size=9) | st.none() | st.lists(st.integers())),
    ),
    max_size=8,
)  # fmt: skip


@pytest.mark.slow
@given(
    CASES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans(), st.sampled_from([4 << 20, 7, 90])
)
def test_the_same_cases_as_the_json_set_of_them(
    tmp_path_factory: pytest.TempPathFactory,
    cases: list[dict[str, Any]],
    end: str,
    ends: bool,
    plain: bool,
    chunk: int,
) -> None:
    cases = [{"eval_id": f"c{index}", **one} for index, one in enumerate(cases)]
    texts = [HEADER, *(json.dumps(one, ensure_ascii=plain) for one in cases)]
    text = end.join(texts) + (end if ends else "")
    path = tmp_path_factory.getbasetemp() / "same.jsonl"
    path.write_bytes(text.encode("utf-8"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_lines, "CHUNK", chunk)
        patch.setattr(json_stream, "CHUNK", chunk)
        found = load_eval_set(path)
    assert found == load_eval_set_text(json.dumps({"eval_set_id": "s", "name": "S", "eval_cases": cases}))


# --- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        pytest.param(f"{HEADER}\n{A}\n{B[:30]}", ["3:1: error: the last line is incomplete (the file was cut off when it was written or copied: complete the line, or remove it)"], id="a torn last line"),
        pytest.param(f"{A}{B}", [f"1:{len(A) + 1}: error: text after the end of the document: got “{{” (a line contains one case and nothing else)"], id="two cases in the last line"),
        pytest.param(f"{HEADER}\n{A}\n  {B[:3]}", ["3:3: error: the last line is incomplete (the file was cut off when it was written or copied: complete the line, or remove it)"], id="torn inside a key"),
        pytest.param(f"{A}\n{B}\n".encode()[:-3] + "é".encode()[:1], ["2:1: error: the last line is incomplete (the file was cut off when it was written or copied: complete the line, or remove it)"], id="torn inside a character"),
        pytest.param(lines(HEADER, A[:-1], B), ["2:97: error: conversation: the text ends inside the `{` opened at 2:1 (`}` is missing; was the file cut off?)"], id="torn in the middle of the file"),
        pytest.param(json.dumps(eval_set(), indent=1), ["1:1: error: the line is incomplete; in JSON lines each case is one line (is this one JSON document over several lines? Then name it .json)"], id="a JSON document"),
        pytest.param(json.dumps(eval_set()), ["1:1: error: `eval_cases` is not allowed here: in JSON lines each case is a line (name a file that is one JSON document .json)"], id="a JSON document on one line"),
        pytest.param(f"[{A}, {B}]", ["1:1: error: expected a case, or the header of the set, but this line is a list of objects with `eval_id`, `conversation` (these are neither turns of the old format (`query`) nor its cases (`name` and `data`), but another tool's layout)"], id="a list"),
        pytest.param(lines('{"id": "a", "conversatoin": []}', B), ["1:1: error: expected a case, or the header of the set, but this line is an object with `id`, `conversatoin` (is `conversatoin` meant to be `conversation`?)"], id="a case whose keys are slips is not taken for the fields of the set"),
        pytest.param(lines('{"a": 1}', '{"a": 2}'), ["1:1: error: expected a case, or the header of the set, but this line is an object with `a` (an eval set has `eval_set_id` and `eval_cases`; a config has `criteria`)"], id="something else"),
        pytest.param(lines(HEADER, A, HEADER, B), ["3:1: error: this line has the fields of a set, not of a case (the header is the first line; were two files concatenated?)"], id="two files concatenated"),
        pytest.param(lines(A, f" {B},"), ["2:99: error: text after the end of the document: got “,” (a line contains one case and nothing else)"], id="a comma behind a case"),
        pytest.param(lines(HEADER, A, A), ["3:13: error: eval_id: the id 'a' is already used by the case at 2:13 (rename one; `proctor eval --allow-duplicate-ids` runs both)"], id="one id twice"),
        pytest.param(lines(HEADER), ["1:1: error: eval_cases: no cases (a set to run needs at least one)"], id="no cases"),
        pytest.param("", ["1:1: error: eval_cases: no cases (a set to run needs at least one)"], id="nothing"),
        pytest.param(lines(HEADER, "3", A), ["2:1: error: expected an object, got the number 3"], id="a line that is not an object"),
        pytest.param(lines('{"eval_set_id": 3}', A), ["1:17: error: eval_set_id: expected text, got the number 3"], id="a field of the set"),
        pytest.param(lines(A).encode("utf-16"), ["1:1: error: the file is UTF-16, at byte offset 0 (save the file as UTF-8)"], id="UTF-16"),
        pytest.param(f"{A}\n".encode() + B.encode().replace(b"hi", b"h\xe4") + b"\n", ["2:74: error: byte 0xE4 is not UTF-8, at byte offset 171 (save the file as UTF-8)"], id="Latin-1"),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused_in_one_message(
    tmp_path: Path, text: str | bytes, messages: list[str]
) -> None:
    assert refused(written(tmp_path, text)) == messages


def test_every_broken_line_and_every_broken_case_is_reported_at_once(tmp_path: Path) -> None:
    no_turns = json.dumps({"eval_id": "x", "conversation": [{}]})
    text = lines(HEADER, '{"eval_id": "a" "b"}', A, no_turns, '{"eval_id": NaN}', '{"a": [1,]}', "nonsense")
    assert refused(written(tmp_path, text)) == [
        '2:17: error: eval_id: expected `,` or `}` in this object, got “b” (is a comma missing before it, or a quote not escaped as `\\"`?)',
        "4:35: error: conversation[0]: `user_content` is missing",
        "5:13: error: eval_id: JSON has no number NaN (write a finite number, or null)",
        "6:9: error: a trailing comma is not JSON (in JSON lines, a case is plain JSON)",
        "7:1: error: expected a value, got “nonsense” (text goes in double quotes)",
    ]


def test_number_of_listed_problems_is_limited(tmp_path: Path) -> None:
    problems = refused(written(tmp_path, lines(HEADER, *['{"eval_id" 3}'] * 900)))
    assert len(problems) == 201
    assert problems[0] == "1:1: error: 700 more lines cannot be read"


@pytest.mark.parametrize("bad", ['"\\ud800"', '"\\u0000"', "1e999", "NaN", "9" * 5000])
@pytest.mark.parametrize("chunk", [4 << 20, 64])
def test_what_no_file_can_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: str, chunk: int
) -> None:
    monkeypatch.setattr(json_lines, "CHUNK", chunk)
    (problem,) = refused(written(tmp_path, lines(HEADER, A, C[:-1] + f', "note": {bad}}}', B)))
    assert problem.startswith("3:")


def test_a_line_longer_than_any_case_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "CHUNK", 100)
    monkeypatch.setattr(json_lines, "LARGEST_ELEMENT", 1 << 20)
    path = written(tmp_path, lines(HEADER, json.dumps(case("a", note="x" * 900_000)), B))
    assert open_eval_set(path).ids() == ["a", "b"]
    path = written(tmp_path, lines(HEADER, A, json.dumps(case("b", note="x" * 7_000_000)), B))
    assert refused(path) == ["3:1: error: the line is longer than 1 MiB (split the file or the case)"]


def test_duplicate_ids_are_distinguished_where_they_are_allowed(tmp_path: Path) -> None:
    opened = open_eval_set(written(tmp_path, lines(A, A)), allow_duplicate_ids=True)
    assert [one.eval_id for one in opened] == ["a", "a#2"]
    assert "it runs as 'a#2'" in str(opened.warnings[0])


# --- check -------------------------------------------------------------------------------------------------------------


def test_check_reports_warnings(tmp_path: Path) -> None:
    slip = json.dumps(case("a", conversation=[turn(final_respons=content("x"))]))
    header = '{"eval_set_id": "s", "evalSetId2": 1, "creationTimestamp": 0}'
    report = check_file(written(tmp_path, lines("# mine", header, slip, B[:-1] + ', "eval_id": "b"}')))
    assert (report.kind, report.cases, report.readable) == ("eval set (a case a line)", 2, True)
    assert [str(problem).removeprefix(f"{report.file}:") for problem in report.problems] == [
        "1:1: warning: comments are not JSON (only Proctor reads this file)",
        "2:22: warning: evalSetId2: unknown key; nothing reads it (did you mean `eval_set_id`?)",
        "2:39: warning: creationTimestamp: ADK reads only `creation_timestamp` here and drops this",
        "3:97: error: conversation[0].final_respons: unknown key; ADK refuses this file (did you mean `final_response`?)",
        "4:99: error: the key “eval_id” appears twice in one object; the first is at 4:2 (the later value is used; remove one of them)",
    ]


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("x.jsonl", lines("// c", A), "eval set (a case a line)"),
        ("x.jsonl", lines(HEADER, "}"), "eval set (a case a line)"),
        ("x.jsonl", lines('{"a": 1}'), "unknown document"),
        ("x.jsonl", "{\n}", "unknown document"),
        ("x.jsonl", "", "eval set (a case a line)"),
        ("x.evalset.jsonl", lines('{"a": 1}'), "eval set (a case a line)"),
    ],
)
def test_check_distinguishes_a_set_from_other_lines(tmp_path: Path, name: str, text: str, kind: str) -> None:
    assert check_file(written(tmp_path, text, name)).kind == kind


def test_check_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    (problem,) = check_file(tmp_path / "no.evalset.jsonl").problems
    assert "no such file" in problem.message


def test_lines_in_a_file_named_json_are_recognised(tmp_path: Path) -> None:
    (problem,) = check_file(written(tmp_path, lines(A, B), "f.json")).problems
    assert "JSON lines" in problem.hint


# --- writing -----------------------------------------------------------------------------------------------------------


def test_what_is_written_is_a_line_a_case_in_the_words_of_the_format(tmp_path: Path) -> None:
    given = EvalSet.model_validate(eval_set(case("a", note="é\u2028\x85"), case("b"), description="d"))
    save_lines(given, given.eval_cases, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes().decode() == (
        '{"eval_set_id":"s","description":"d"}\n'
        '{"eval_id":"a","conversation":[{"user_content":{"parts":[{"text":"hi"}],"role":"user"}}],"note":"é\\u2028\\u0085"}\n'
        '{"eval_id":"b","conversation":[{"user_content":{"parts":[{"text":"hi"}],"role":"user"}}]}\n'
    )
    assert load_eval_set(tmp_path / "out.jsonl") == given


@pytest.mark.slow
@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12), max_size=5, unique=True
    )
)
def test_nothing_is_lost_on_the_way(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    given = EvalSet.model_validate(
        {"eval_set_id": "s", "eval_cases": [case(f"c{i}", note=text) for i, text in enumerate(texts)]}
    )
    folder = tmp_path_factory.getbasetemp()
    save_lines(given, iter(given.eval_cases), folder / "a.jsonl")
    convert(folder / "a.jsonl", folder / "b.json")
    convert(folder / "b.json", folder / "c.jsonl")
    assert (folder / "a.jsonl").read_bytes() == (folder / "c.jsonl").read_bytes()
    assert load_eval_set(folder / "b.json") == load_eval_set(folder / "c.jsonl") == given


def test_lost_comments_are_reported(tmp_path: Path) -> None:
    assert convert(written(tmp_path, lines("# why", A)), tmp_path / "b.json").comments_lost
    assert not convert(written(tmp_path, lines(A)), tmp_path / "b.json").comments_lost


def test_a_set_can_be_converted_onto_itself(tmp_path: Path) -> None:
    path = written(tmp_path, lines(f"  {A}", "", B))
    convert(path, path)
    assert load_eval_set(path).eval_set_id == "f"
    assert len(path.read_text().splitlines()) == 3


def test_one_document_is_not_written_into_a_file_of_lines(tmp_path: Path) -> None:
    with pytest.raises(EvalFileError, match=r"name a \.json file"):
        save_model(EvalSet(eval_set_id="s", eval_cases=[]), tmp_path / "s.jsonl")


# --- size --------------------------------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.slow  # reads a large file
def test_lines_are_read_in_pieces() -> None:
    class Watched(InMemory):
        most = 0

        def read(self, start: int, end: int) -> bytes:
            self.most = max(self.most, end - start)
            return super().read(start, end)

    data = Watched(lines(*[A] * 200_000).encode())
    assert data.size > 2 * json_stream.CHUNK
    assert [line.number for line in lines_in(data)] == list(range(1, 200_001))
    assert data.most <= json_stream.CHUNK
    assert sum(1 for _ in LineWalk(data)) == 200_000


def test_a_file_that_changes_between_two_reads_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path, lines(A, B))
    opened = open_eval_set(path)
    with path.open("a") as file:
        file.write(C)
    with pytest.raises(EvalFileError, match="changed while it was being read"):
        opened.case(0)
