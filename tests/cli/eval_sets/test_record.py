"""`proctor record`: a conversation becomes a case that the same agent passes."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import proctor
from proctor.cli.main import cli

AGENT = '''
import asyncio
from proctor import Event

seen = 0

def weather(message, state):
    """Remembers the city; `wrong` breaks it."""
    if message == "wrong":
        raise ValueError("no such day")
    if message == "in Rome":
        state_delta = {"city": "Rome"}
        return {"tool_calls": [{"name": "look", "args": {"city": "Rome"}, "response": {"sky": "blue"}}],
                "state_delta": state_delta, "text": "It is fine in Rome."}
    return f"You sent {message}, after {state.get('city', 'nothing')}."

async def streams(message):
    yield Event.said("Well, ", partial=True)
    yield Event.said("hello.", partial=True)
    yield Event.said("Well, hello.")

def hostile(message):
    return "\\x1b[31mred\\x1b]0;title\\x07 \\u202e"

async def slow(message):
    await asyncio.sleep(60)
    yield Event.said("late")

class Forgetful:
    """Keeps the conversation itself, by session."""

    async def answer(self, message, session):
        said = session.memory.setdefault("said", [])
        said.append(message.joined_text())
        yield Event.said(" / ".join(said))

forgetful = Forgetful()
'''


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text(AGENT)


def record(agent: str, *said: str, more: tuple[str, ...] = (), into: str = "x.evalset.yaml") -> Any:
    words = ["record", agent, "--into", into, "--id", "one", *more]
    return CliRunner().invoke(cli, words, input="".join(f"{line}\n" for line in said))


def texts(file: str = "x.evalset.yaml") -> list[tuple[str, str]]:
    [case] = proctor.load_eval_set(file).eval_cases
    return [
        (turn.user_content.joined_text(), turn.final_response.joined_text() if turn.final_response else "")
        for turn in case.conversation or ()
    ]


@pytest.mark.parametrize("into", ["x.evalset.yaml", "x.evalset.json", "x.evalset.jsonl"])
def test_what_was_recorded_passes(into: str) -> None:
    done = record("agent:weather", "hello", "in Rome", "thanks", more=("--final-state",), into=into)
    assert (done.exit_code, done.stdout.splitlines()) == (
        0,
        [
            "you> hello",
            "agent> You sent hello, after nothing.",
            "you> in Rome",
            "  look(city=Rome)",
            '  -> {"sky": "blue"}',
            "agent> It is fine in Rome.",
            "you> thanks",
            "agent> You sent thanks, after Rome.",
            f"{into}: case one of 3 turns added",
        ],
    )
    [case] = proctor.load_eval_set(into).eval_cases
    assert case.final_session_state == {"city": "Rome"}
    config = {"criteria": {"tool_trajectory_avg_score": 1, "exact_match": 1, "final_session_state": 1}}
    result = proctor.evaluate_sync("agent:weather", into, config=config)
    assert result.passed
    assert set(result.cases[0].metrics) >= set(config["criteria"])


def test_a_turn_is_taken_back_and_the_agent_forgets_it() -> None:
    done = record("agent:forgetful", "a", "b", "/undo", "c")
    assert done.exit_code == 0
    assert texts() == [("a", "a"), ("c", "a / c")]
    assert "the last turn is taken back; 1 before it, repeated in a new session" in done.stderr


def test_a_turn_that_fails_is_not_kept() -> None:
    done = record("agent:weather", "hello", "wrong", "/save", "never sent")
    assert (done.exit_code, texts()) == (0, [("hello", "You sent hello, after nothing.")])
    assert "ValueError: no such day; this turn is not kept" in done.stderr


def test_a_turn_has_its_time() -> None:
    done = record("agent:slow", "hello", more=("--timeout", "0.05"))
    assert "timed out" in done.stderr
    assert "nothing was written" in done.stderr
    assert not Path("x.evalset.yaml").exists()


@pytest.mark.parametrize("said", [(), ("/quit",), ("hello", "/quit"), ("/undo",), ("/what",)], ids=str)
def test_nothing_is_written_without_a_conversation_to_keep(said: tuple[str, ...]) -> None:
    done = record("agent:weather", *said)
    assert done.exit_code == 0
    assert "nothing was written" in done.stderr
    assert not Path("x.evalset.yaml").exists()


def test_pieces_are_shown_as_they_come_and_the_whole_once() -> None:
    assert record("agent:streams", "hi").stdout.splitlines()[:2] == ["you> hi", "Well, hello."]


def test_terminal_output_is_safe_and_the_file_is_complete() -> None:
    done = record("agent:hostile", "hi\x1b[2J")
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert texts()[0][1] == "\x1b[31mred\x1b]0;title\x07 \u202e"


def test_it_starts_in_a_session_of_ones_own() -> None:
    Path("session.json").write_text('{"app_name": "a", "user_id": "u", "state": {"city": "Oslo"}}')
    record("agent:weather", "hello", more=("--session-input-file", "session.json", "--final-state"))
    [case] = proctor.load_eval_set("x.evalset.yaml").eval_cases
    assert texts() == [("hello", "You sent hello, after Oslo.")]
    assert case.session_input is not None
    assert (case.session_input.state, case.final_session_state) == ({"city": "Oslo"}, {})


REFUSED = {
    "no agent": (["record", "--into", "x.evalset.yaml"], "no agent given"),
    "an agent that is not there": (["record", "nosuch", "--into", "x.evalset.yaml"], "nosuch"),
    "a name that is none": (["record", "agent:weather", "--into", "x.txt"], "name the file NAME"),
    "both": (
        ["record", "agent:weather", "--into", "x.evalset.yaml", "--from-session", "s.json"],
        "leave the agent out",
    ),
    "no session": (["record", "--into", "x.evalset.yaml", "--from-session", "agent.py"], "agent.py"),
}


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_invalid_request_is_reported_before_the_conversation(words: list[str], message: str) -> None:
    done = CliRunner().invoke(cli, words, input="hello\n")
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_case_that_is_there_is_not_talked_about_in_vain() -> None:
    record("agent:weather", "hello")
    done = record("agent:weather", "hello")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "x.evalset.yaml:3: the set already has a case one" in done.stderr


def test_an_agent_that_leaves_loses_its_turn_and_no_other() -> None:
    Path("agent.py").write_text(
        AGENT.replace(
            'if message == "wrong":',
            'if message == "leave":\n        raise SystemExit(3)\n    if message == "wrong":',
        )
    )
    done = record("agent:weather", "hello", "leave")
    assert (done.exit_code, texts()) == (0, [("hello", "You sent hello, after nothing.")])
    assert "this turn is not kept" in done.stderr


def test_a_message_that_no_file_can_keep_is_not_sent() -> None:
    done = record("agent:weather", "a\0b", "hello")
    assert (done.exit_code, texts()) == (0, [("hello", "You sent hello, after nothing.")])
    assert "it was not sent" in done.stderr


def test_set_that_cannot_grow_is_reported_before_the_conversation() -> None:
    Path("x.evalset.yaml").write_text("case: one bare case\nask: hi\nexpect: hello\n")
    done = record("agent:weather", "hello")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "this form is read-only" in done.stderr or "single case" in done.stderr


# --- sessions that google-adk kept -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_recorded_session_becomes_google_adks_case(shared: Path) -> None:
    vectors = json.loads((shared / "golden" / "events_to_invocations.json").read_text())["vectors"]
    tried = 0
    for vector in vectors:
        wanted = [
            (turn["user_content"]["parts"], (turn.get("final_response") or {}).get("parts"))
            for turn in vector["invocations"]
            if (turn.get("user_content") or {}).get("parts")
        ]
        if not wanted:
            continue
        Path("session.json").write_text(
            json.dumps({"id": "s", "appName": "a", "userId": "u", "events": vector["events"]})
        )
        Path("x.evalset.json").unlink(missing_ok=True)
        done = CliRunner().invoke(
            cli, ["record", "--from-session", "session.json", "--into", "x.evalset.json", "--id", "one"]
        )
        assert done.exit_code == 0, done.stderr
        [case] = proctor.load_eval_set("x.evalset.json").eval_cases
        made = case.conversation or []
        assert [turn.user_content.model_dump(exclude_none=True)["parts"] for turn in made] == [
            asked for asked, _ in wanted
        ]
        for turn, (_, parts) in zip(made, wanted, strict=True):
            text = "\n".join(p["text"] for p in parts or () if p.get("text") and not p.get("thought"))
            assert (turn.final_response.joined_text() if turn.final_response else "") == text
        tried += 1
    assert tried == 49


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "expected a session"),
        ('{"events": 1}', "expected a session"),
        ('{"events": []}', "has no message of a user"),
        ('{"events": [{"author": 1}]}', "session.json: events[0].author: this event cannot be read"),
        ('{"events": [null]}', "session.json: events[0]: expected an event, an object"),
        ('{"events": [{"author": "user"}, 1]}', "session.json: events[1]: expected an event, an object"),
        ("{", "session.json:1"),
    ],
)
def test_file_that_is_not_a_session_is_reported(text: str, message: str) -> None:
    Path("session.json").write_text(text)
    done = CliRunner().invoke(cli, ["record", "--from-session", "session.json", "--into", "x.evalset.json"])
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.slow
def test_at_a_terminal(tmp_path: Path) -> None:
    """A prompt, the commands once, and the end of the input keeps the conversation."""
    command = [
        sys.executable,
        "-m",
        "proctor",
        "record",
        "agent:weather",
        "--into",
        "x.evalset.yaml",
        "--id",
        "one",
    ]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = ""
    for prompt, typed in (("you> ", b"in Rome\n"), ("fine in Rome.\r\nyou> ", b"\x04"), ("added", b"")):
        while prompt not in shown:
            shown += os.read(ours, 4096).decode()
        os.write(ours, typed)
    assert process.wait() == 0
    os.close(ours)
    assert "/undo" in shown
    assert "you> " in shown
    assert "agent> It is fine in Rome." in shown
    assert texts() == [("in Rome", "It is fine in Rome.")]
