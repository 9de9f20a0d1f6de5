"""`proctor migrate`: old files into today's format."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proctor.cli.main import cli

TURNS = [
    {
        "query": "hello",
        "expected_tool_use": [{"tool_name": "look", "tool_input": {"at": "x"}}],
        "reference": "hi",
    }
]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.test.json").write_text(json.dumps(TURNS))


def migrate(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["migrate", *arguments])


def test_a_list_of_turns() -> None:
    result = migrate("old.test.json", "new.evalset.json")
    assert (result.exit_code, result.stdout) == (0, "new.evalset.json: 1 case from old.test.json\n")
    (found,) = json.loads(Path("new.evalset.json").read_text())["eval_cases"]
    assert found["conversation"][0]["intermediate_data"]["tool_uses"][0]["name"] == "look"
    assert CliRunner().invoke(cli, ["check", "new.evalset.json"]).exit_code == 0


@pytest.mark.parametrize("option", ["--initial-session", "--initial_session"])
def test_with_a_session(option: str) -> None:
    Path("session.json").write_text('{"app_name": "app", "user_id": "me", "state": {"n": 1}}')
    assert migrate("old.test.json", "new.json", option, "session.json").exit_code == 0
    (found,) = json.loads(Path("new.json").read_text())["eval_cases"]
    assert found["session_input"]["state"] == {"n": 1}


def test_nothing_is_overwritten_by_default() -> None:
    Path("new.json").write_text("mine")
    refused = migrate("old.test.json", "new.json")
    assert refused.exit_code == 2
    assert "error: new.json: new.json exists; name another file, or add --overwrite" in refused.stderr
    assert Path("new.json").read_text() == "mine"
    assert migrate("old.test.json", "new.json", "--force").exit_code == 0
    assert json.loads(Path("new.json").read_text())["eval_cases"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "old.test.json:1:"), ('{"name": "x"}', "old.test.json:1:1"), (None, "old.test.json")],
)
def test_what_cannot_be_migrated(text: str | None, message: str) -> None:
    if text is None:
        Path("old.test.json").unlink()
    else:
        Path("old.test.json").write_text(text)
    result = migrate("old.test.json", "new.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"error: {message}" in result.stderr
    assert not Path("new.json").exists()


def test_a_folder_that_is_not_there() -> None:
    result = migrate("old.test.json", "nowhere/new.json")
    assert result.exit_code == 2
    assert "nowhere/new.json" in result.stderr
