"""`proctor eval-set generate`: from an agent's description to scenarios that a person has read."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import proctor
from tests.cli.project import in_this_process

AGENT = """
from proctor import AgentInfo, Event

DETAILS = {"agent_details": {"shop": {
    "name": "shop",
    "instructions": "You sell shoes to {customer}.",
    "tool_declarations": [{"function_declarations": [{"name": "refund"}]}],
}}}

class Shop:
    def describe(self):
        return AgentInfo(name="shop", app_details=DETAILS)

    async def answer(self, message, session):
        yield Event.said("ok")

root_agent = Shop()

def silent(message):
    return "ok"
"""
WRITTEN = [
    {"starting_prompt": "Money back!", "conversation_plan": "Return order 17.", "tools": ["refund"]},
    {"starting_prompt": "Fly me", "conversation_plan": "To the moon.", "tools": ["fly"]},
    {"starting_prompt": "Do you have boots?", "conversation_plan": "Ask for size 45.", "tools": []},
]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    Path("pyproject.toml").write_text("")
    Path("shop").mkdir()
    Path("shop/agent.py").write_text(AGENT)
    Path("writer.json").write_text(json.dumps([{"when": "shoes", "say": {"scenarios": WRITTEN}}]))


def generate(*words: str, agent: str = "shop") -> tuple[int, str, str]:
    model = () if "--model" in words else ("--model", "scripted:writer.json")
    done = in_this_process("eval-set", "generate", agent, *model, *words)
    return done.returncode, done.stdout, done.stderr


def test_without_a_place_a_file_of_scenarios_is_printed() -> None:
    code, out, err = generate("--count", "2", "--persona", "NOVICE")
    assert code == 0, err
    Path("scenarios.json").write_text(out)
    added = in_this_process(
        "eval-set", "add-scenarios", "new.evalset.json", "--scenarios-file", "scenarios.json"
    )
    assert added.returncode == 0, added.stderr
    cases = proctor.load_eval_set("new.evalset.json").eval_cases
    scenarios = [one.conversation_scenario for one in cases if one.conversation_scenario]
    assert [one.starting_prompt for one in scenarios] == ["Money back!", "Do you have boots?"]
    assert {one.user_persona.id for one in scenarios if one.user_persona} == {"NOVICE"}
    assert "not taken: 'Fly me': it names the tool 'fly', which the agent does not have" in err
    assert "1 call," in err


@pytest.mark.parametrize("suffix", ["json", "yaml", "jsonl"])
def test_a_set_is_made_and_grows_and_has_nothing_twice(suffix: str) -> None:
    file = f"new.evalset.{suffix}"
    code, out, err = generate("--count", "2", "--out", file, "--yes")
    assert (code, out.splitlines()[-1].partition(":")[2]) == (0, " 2 cases added: 0510aeef, 38242998"), out
    assert "audit: 2 of 2 cases not audited: a scenario" in err
    before = Path(file).read_bytes()
    code, _, err = generate("--count", "1", "--out", file, "--yes")
    assert (code, Path(file).read_bytes()) == (3, before)
    assert "nearly the same as 'Money back!'" in err
    first = proctor.load_eval_set(file).eval_cases[0]
    assert first.session_input is not None
    assert (first.session_input.app_name, first.session_input.state) == ("shop", {"customer": ""})


def test_fewer_scenarios_than_requested_set_the_exit_code() -> None:
    code, _, err = generate("--count", "5")
    assert (code, "2 scenarios came" in err) == (1, True)


def test_a_dry_run_shows_and_writes_nothing() -> None:
    code, out, _ = generate("--count", "2", "--out", "new.evalset.json", "--dry-run")
    assert (code, Path("new.evalset.json").exists()) == (0, False)
    assert "start   Money back!" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--out", "new.evalset.json"], "add --yes", id="without a terminal"),
        pytest.param(["--model", "gemini-2.5-flash"], "GOOGLE_API_KEY", id="no key"),
        pytest.param(["--model", "scripted:none.json"], "cannot be read", id="no such script"),
        pytest.param(["--count", "0"], "--count", id="none are wanted"),
        pytest.param(["ID", "--out", "x.evalset.json", "--yes"], "give one of the two", id="two places"),
        pytest.param(["--persona", "CLOWN"], "CLOWN", id="no such persona"),
        pytest.param(
            ["--out", "notes.txt", "--yes"], "name the file NAME.evalset.json", id="no name of a set"
        ),
    ],
)
def test_error_is_reported_before_a_model_call(words: list[str], said: str) -> None:
    code, out, err = generate(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert "tokens" not in err


def test_agent_without_a_description_needs_guidance() -> None:
    code, _, err = generate(agent="shop/agent.py:silent")
    assert (code, "--guidance" in err) == (2, True)
    assert generate("--guidance", "It sells shoes.", "--count", "1", agent="shop/agent.py:silent")[0] == 0


def test_google_adks_spelling_writes_into_the_set_of_the_agent() -> None:
    config = {"count": 2, "model_name": "scripted:writer.json", "generation_instruction": "be nice"}
    Path("how.json").write_text(json.dumps(config))
    words = ("generate_eval_cases", "shop", "mine", "--user_simulation_config_file", "how.json")
    done = in_this_process("eval_set", *words)
    assert done.returncode == 0, done.stderr
    cases = proctor.load_eval_set("shop/mine.evalset.json").eval_cases
    assert [one.session_input.user_id for one in cases if one.session_input] == ["test_user_id"] * 2


def test_from_python() -> None:
    model = proctor.ScriptedModel({"scenarios": WRITTEN})
    found = proctor.generate_scenarios_sync("shop", count=2, model=model, guidance="Angry users")
    assert [one.starting_prompt for one in found.scenarios] == ["Money back!", "Do you have boots?"]
    with pytest.raises(proctor.SetupProblems, match="there is no option 'cuont'"):
        proctor.generate_scenarios_sync("shop", cuont=2, model=model)  # type: ignore[call-arg]  # what is tested


@pytest.mark.slow
@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("typed", "kept"),
    [("y\nn\n", ["Money back!"]), ("n\ny\n", ["Do you have boots?"]), ("q\n", []), ("a\n", ["Money back!", "Do you have boots?"])],
)  # fmt: skip
def test_terminal_shows_each_scenario_for_confirmation(typed: str, kept: list[str]) -> None:
    ours, theirs = pty.openpty()
    command = [
        sys.executable, "-m", "proctor", "eval-set", "generate", "shop", "--count", "2",
        "--model", "scripted:writer.json", "--out", "new.evalset.json",
    ]  # fmt: skip
    try:
        os.write(ours, typed.encode())
        done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, timeout=60, check=False)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 0, done.stderr
    file = Path("new.evalset.json")
    cases = proctor.load_eval_set(file).eval_cases if file.exists() else []
    assert [one.conversation_scenario.starting_prompt for one in cases if one.conversation_scenario] == kept
    assert "1 of 2" in done.stderr
