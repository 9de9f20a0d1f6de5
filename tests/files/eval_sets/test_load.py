"""Eval sets of every generation and layout: the readable ones, their ids, and the messages about the rest."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import EvalFileError
from proctor.files.eval_sets.documents import DocumentKind
from proctor.files.eval_sets.source import load_eval_set, load_eval_set_text, open_eval_set
from tests.files.sample_sets import case, content, eval_set, turn


def read(document: Any, name: str = "folder/set.evalset.json", **options: Any) -> Any:
    return load_eval_set_text(json.dumps(document), name, **options)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def problems(document: Any, **options: Any) -> list[str]:
    """`line:column: field: message (hint)` of every problem, the document written with an indent of one."""
    text = document if isinstance(document, str) else json.dumps(document, indent=1)
    with pytest.raises(EvalFileError) as caught:
        load_eval_set_text(text, "f.json", **options)
    return [str(problem).removeprefix("f.json:").replace(" error:", "") for problem in caught.value.problems]


def camel(value: Any) -> Any:
    """The document with camelCase keys."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        "".join([first, *map(str.title, rest)]): camel(item)
        for key, item in value.items()
        for first, *rest in [key.split("_")]
    }


CALLS = {"tool_uses": [{"name": "t", "args": {"x": 1}}]}
FULL = eval_set(
    case("a", conversation=[turn("q", final_response=content("r", "model"), intermediate_data=CALLS)])
)
OLD_TURNS = [
    {"query": "q", "expected_tool_use": [{"tool_name": "t", "tool_input": {"x": 1}}], "reference": "r"}
]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(FULL, id="snake case"),
        pytest.param(camel(FULL), id="camel case at every level"),
        pytest.param({"id": "s", "eval_cases": [{**FULL["eval_cases"][0], "eval_id": "a"}]}, id="id for the set"),
        pytest.param({**FULL, "eval_cases": [{"id": "a", "conversation": FULL["eval_cases"][0]["conversation"]}]}, id="id for a case"),
        pytest.param(FULL["eval_cases"][0], id="a bare case"),
        pytest.param(FULL["eval_cases"], id="a list of cases"),
        pytest.param(json.dumps(FULL), id="a set inside a JSON string"),
        pytest.param([{"name": "a", "data": OLD_TURNS}], id="old list of cases"),
        pytest.param({"eval_cases": [{"eval_case_id": "a", "prompt": content("q"), "reference": {"response": content("r", "model")},
                                      "reference_trajectory": [{"tool_name": "t", "tool_input": {"x": 1}}]}]}, id="a data set with contents"),
        pytest.param({"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "prompt": "q", "reference": "r",
                                                          "reference_trajectory": [{"name": "t", "args": {"x": 1}}]}]}, id="a data set with texts"),
    ],
)  # fmt: skip
def test_every_layout_gives_the_same_set(document: Any) -> None:
    (only,) = read(document).eval_cases
    (invocation,) = only.conversation
    assert only.eval_id == "a"
    assert invocation.user_content.joined_text() == "q"
    assert invocation.final_response.joined_text() == "r"
    assert [(call.name, call.args) for call in invocation.tool_calls] == [("t", {"x": 1})]


