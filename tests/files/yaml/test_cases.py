"""The YAML form for people: its meaning in the terms of the format, and its errors."""

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.errors import EvalFileError
from proctor.files.eval_sets.file_problems import check_file
from proctor.files.eval_sets.load import load_config, load_scenarios, load_session_input
from proctor.files.eval_sets.source import load_eval_set, open_document, open_eval_set
from proctor.files.text.problems import Problem
from proctor.files.yaml.cases import id_from, read_document
from proctor.schema.format.rubric import stable_rubric_id
from tests.files.sample_sets import content


def value(text: str, name: str = "folder/trips.evalset.yaml") -> Any:
    """A document in the words of the format."""
    return read_document(dedent(text).encode(), name).value


def case(text: str) -> dict[str, Any]:
    """The one case of a document, without its id."""
    [found] = value(text)["eval_cases"]
    return {key: item for key, item in found.items() if key != "eval_id"}


def turn(text: str) -> dict[str, Any]:
    """The one turn of the one case of a document."""
    [found] = case(text)["conversation"]
    return dict(found)


def problems(text: str) -> list[str]:
    """`line:column: field: message (hint)` of all that is wrong in a document."""
    with pytest.raises(EvalFileError) as caught:
        open_document(read_document(dedent(text).encode(), "f.yaml"))
    return [str(problem).removeprefix("f.yaml:").replace(" error:", "") for problem in caught.value.problems]


USER, MODEL = content("Hi."), content("Yes.", "model")


def test_a_case_in_ten_lines(tmp_path: Path) -> None:
    path = tmp_path / "bookings.evalset.yaml"
    path.write_text(
        dedent(
            """\
            - case: booking
              state: {units: metric}
              turns:
                - ask: Book a table for 2 at 7pm.
                  expect: Which restaurant?
                - ask: La Trattoria.
                  tools: ["book_table(name=La Trattoria, covers=2, time=19:00)"]
                  expect: Done!
              final_state: {table: {covers: 2}}
            """
        )
    )
    eval_set = load_eval_set(path)
    [one] = eval_set.eval_cases
    assert (eval_set.eval_set_id, one.eval_id, len(one.conversation or ())) == ("bookings", "booking", 2)
    assert one.session_input is not None
    assert one.session_input.state == {"units": "metric"}
    assert one.final_session_state == {"table": {"covers": 2}}
    assert one.conversation
    first, second = one.conversation
    assert first.intermediate_data is None
    [call] = second.tool_calls
    assert (call.name, call.args) == ("book_table", {"name": "La Trattoria", "covers": 2, "time": "19:00"})
    assert second.final_response is not None
    assert (second.final_response.role, second.final_response.joined_text()) == ("model", "Done!")


