"""`proctor eval-set`: sets are made, grow, are shown and shrink; google-adk's spellings do the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import proctor
from tests.cli.project import in_this_process

SCENARIOS = {"scenarios": [{"starting_prompt": "hello", "conversation_plan": "Say hello, then stop."}]}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scenarios.json").write_text(json.dumps(SCENARIOS))
    Path("session.json").write_text('{"app_name": "a", "user_id": "u", "state": {"x": 1}}')


def lines(*words: str) -> list[str]:
    done = in_this_process("eval-set", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def refused(*words: str) -> str:
    done = in_this_process("eval-set", *words)
    assert done.returncode == 2, done.stdout
    return done.stderr


@pytest.mark.parametrize("suffix", ["json", "jsonl", "yaml"])
def test_from_nothing_to_a_case_that_passes(suffix: str) -> None:
    file = f"trip.evalset.{suffix}"
    assert lines("create", file) == [f"{file}: a new eval set; `proctor eval-set add-case` puts cases in"]
    new = ["--ask", "Weather in Rome?", "--tool", "get_weather(city=Rome, days=2)", "--expect", "It rains."]
    assert lines("add-case", file, "--id", "rome", *new) == [f"{file}: 1 case added: rome"]
    [case] = proctor.load_eval_set(file).eval_cases
    [turn] = case.conversation or []
    assert [(call.name, call.args) for call in turn.tool_calls] == [
        ("get_weather", {"city": "Rome", "days": 2})
    ]
    assert in_this_process("eval", "replay", file).returncode == 0


def test_copies_from_other_sets() -> None:
    lines("add-case", "a.evalset.json", "--id", "one", "--ask", "1")
    lines("add-case", "a.evalset.json", "--id", "two", "--ask", "2", "--no-tools")
    assert lines("add-case", "b.evalset.yaml", "--from", "a.evalset.json:two") == [
        "b.evalset.yaml: 1 case added: two"
    ]
    assert lines("add-case", "c.evalset.json", "--from", "a.evalset.json") == [
        "c.evalset.json: 2 cases added: one, two"
    ]
    assert lines("list") == [
        "a.evalset.json  2 cases  a",
        "b.evalset.yaml  1 case  b",
        "c.evalset.json  2 cases  c",
    ]
    assert json.loads("\n".join(lines("list", "--json")))[1]["eval_set_id"] == "b"


def test_shown_and_removed() -> None:
    for name in ("one", "two"):
        lines("add-case", "a.evalset.json", "--id", name, "--ask", name, "--expect", "ok")
    assert lines("show", "a.evalset.json", "two")[-3:] == ["  - case: two", "    ask: two", "    expect: ok"]
    assert (
        json.loads("\n".join(lines("show", "a.evalset.json", "--json")))["eval_cases"][0]["eval_id"] == "one"
    )
    assert "add --yes" in refused("remove", "a.evalset.json", "one")
    assert lines("remove", "a.evalset.json", "one", "--yes") == ["a.evalset.json: 1 case removed: one"]
    assert [case.eval_id for case in proctor.load_eval_set("a.evalset.json").eval_cases] == ["two"]


def test_the_words_of_google_adk() -> None:
    Path("agent").mkdir()
    assert in_this_process("eval_set", "create", "agent", "trips").returncode == 0
    add = ["eval_set", "add_eval_case", "agent", "trips",
           "--scenarios_file", "scenarios.json", "--session_input_file", "session.json"]  # fmt: skip
    done = in_this_process(*add)
    assert (done.returncode, done.stdout) == (0, "agent/trips.evalset.json: 1 case added: 711845f3\n")
    again = in_this_process(*add)
    assert (again.returncode, again.stdout) == (0, "agent/trips.evalset.json: 0 cases added\n")
    assert "the set already has the case 711845f3" in again.stderr
    [case] = proctor.load_eval_set("agent/trips.evalset.json").eval_cases
    assert case.session_input is not None
    assert case.session_input.state == {"x": 1}


REFUSED = {
    "no id": (["add-case", "a.evalset.json", "--ask", "x"], "takes --id CASE and --message TEXT"),
    "a call that is none": (
        ["add-case", "a.evalset.json", "--id", "x", "--ask", "x", "--tool", "look(("],
        "case x:",
    ),
    "a state that is none": (
        ["add-case", "a.evalset.json", "--id", "x", "--ask", "x", "--state", "[1]"],
        "--initial-state takes a JSON object, got [1]",
    ),
    "both": (
        ["add-case", "a.evalset.json", "--id", "x", "--ask", "x", "--tool", "a()", "--no-tools"],
        "contradict each other",
    ),
    "not there": (["show", "no.evalset.json"], "no.evalset.json"),
    "an id with a slash": (["create", "agent", "../x"], "may have only letters"),
    "a set of an agent that is not there": (
        ["add-scenarios", "agent", "trips", "--scenarios-file", "scenarios.json"],
        "there is no such set; `proctor eval-set create agent trips` makes it",
    ),
    "a slip": (["creat", "x"], "Did you mean 'create'?"),
}


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_invalid_request_is_reported(words: list[str], message: str) -> None:
    assert message in refused(*words)
    assert not Path("a.evalset.json").exists()


@pytest.mark.parametrize("eval_id", ["a,b", "a:b"])
def test_an_id_that_could_not_be_named_is_refused(eval_id: str) -> None:
    for words in (
        ["eval-set", "add-case", "s.evalset.yaml", "--id", eval_id, "--ask", "hi"],
        ["record", "agent.py", "--into", "s.evalset.yaml", "--id", eval_id],
    ):
        done = in_this_process(*words)
        assert done.returncode == 2
        assert "of a new case" in done.stderr
    assert not Path("s.evalset.yaml").exists()