@pytest.mark.parametrize(
    ("document", "kind", "set_id", "case_ids"),
    [
        pytest.param(FULL, DocumentKind.EVAL_SET, "s", ["a"], id="a set has its own id"),
        pytest.param({"eval_cases": [case("b")]}, DocumentKind.EVAL_SET, "set", ["b"], id="else the file's name is its id"),
        pytest.param(case("b"), DocumentKind.EVAL_CASE, "set", ["b"], id="bare case"),
        pytest.param(OLD_TURNS, DocumentKind.OLD_TURNS, "set", ["set"], id="a list of turns is one case"),
        pytest.param([{"name": "x", "data": OLD_TURNS}, {"name": "y", "data": []}], DocumentKind.OLD_CASES, "set", ["x", "y"], id="old cases"),
    ],
)  # fmt: skip
def test_ids_and_kinds(
    tmp_path: Path, document: Any, kind: DocumentKind, set_id: str, case_ids: list[str]
) -> None:
    path = tmp_path / "set.evalset.json"
    path.write_text(json.dumps(document))
    opened = open_eval_set(path)
    assert (opened.kind, opened.eval_set_id, list(opened.ids())) == (kind, set_id, case_ids)
    assert [one.eval_id for one in opened] == case_ids
    assert opened.content_hash == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_set_without_an_id_is_warned_about(tmp_path: Path) -> None:
    path = tmp_path / "set.evalset.json"
    path.write_text(json.dumps({"eval_cases": [case()]}))
    (warning,) = open_eval_set(path).warnings
    assert "`eval_set_id` is missing; 'set' is used" in warning.message


def test_old_turns_as_people_write_them() -> None:
    document = [
        {"query": "q", "expected_tool_use": [{"name": "t", "args": {}}, {"tool_name": "t", "tool_parameters": {"x": 1}}],
         "expected_intermediate_agent_responses": ["working", {"author": "sub", "text": "done"}]},
        {"query": "only this"},
    ]  # fmt: skip
    first, second = read(document).eval_cases[0].conversation
    assert [(call.name, call.args) for call in first.tool_calls] == [("t", {}), ("t", {"x": 1})]
    assert [(author, parts[0].text) for author, parts in first.intermediate_data.intermediate_responses] == [
        ("", "working"),
        ("sub", "done"),
    ]
    assert second.final_response is None
    assert second.intermediate_data is None


def test_other_keys_of_a_row_of_a_data_set_stay() -> None:
    row = {"eval_id": "a", "prompt": "q", "reference": "r", "reference_trajectory": [], "expected": ["x"]}
    (only,) = read({"eval_cases": [row]}).eval_cases
    assert only.model_extra == {"expected": ["x"]}