TURNS = [
    pytest.param("ask: Hi.", {"user_content": USER}, id="only what is asked"),
    pytest.param("ask: Hi.\nexpect: Yes.", {"user_content": USER, "final_response": MODEL}, id="an answer"),
    pytest.param("ask: 42", {"user_content": content("42")}, id="a number is text where text belongs"),
    pytest.param("ask: no", {"user_content": content("no")}, id="and so is no"),
    pytest.param("ask: 007", {"user_content": content("007")}, id="and so is 007"),
    pytest.param('ask: ""', {"user_content": content("")}, id="an empty text in quotes"),
    pytest.param("ask: |\n  a\n  b\n", {"user_content": content("a\nb\n")}, id="several lines"),
    pytest.param("ask: {parts: [{text: a}, {text: b}]}", {"user_content": {"parts": [{"text": "a"}, {"text": "b"}]}}, id="a message of parts"),
    pytest.param("ask: Hi.\ntools: []", {"user_content": USER, "intermediate_data": {"tool_uses": []}}, id="no calls expected"),
    pytest.param(
        "ask: Hi.\ntools: [f(x=a b), {name: g, id: '1'}, h: {y: [1]}, {name: k, args: null}]",
        {
            "user_content": USER,
            "intermediate_data": {
                "tool_uses": [
                    {"name": "f", "args": {"x": "a b"}},
                    {"name": "g", "id": "1"},
                    {"name": "h", "args": {"y": [1]}},
                    {"name": "k", "args": None},
                ]
            },
        },
        id="calls",
    ),
    pytest.param(
        "ask: Hi.\nintermediate_responses: [a, {author: b, text: c}, [d, [{text: e}]]]",
        {
            "user_content": USER,
            "intermediate_data": {
                "intermediate_responses": [
                    ["", [{"text": "a"}]], {"author": "b", "text": "c"}, ["d", [{"text": "e"}]],
                ]
            },
        },
        id="texts on the way",
    ),
    pytest.param(
        "ask: Hi.\ntools: [f()]\ntool_responses: [{name: f, response: {x: 1}}]",
        {
            "user_content": USER,
            "intermediate_data": {
                "tool_uses": [{"name": "f", "args": {}}],
                "tool_responses": [{"name": "f", "response": {"x": 1}}],
            },
        },
        id="responses of tools",
    ),
    pytest.param(
        "ask: Hi.\ninvocation_id: i\nduration: 1.5\nintermediateData: {invocation_events: [{author: a}]}",
        {"invocation_id": "i", "user_content": USER, "duration": 1.5, "intermediate_data": {"invocation_events": [{"author": "a"}]}},
        id="the format's own names",
    ),
    pytest.param(
        "turns:\n- user_content: {parts: [{text: Hi., mine: 1}], role: user}\n  extra: {mine: 2}",
        {"user_content": {"parts": [{"text": "Hi.", "mine": 1}], "role": "user"}, "mine": 2},
        id="keys of one's own",
    ),
    pytest.param(
        "turns:\n- ask: Hi.\n  rubrics: [Be kind., {id: r, text: 42, type: T}, {rubric_id: s, rubric_content: {}}]",
        {
            "user_content": USER,
            "rubrics": [
                {
                    "rubric_id": stable_rubric_id("Be kind."),
                    "rubric_content": {"text_property": "Be kind."},
                    "type": "FINAL_RESPONSE_QUALITY",
                },
                {"rubric_id": "r", "rubric_content": {"text_property": "42"}, "type": "T"},
                {"rubric_id": "s", "rubric_content": {}},
            ],
        },
        id="rubrics",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TURNS)
def test_meaning_of_a_turn(text: str, expected: dict[str, Any]) -> None:
    assert turn(text) == expected


CASES = [
    pytest.param("ask: Hi.\nstate: {a: 1}", {"session_input": {"app_name": "", "user_id": "", "state": {"a": 1}}}, id="state"),
    pytest.param(
        "ask: Hi.\napp: x\nuser: 7\nsession: s",
        {"session_input": {"app_name": "x", "user_id": "7", "session_id": "s"}},
        id="session",
    ),
    pytest.param("ask: Hi.\nfinal_state: {a: no}", {"final_session_state": {"a": "no"}}, id="final state"),
    pytest.param("ask: Hi.\nfinal_session_state: null", {"final_session_state": None}, id="no final state"),
    pytest.param(
        "ask: Hi.\nrubrics: [{criterion: Be kind., points: 2}, {criterion: Be brief., type: T}]",
        {
            "rubrics": [
                {"criterion": "Be kind.", "points": 2, "type": "FINAL_RESPONSE_QUALITY"},
                {"criterion": "Be brief.", "type": "T"},
            ]
        },
        id="weighted rubrics",
    ),
    pytest.param("ask: Hi.\nrubrics: null", {"rubrics": None}, id="no rubrics"),
    pytest.param("ask: Hi.\ntags: [a, 1]", {"tags": ["a", "1"]}, id="tags"),
    pytest.param("ask: Hi.\ntags: a", {"tags": ["a"]}, id="one tag"),
    pytest.param("ask: Hi.\nextra: {ask: 1, x: [y]}", {"ask": 1, "x": ["y"]}, id="keys of one's own"),
    pytest.param("ask: Hi.\ncreationTimestamp: 5", {"creation_timestamp": 5}, id="the format's own names"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_meaning_of_the_other_keys_of_a_case(text: str, expected: dict[str, Any]) -> None:
    assert case(text) == {"conversation": [{"user_content": USER}], **expected}


def test_a_scenario() -> None:
    found = case("start: Hi.\nplan: Ask.\npersona: NOVICE\nrubrics: [Be kind.]")
    assert found["conversation_scenario"] == {
        "starting_prompt": "Hi.",
        "conversation_plan": "Ask.",
        "user_persona": "NOVICE",
    }
    assert found["rubrics"][0]["rubric_content"] == {"text_property": "Be kind."}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("cases:\n- ask: Hi.\n", id="a set without an id"),
        pytest.param("eval_set: trips\ncases:\n- ask: Hi.\n", id="a set"),
        pytest.param("eval_set_id: trips\neval_cases:\n- ask: Hi.\n", id="the format's names for the set"),
        pytest.param("- ask: Hi.\n", id="a list of cases"),
        pytest.param("ask: Hi.\n", id="a bare case"),
        pytest.param("- case: hi\n  conversation:\n  - ask: Hi.\n", id="the format's names for the case"),
        pytest.param('{"cases": [{"turns": [{"ask": "Hi."}]}]}', id="in JSON's notation"),
        pytest.param(
            "eval_set_id: trips\neval_cases:\n- eval_id: hi\n  conversation:\n  - user_content: {parts: [{text: Hi.}], role: user}\n",
            id="the format itself",
        ),
    ],
)
def test_layouts_of_a_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "trips.evalset.yaml"
    path.write_text(text)
    opened = open_eval_set(path)
    assert (opened.eval_set_id, opened.ids(), opened.warnings) == ("trips", ["hi"], [])
    [one] = opened.eval_set().eval_cases
    assert one.conversation
    [first] = one.conversation
    assert first.user_content.joined_text() == "Hi."


def test_the_format_itself_in_yaml_keeps_what_it_does_not_know() -> None:
    text = "eval_set_id: s\neval_cases:\n- eval_id: a\n  mine: 1\n  conversation: []\n"
    assert value(text) == {
        "eval_set_id": "s",
        "eval_cases": [{"eval_id": "a", "mine": 1, "conversation": []}],
    }


def test_the_other_files_of_the_format_in_yaml(tmp_path: Path) -> None:
    config, scenarios, session = tmp_path / "c.yaml", tmp_path / "s.yaml", tmp_path / "i.yaml"
    config.write_text("criteria:\n  tool_trajectory_avg_score: {threshold: 1, match_type: IN_ORDER}\n")
    scenarios.write_text("scenarios:\n- {starting_prompt: a, conversation_plan: b}\n")
    session.write_text("app_name: a\nuser_id: b\nstate: {c: 1}\n")
    assert list(load_config(config)[0].criteria) == ["tool_trajectory_avg_score"]
    assert load_scenarios(scenarios).scenarios[0].starting_prompt == "a"
    assert load_session_input(session).state == {"c": 1}


def test_an_old_file_in_yaml(tmp_path: Path) -> None:
    path = tmp_path / "old.test.yaml"
    path.write_text("- query: Hi.\n  reference: Yes.\n")
    assert load_eval_set(path).eval_cases[0].eval_id == "old"


# --- ids ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "eval_id"),
    [
        ("What's the weather in Paris?", "whats_the_weather_in_paris"),
        ("  Two  words ", "two_words"),
        ("Wie wird das Wetter in Köln?", "wie_wird_das_wetter_in_köln"),
        ("天気は？", "天気は"),
        (
            "one two three four five six seven eight nine ten eleven",
            "one_two_three_four_five_six_seven_eight_nine_ten",
        ),
        ("a,b:c/d", "a_b_c_d"),
    ],
)
def test_ids_are_made_from_what_is_asked(text: str, eval_id: str) -> None:
    assert id_from(text) == eval_id


