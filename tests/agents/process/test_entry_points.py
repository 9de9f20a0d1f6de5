"""`--isolate` and `cmd:` by every door: the command line, settings, resuming, recording, pytest."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import proctor
from proctor.agents.reference import read_reference
from proctor.cli.main import cli
from proctor.runs.setup.manifest import agent_manifest
from tests.agents.process.conftest import CRITERIA, eval_set

AGENT = """
import os
def agent(text):
    with open("pids.txt", "a") as file:
        print(os.getpid(), file=file)
    if os.path.exists("fail"):
        raise ConnectionError("away")
    return "ok"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_agent.py").write_text(AGENT)
    (tmp_path / "s.evalset.json").write_text(json.dumps(eval_set(["hi"], ["ho"])))
    (tmp_path / "test_config.json").write_text(json.dumps(CRITERIA))
    return tmp_path


def _ran_elsewhere(project: Path) -> bool:
    pids = (project / "pids.txt").read_text().split()
    (project / "pids.txt").unlink()
    return str(os.getpid()) not in pids


def _proctor(*arguments: str, text: str = "") -> Result:
    return CliRunner().invoke(cli, list(arguments), input=text)


@pytest.mark.slow
def test_the_command_line_isolates_where_it_is_asked_to(project: Path) -> None:
    for option, elsewhere in (([], False), (["--isolate"], True), (["--isolate-memory", "2GB"], True)):
        result = _proctor("eval", "my_agent.py:agent", "s.evalset.json", *option)
        assert result.exit_code == 0, result.output
        assert _ran_elsewhere(project) is elsewhere


@pytest.mark.slow
def test_settings_isolate(project: Path) -> None:
    (project / "proctor.toml").write_text('isolate = true\nisolate_memory = "2GB"\n')
    assert _proctor("eval", "my_agent.py:agent", "s.evalset.json").exit_code == 0
    assert _ran_elsewhere(project)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('isolate = "yes"', "'isolate' must be true or false"),
        ('isolate_memory = "much"', "'isolate_memory' must be a size"),
    ],
)
def test_settings_that_cannot_be_are_refused(text: str, message: str, project: Path) -> None:
    (project / "proctor.toml").write_text(text)
    result = _proctor("eval", "my_agent.py:agent", "s.evalset.json")
    assert (result.exit_code, message in result.stderr) == (2, True)


def test_a_size_that_is_none_is_refused(project: Path) -> None:
    result = _proctor("eval", "my_agent.py:agent", "s.evalset.json", "--isolate-memory", "much")
    assert result.exit_code == 2
    assert "expected a size of at least 64MB, such as 512MB or 2GB, got 'much'" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("again", [[], ["--isolate"]])
def test_resumed_run_is_isolated_as_before_or_as_requested(again: list[str], project: Path) -> None:
    (project / "fail").touch()
    first = [] if again else ["--isolate"]
    assert _proctor("eval", "my_agent.py:agent", "s.evalset.json", *first).exit_code == 3
    (project / "fail").unlink()
    (project / "pids.txt").unlink()
    result = _proctor("resume", "latest", "--retry-errors", *again)
    assert result.exit_code == 0, result.output
    assert _ran_elsewhere(project)


@pytest.mark.slow
def test_a_conversation_is_recorded_with_a_worker(project: Path) -> None:
    result = _proctor("record", "my_agent.py:agent", "--into", "new.evalset.json", "--isolate", text="hi\n")
    assert result.exit_code == 0, result.output
    assert _ran_elsewhere(project)
    (case,) = proctor.load_eval_set("new.evalset.json").eval_cases
    assert case.conversation is not None


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize("option", ["--proctor-isolate", "--proctor-isolate-memory=2GB"])
def test_pytest_isolates(option: str, project: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--proctor-agent",
        "my_agent.py:agent",
    ]
    done = subprocess.run([*command, option, "s.evalset.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    workers = (project / "pids.txt").read_text().split()
    direct = subprocess.run([*command, "s.evalset.json"], capture_output=True, text=True, check=False)
    assert direct.returncode == 0
    assert len(set((project / "pids.txt").read_text().split()) - set(workers)) == 1


# --- the file of a command ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("python bot.py", "bot.py"),
        ("python -u 'bot.py' --fast", "bot.py"),
        ("./bot.py", "bot.py"),
        (f"{sys.executable} -m bot", None),
        ("no-such-program", None),
        ("", None),
    ],
)
def test_the_file_that_a_command_runs_is_known(command: str, file: str | None, project: Path) -> None:
    (project / "bot.py").write_text("")
    assert read_reference(f"cmd:{command}").file == (None if file is None else project / file)


def test_a_command_whose_file_has_changed_is_another_agent(project: Path) -> None:
    (project / "bot.py").write_text("print(1)")
    before = agent_manifest("cmd:python bot.py", "bot").source_hash
    (project / "bot.py").write_text("print(2)")
    assert before is not None
    assert agent_manifest("cmd:python bot.py", "bot").source_hash != before


@pytest.mark.slow
def test_secret_in_a_command_is_not_stored_and_resume_takes_it_again(
    project: Path,
) -> None:
    secret = "canary of two words"
    (project / "bot.py").write_text("import sys\nfor line in sys.stdin: sys.exit(1)\n")
    agent = f"cmd:{sys.executable} bot.py --api-key '{secret}'"
    result = _proctor("eval", agent, "s.evalset.json", "--store", "sqlite:///runs.sqlite3")
    assert result.exit_code == 3
    kept = b"".join(file.read_bytes() for file in project.glob("runs.sqlite3*"))
    assert secret.encode() not in kept
    assert secret not in result.output
    again = _proctor("resume", "latest", "--retry-errors", "--store", "sqlite:///runs.sqlite3")
    assert (again.exit_code, "what is hidden there was not kept" in again.stderr) == (2, True)
    resumed = proctor.resume_sync("latest", store="runs.sqlite3", agent=agent, retry_errors=True)
    assert resumed.outcome is proctor.Outcome.ERROR
    assert not resumed.passed


@pytest.mark.parametrize(
    "agent",
    [
        pytest.param("cmd:python bot.py --api-key c4n4ry 'open", id="a quote that does not end"),
        pytest.param("cmd:no-such-program --api-key c4n4ry", id="no such program"),
        pytest.param("htp+sse:http://me:c4n4ry@127.0.0.1/", id="a prefix that there is not"),
    ],
)
def test_load_error_shows_no_secret(agent: str, project: Path) -> None:
    for command in (["eval", agent, "s.evalset.json"], ["agent", "check", agent]):
        result = _proctor(*command)
        assert result.exit_code == 2
        assert "c4n4ry" not in result.output + result.stderr