def test_row_without_a_known_column_is_refused() -> None:
    (problem,) = problems({"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "prompt": 3}]})
    assert "got neither" in problem


def test_result_file_is_not_a_set_for_any_reader(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    for more in ("", " # read whole"):
        path.write_text(json.dumps({**eval_set(), "eval_case_results": []}) + more)
        with pytest.raises(EvalFileError, match="this is an eval set result"):
            open_eval_set(path)


def test_unknown_keys_of_every_level_stay() -> None:
    document = eval_set(case("a", conversation=[turn(mood="good")], note={"n": None}), owner="me")
    read_set = read(document)
    assert read_set.model_extra == {"owner": "me"}
    assert read_set.eval_cases[0].model_extra == {"note": {"n": None}}
    assert read_set.eval_cases[0].conversation[0].model_extra == {"mood": "good"}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param(
            eval_set({"eval_id": "a", "conversation": [{"user_conten": {}}, {"user": "x"}]}, {"conversation": []}),
            ["7:5: eval_cases[0].conversation[0]: `user_content` is missing (is `user_conten` a misspelling of it?)",
             "10:5: eval_cases[0].conversation[1]: `user_content` is missing (there is `user`, which this format does not know; the user's turn is `\"user_content\": {\"parts\": [{\"text\": \"…\"}]}`)",
             "15:3: eval_cases[1]: `eval_id` is missing"],
            id="every problem of every case, with what was probably meant",
        ),
        pytest.param(camel(eval_set({"eval_id": "a", "conversation": [{"final_response": {}}, {}]}, {"conversation": []})),
            ["7:5: evalCases[0].conversation[0]: `userContent` is missing", "10:5: evalCases[0].conversation[1]: `userContent` is missing", "13:3: evalCases[1]: `eval_id` is missing"],
            id="in the file's own spelling"),
        pytest.param(eval_set({"eval_id": "a"}), ["4:3: eval_cases[0]: expected exactly one of `conversation` and `conversation_scenario`, got neither"], id="neither"),
        pytest.param(
            eval_set({"eval_id": "a", "data": []}),
            ["4:3: eval_cases[0]: expected exactly one of `conversation` and `conversation_scenario`, got neither (there is `data`, which a case of this format does not know)"],
            id="something else instead",
        ),
        pytest.param(
            eval_set({"eval_id": "a", "convrsation": []}),
            ["4:3: eval_cases[0]: expected exactly one of `conversation` and `conversation_scenario`, got neither (is `convrsation` meant to be `conversation`?)"],
            id="misspelt",
        ),
        pytest.param(
            eval_set(case(conversation_scenario={"starting_prompt": "a", "conversation_plan": "b"})),
            ["4:3: eval_cases[0]: expected exactly one of `conversation` and `conversation_scenario`, got both"], id="both",
        ),
        pytest.param({"eval_set_id": 3, "eval_cases": {}}, ["2:17: eval_set_id: expected text, got the number 3", "3:16: eval_cases: expected a list of cases"], id="the set's own keys"),
        pytest.param(
            camel(eval_set(case(conversation=[turn(intermediate_data={"tool_uses": [{"name": 3}], "intermediate_responses": [["a"]]})]))),
            ["19:17: evalCases[0].conversation[0].intermediateData.toolUses[0].name: expected text, got the number 3",
             "23:8: evalCases[0].conversation[0].intermediateData.intermediateResponses[0]: expected a pair [author, parts], got a list"],
            id="deep inside, in the file's own spelling",
        ),
        pytest.param([{"query": "q"}, {"reference": "r"}, 3], ["5:2: [1]: expected `query` in every turn (the user's message), but it is missing", "8:2: [2]: expected a turn (an object), got a number"], id="every turn of an old file"),
        pytest.param([{"name": "a", "data": [{"query": 1}]}, {"data": []}], ["6:14: [0].data[0].query: expected a text, got a number", "10:2: [1]: expected a case with `name` and `data`, but `name` is missing"], id="every case of an old set"),
        pytest.param(eval_set(case("x"), case("y"), case("x")), ["35:15: eval_cases[2].eval_id: the id 'x' is already used by the case at 5:15 (rename one; `proctor eval --allow-duplicate-ids` runs both)"], id="an id twice, both places"),
    ],
)  # fmt: skip
def test_all_problems_of_a_set_are_reported_with_their_locations(document: Any, expected: list[str]) -> None:
    assert problems(document) == expected


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"criteria": {"m": 1}}, "this is an eval config"),
        ({"eval_set_result_id": "x", "eval_set_id": "s"}, "this is an eval set result"),
        ({"scenarios": []}, "this is a conversation scenarios"),
        ({"app_name": "a", "user_id": "u"}, "this is a session input"),
        ({"eval_set_id": "s", "eval_case": []}, "is `eval_case` meant to be `eval_cases`?"),
        ({"eval_set_id": "s", "EvalCases": []}, "is `EvalCases` meant to be `eval_cases`?"),
        ({"test_cases": [{"input": "x", "expected": "y"}]}, "its `test_cases` have `input`, `expected`"),
        ([{"input": "x"}], "a list of objects with `input`"),
        ([1], "a list that starts with the number 1"),
        ('"text"', "the text “text”"),
        (None, "null"),
        ({}, "an empty object"),
        ({"eval_results_by_eval_id": {}}, "a report of trpc-agent"),
        ({"metrics": []}, "a config has `criteria`"),
        ({"starting_prompt": "a", "conversation_plan": "b"}, "one scenario"),
    ],
)
def test_file_that_is_not_a_set_is_refused_with_its_kind(document: Any, message: str) -> None:
    (problem,) = problems(document)
    assert problem.startswith("1:1: expected an eval set, but this is ")
    assert message in problem