@pytest.mark.parametrize("text", ["", "?!", "😀", "x" * 60])
def test_a_text_without_short_words_has_an_id_all_the_same(text: str) -> None:
    assert id_from(text) == id_from(text)
    assert id_from(text).startswith("case_")
    assert id_from(text) != id_from(text + "!")


def test_ids_are_unique_and_do_not_take_those_that_are_stated() -> None:
    text = "- ask: a b\n- ask: A b!\n- case: a_b_2\n  ask: c\n- ask: a-b\n- start: a b\n  plan: x\n"
    ids = [case["eval_id"] for case in value(text)["eval_cases"]]
    assert ids == ["a_b", "a_b_3", "a_b_2", "a_b_4", "a_b_5"]


def test_other_cases_do_not_change_an_id() -> None:
    alone = value("- ask: Turn on the light.\n")["eval_cases"][0]["eval_id"]
    later = value("- ask: Hi.\n- ask: Turn on the light.\n")["eval_cases"][1]["eval_id"]
    assert alone == later == "turn_on_the_light"


# --- what is wrong -----------------------------------------------------------------------------------------------------


MISTAKES = [
    ("- ask: a\n  expct: b", "2:3: [0].expct: a case has no key “expct” (did you mean `expect`?)"),
    ("- ask: a\n  satrt: b", "2:3: [0].satrt: a case has no key “satrt” (did you mean `start`?)"),
    ("- ask: a\n  tool: []", "2:3: [0].tool: a case has no key “tool” (did you mean `tools`?)"),
    ("- ask: a\n  reference: b", "2:3: [0].reference: a case has no key “reference” (did you mean `expect`?)"),
    ("- ask: a\n  mine: b", "2:3: [0].mine: a case has no key “mine” (custom keys belong under `extra:`)"),
    ("- turns:\n  - asq: a\n    expect: b", "2:5: [0].turns[0].asq: a turn has no key “asq” (did you mean `ask`?)"),
    ("caes:\n- ask: a", "1:1: caes: an eval set has no key “caes” (did you mean `cases`?)"),
    ("eval_set: a\ntest_cases:\n- ask: a", "2:1: test_cases: an eval set has no key “test_cases” (did you mean `cases`?)"),
    ("eval_set: a", "1:1: `cases` is missing"),
    ("cases: {ask: a}", "1:8: cases: expected a list of cases, got an object"),
    ("cases: [a]", "1:9: cases[0]: expected a case, got the text “a”"),
    ("cases:", "1:1: cases: `cases:` has no value"),
    ("- ask: a\n  user_content: {}", "2:3: [0].user_content: `user_content` and `ask` are the same key"),
    ("- case: a\n  expect: b", "1:3: [0]: `ask` is missing"),
    ("- Ask: a", "1:3: [0].Ask: a case has no key “Ask” (did you mean `ask`?)"),
    ("- ask: a\n  rubrics: [~]", "2:13: eval_cases[0].rubrics[0]: expected an object, got null"),
    (
        "- ask: a\n  rubrics: [{rubric_id: 007, rubric_content: {}}]",
        "2:25: eval_cases[0].rubrics[0].rubric_id: YAML readers disagree",
    ),
    ("- case: a", "1:3: [0]: no user message (a case has `ask`, or `turns`, or `start` and `plan`)"),
    ("- ask: a\n  turns: []", "1:3: [0].ask: `turns` and `ask` exclude each other"),
    ("- ask: a\n  plan: b\n  start: c", "1:3: [0].ask: `start` and `ask` exclude each other"),
    ("- start: a", "1:3: [0]: `plan` is missing"),
    ("- plan: a", "1:3: [0]: `start` is missing"),
    ("- ask:", "1:3: [0].ask: `ask:` has no value"),
    ("- ask: a\n  tools:", "2:3: [0].tools: `tools:` has no value (`tools: []` asserts that no tool is called"),
    ("- ask: a\n  expect: ~", "2:3: [0].expect: `expect:` has no value"),
    ("- ask: [a]", "1:8: [0].ask: expected text, or an object with `parts`, got a list"),
    ("- ask: {text: a}", "1:8: [0].ask: expected text, or an object with `parts`, got an object"),
    ("- ask: a\n  tools: f()", "2:10: [0].tools: expected a list of tool calls, got the text “f()”"),
    ("- ask: a\n  tools: [f]", "2:12: [0].tools[0]: expected `(` after `f`"),
    ("- ask: a\n  tools: ['f(x=''a'', y)']", "2:23: [0].tools[0]: expected `=` after “y”"),
    ("- ask: a\n  tools:\n  - |\n    f(x=1,\n      y=)\n", "5:9: [0].tools[0]: no value after `y=`"),
    ("- ask: a\n  tools:\n  - f(a={b: 1})", "3:5: [0].tools[0]: “f(a={b” is not a tool's name (YAML splits texts at `: `"),
    ("- ask: a\n  tools:\n  - f(a=1 # b)", "3:10: [0].tools[0]: the `(` at character 2 is not closed (does a ` #` before it"),
    ("- ask: a\n  tools: [f: [1]]", "2:14: [0].tools[0].f: expected the arguments of `f` as an object, got a list"),
    ("- ask: a\n  tools: [{args: {}}]", "2:11: [0].tools[0]: the tool's `name` is missing"),
    ("- ask: a\n  tools: [{name: f, arg: {}}]", "2:21: [0].tools[0].arg: a tool call has no key “arg” (did you mean `args`?)"),
    ("- ask: a\n  tools: [[f]]", "2:11: [0].tools[0]: expected a tool call, got a list"),
    ("- ask: a\n  tools: [f()]\n  intermediate_data: {}", "3:22: [0].intermediate_data: `intermediate_data` and `tools` exclude each other"),
    ("- ask: a\n  state: 3", "2:10: [0].state: expected an object, got the text “3”"),
    ("- ask: a\n  state: {a: 007}", "2:14: eval_cases[0].session_input.state.a: YAML readers disagree about the value of “007”"),
    ("- ask: a\n  state: {}\n  session_input: {}", "3:18: [0].session_input: `session_input` and `state` exclude each other"),
    ("- ask: a\n  app: [x]", "2:8: [0].app: expected text, got a list"),
    ("- ask: a\n  tags: {x: y}", "2:9: [0].tags: expected a list of texts, got an object"),
    ("- ask: a\n  tags: [[x]]", "2:10: [0].tags: expected text, got a list"),
    ("- ask: a\n  rubrics: [{text: t}, {id: r, tex: t}]", "2:24: [0].rubrics[1]: `text` is missing (what must every answer contain or do?)"),
    ("- ask: a\n  rubrics: [{id: r, text: t, typ: x}]", "2:30: [0].rubrics[0].typ: a rubric has no key “typ” (did you mean `type`?)"),
    ("- ask: a\n  rubrics: Be kind.", "2:12: [0].rubrics: expected a list of rubrics"),
    ("- ask: a\n  extra: [x]", "2:10: [0].extra: expected an object, got a list"),
    ("- ask: a\n  extra: {evalId: x}", "2:11: [0].extra.evalId: `evalId` is a key of the format"),
    ("- {case: [x], ask: a}", "1:10: [0].case: expected text, got a list"),
    ("- turns: a", "1:10: [0].turns: expected a list of turns, got the text “a”"),
    ("- turns: [a]", "1:11: [0].turns[0]: expected a turn, got the text “a”"),
    ("ask: a\nexpct: b", "2:1: expct: a case has no key “expct”"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "problem"), MISTAKES, ids=lambda value: value[:40].replace("\n", "|"))
def test_what_is_wrong_and_where(text: str, problem: str) -> None:
    found = problems(text)
    assert found[0].startswith(problem)
    assert len(found) == 1


def test_all_problems_of_a_file_at_once() -> None:
    text = """\
        eval_set: a
        cases:
          - asq: a
          - ask: b
            tools: [f]
            statee: {}
          - ask: c
            rubrics: [{rubric_id: 1}]
          - ask: d
            state: {x: .inf}
            tags: {}
        """
    found = problems(text)
    assert [problem.partition(": ")[0] for problem in found] == [
        "3:5",
        "5:14",
        "6:5",
        "8:15",
        "8:27",
        "10:16",
        "11:11",
    ]
    assert "rubric_content" in found[3]


def test_a_mistake_in_the_format_s_own_words_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.evalset.yaml"
    path.write_text("- ask: a\n  duration: [1]\n  app_details: {agent_details: {x: {name: 1}}}\n")
    with pytest.raises(EvalFileError) as caught:
        open_eval_set(path)
    assert [(problem.line, problem.column) for problem in caught.value.problems] == [(2, 13), (3, 43)]


def test_duplicate_ids_name_both_places(tmp_path: Path) -> None:
    path = tmp_path / "a.evalset.yaml"
    path.write_text("- case: x\n  ask: a\n- case: x\n  ask: b\n")
    with pytest.raises(
        EvalFileError, match=r"a.evalset.yaml:3:9: .*the id 'x' is already used by the case at 1:9"
    ):
        open_eval_set(path)
    assert open_eval_set(path, allow_duplicate_ids=True).ids() == ["x", "x#2"]