def test_a_set_without_cases_reads_but_is_not_opened_to_be_run(tmp_path: Path) -> None:
    path = tmp_path / "new.evalset.json"
    path.write_text('{"eval_set_id": "new", "eval_cases": []}')
    assert load_eval_set(path).eval_cases == []
    assert len(open_eval_set(path, allow_empty=True)) == 0
    with pytest.raises(EvalFileError, match="no cases"):
        open_eval_set(path)


def test_an_empty_list_is_an_old_set_without_cases_but_no_test_file() -> None:
    assert read([]).eval_cases == []
    with pytest.raises(EvalFileError, match="expected at least one turn"):
        read([], "x.test.json")


def test_duplicate_ids_run_under_numbered_ids(tmp_path: Path) -> None:
    path = tmp_path / "set.evalset.json"
    path.write_text(json.dumps(eval_set(*map(case, ["x", "x", "x#2", "y", "x"])), indent=1))
    opened = open_eval_set(path, allow_duplicate_ids=True)
    assert list(opened.ids()) == ["x", "x#3", "x#2", "y", "x#4"]
    assert [one.eval_id for one in opened] == list(opened.ids())
    assert [warning.message.partition("; ")[2] for warning in opened.warnings] == [
        "it runs as 'x#3'",
        "it runs as 'x#4'",
    ]


def test_an_invocation_id_twice_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "set.evalset.json"
    path.write_text(
        json.dumps(
            eval_set(case(conversation=[turn(invocation_id="i"), turn(invocation_id="i"), turn(), turn()]))
        )
    )
    (warning,) = open_eval_set(path).warnings
    assert "the invocation id 'i' appears twice" in warning.message


def test_a_missing_file_is_refused_with_a_near_name(tmp_path: Path) -> None:
    (tmp_path / "weather.evalset.json").write_text("{}")
    with pytest.raises(EvalFileError, match=r"no such file.*did you mean .*/weather\.evalset\.json"):
        open_eval_set(tmp_path / "wether.evalset.json")
    with pytest.raises(EvalFileError, match=r"the folder .* does not exist"):
        open_eval_set(tmp_path / "nowhere" / "x.json")
    with pytest.raises(EvalFileError, match="directory"):
        open_eval_set(tmp_path)


def test_control_characters_of_a_file_do_not_reach_a_message() -> None:
    (problem,) = problems(
        json.dumps({"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": "\x1b[31m\u202e"}]})
    )
    assert problem.isprintable()