def test_location_of_a_case(tmp_path: Path) -> None:
    path = tmp_path / "a.evalset.yaml"
    path.write_text("cases:\n\n  - case: x\n    ask: a\n  - ask: b\n")
    opened = open_eval_set(path, label="a.evalset.yaml")
    assert [opened.where(index) for index in range(2)] == ["a.evalset.yaml:3", "a.evalset.yaml:5"]
    assert opened.place("b") == (5, 5)


def test_check_finds_nothing_wrong_with_this_form(tmp_path: Path) -> None:
    path = tmp_path / "a.evalset.yaml"
    path.write_text("- ask: a\n  tags: [x]\n  tools: [f(a=1)]\n  extra: {mine: 1}\n")
    report = check_file(path)
    assert (report.readable, report.kind, report.cases, report.problems) == (True, "eval set", 1, [])


def test_document_that_is_not_a_set_is_reported_as_such(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    for text, message in {
        "42": "a document that is the number 42",
        "- 1": "a list that starts with",
        "a: {}": "an object with `a`",
    }.items():
        path.write_text(text)
        with pytest.raises(EvalFileError, match=message):
            open_eval_set(path)


def test_json_is_yaml(tmp_path: Path) -> None:
    document = {
        "eval_set_id": "s",
        "eval_cases": [{"eval_id": "a", "conversation": [{"user_content": content('é😀 / "')}], "x": [1, 1.0, 1e30, None, True]}],
    }  # fmt: skip
    for text in (json.dumps(document), json.dumps(document, ensure_ascii=False, indent="  ")):
        path = tmp_path / "s.yaml"
        path.write_text(text, encoding="utf-8")
        as_json = tmp_path / "s.json"
        as_json.write_text(text, encoding="utf-8")
        assert load_eval_set(path) == load_eval_set(as_json)


_PIECES = (
    "- ", "  ", "\n", "\n  ", ": ", "[", "]", "{", "}", "&a ", "*a", "!x ", "'", '"', "|\n", ">", " # ", ",", "null", "007", "\t", "\\",
    "ask", "tools", "turns", "f(a=1)", "case", "cases", "extra", "rubrics", "state", "start", "plan", "text", "parts", "eval_cases",
    "conversation", "user_content", "intermediate_data", "intermediate_responses", "é😀", "<<", "---\n",
)  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join))
def test_any_text_is_read_or_refused_with_its_locations(text: str) -> None:
    found: list[Problem] = []
    try:
        open_document(read_document(text.encode(), "f.yaml"), allow_empty=True)
    except EvalFileError as error:
        found = error.problems
        assert found
    lines = text.splitlines() or [""]
    assert all(1 <= problem.line <= len(lines) + 1 and problem.column >= 1 for problem in found)


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("[f(a=1, b=2), g()]", id="YAML splits at the comma"),
        pytest.param("[f(a=1,b=2), g()]", id="without a space"),
        pytest.param("[\n    f(a=1,\n      b=2),\n    g()]", id="over several lines"),
        pytest.param("['f(a=1, b=2)', g()]", id="in quotes"),
    ],
)
def test_calls_in_brackets_may_have_several_arguments(written: str) -> None:
    calls = first_calls(f"- ask: a\n  tools: {written}")
    assert calls == [("f", {"a": 1, "b": 2}), ("g", {})]


def test_a_comma_in_a_quoted_text_in_brackets_is_text() -> None:
    assert first_calls('- ask: a\n  tools: [say(text="x, y", n=3)]') == [("say", {"text": "x, y", "n": 3})]


def first_calls(text: str) -> list[tuple[str | None, dict[str, object] | None]]:
    document = read_document(text.encode(), "a.evalset.yaml")
    conversation = open_document(document).case(0).conversation or []
    return [(call.name, call.args) for call in conversation[0].tool_calls]