@pytest.mark.nightly
@pytest.mark.slow  # reads a large file
def test_a_set_of_many_keys_and_no_cases_is_refused_quickly(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text("{" + ",".join(f'"{i:x}":0' for i in range(1_000_000)) + "}")
    with pytest.raises(EvalFileError, match="expected an eval set"):
        open_eval_set(path)


@pytest.mark.parametrize(
    ("document", "places"),
    [
        pytest.param(
            eval_set(case("x"), case("x")), [("eval_cases[1].eval_id", 20, 15, "5:15")], id="snake case"
        ),
        pytest.param(
            camel(eval_set(case("x"), case("x"))), [("evalCases[1].evalId", 20, 14, "5:14")], id="camel case"
        ),
        pytest.param([{"name": "x", "data": []}] * 2, [("[1].name", 7, 11, "3:11")], id="old cases"),
    ],
)
def test_duplicate_ids_in_every_layout(document: Any, places: list[Any]) -> None:
    with pytest.raises(EvalFileError) as caught:
        load_eval_set_text(json.dumps(document, indent=1), "f.json")
    assert [
        (p.field, p.line, p.column, p.message.rpartition(" ")[2]) for p in caught.value.problems
    ] == places


def test_what_adk_rs_reads_is_read(shared: Path) -> None:
    vectors = json.loads((shared / "golden" / "sister" / "adk_rs_load.json").read_text(encoding="utf-8"))[
        "cases"
    ]
    accepted = [vector["document"] for vector in vectors if vector["accepted"]]
    assert len(accepted) == 11
    for document in accepted:
        assert read(document).eval_cases


def test_what_the_typescript_line_reads_is_read(shared: Path) -> None:
    vectors = json.loads((shared / "golden" / "sister" / "ts_runner.json").read_text(encoding="utf-8"))[
        "cases"
    ]
    assert len(vectors) == 33
    for vector in vectors:
        found = read(vector["evalSet"]).eval_cases
        assert [one.eval_id for one in found] == [one["evalId"] for one in vector["evalSet"]["evalCases"]]


def test_many_broken_cases_are_reported_in_one_pass_over_the_file() -> None:
    """Places are found in one pass for all problems, not in one pass for each."""
    broken = problems(eval_set(*({"eval_id": f"c{i}"} for i in range(1000))))
    assert len(broken) == 201
    assert broken[-1].endswith("this and 799 more cases have problems, too")


def test_duplicate_key_is_reported_when_a_set_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.evalset.json"
    case = (
        '{"eval_id": "a", "conversation": [], "final_session_state": {"k": 1},\n "final_session_state": {}}'
    )
    path.write_text('{"eval_set_id": "s", "eval_cases": [' + case + "]}", encoding="utf-8")
    assert [(found.line, "twice" in found.message) for found in open_eval_set(path).warnings] == [(2, True)]


FIRST, SECOND = json.dumps([case("first")]), json.dumps([case("second")])


def test_triple_is_not_a_pair() -> None:
    data = {"intermediate_responses": [["author", [], "more"]]}
    (problem,) = problems(eval_set(case(conversation=[turn(intermediate_data=data)])))
    assert problem.endswith("intermediate_responses[0]: expected a pair [author, parts], got a list")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f'{{"eval_set_id": "s", "eval_cases": {FIRST}, "eval_cases": {SECOND}}}', ["second"], id="cases and cases"),
        pytest.param(f'{{"eval_set_id": "s", "eval_cases": [], "eval_cases": {SECOND}}}', ["second"], id="none and cases"),
        pytest.param(f'{{"eval_set_id": "s", "eval_cases": {FIRST}, "eval_cases": []}}', [], id="cases and none"),
        pytest.param(f'{{"eval_set_id": "s", "eval_cases": null, "eval_cases": {SECOND}}}', ["second"], id="null and cases"),
    ],
)  # fmt: skip
def test_the_last_of_duplicate_cases_is_used_with_a_warning(
    tmp_path: Path, text: str, expected: list[str]
) -> None:
    path = write(tmp_path / "s.evalset.json", text)
    opened = open_eval_set(path, allow_empty=True)
    assert list(opened.ids()) == expected == [each.eval_id for each in load_eval_set(path).eval_cases]
    assert [found.message[:36] for found in opened.warnings] == ["the key “eval_cases” appears twice i"]


@pytest.mark.parametrize("first", ["eval_cases", "evalCases"])
@pytest.mark.parametrize("value", [FIRST, "[]", "null"], ids=["cases", "no cases", "null"])
def test_cases_in_both_spellings_are_refused(tmp_path: Path, first: str, value: str) -> None:
    """Whichever comes first, one of them would not be run."""
    second = {"eval_cases": "evalCases", "evalCases": "eval_cases"}[first]
    path = write(
        tmp_path / "s.evalset.json", f'{{"eval_set_id": "s", "{first}": {value}, "{second}": {SECOND}}}'
    )
    with pytest.raises(EvalFileError, match="expected eval_cases once, got it in both spellings"):
        load_eval_set(path)


def test_an_invalid_call_of_an_old_set_is_reported(tmp_path: Path) -> None:
    turn = {"query": "hello", "expected_tool_use": [{"tool_name": True, "tool_input": {}}]}
    path = tmp_path / "old.test.json"
    path.write_text(json.dumps([turn]), encoding="utf-8")
    with pytest.raises(EvalFileError, match="tool_name"):
        load_eval_set(path)
