"""Paths of the user are relative to the folder in which the command began, for any change by the agent's code."""

from pathlib import Path

import pytest

import proctor
from tests.cli.project import case, in_this_process, make_project, write_set

ELSEWHERE = """import os
from pathlib import Path

os.chdir(Path(__file__).parent / "elsewhere")


def root_agent(message):
    return Path("answer.txt").read_text()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent whose code changes the folder when it is imported, and reads a file there; a set of that name there, too."""
    monkeypatch.chdir(make_project(tmp_path, case("hello", "hello", answer="hello")))
    (tmp_path / "test_config.json").write_text('{"criteria": {"response_match_score": 0.8}}')
    (tmp_path / "agent.py").write_text(ELSEWHERE)
    (tmp_path / "other.py").write_text(ELSEWHERE)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "answer.txt").write_text("hello")
    write_set(tmp_path / "elsewhere" / "cases.evalset.json", case("wrong", "wrong", answer="nothing like it"))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["agent.py", "cases.evalset.json"],
        ["agent.py", "cases.evalset.json:hello"],
        ["--agent", "agent.py", "--agent", "other.py", "--set", "cases.evalset.json"],
        ["agent.py", "cases.evalset.json", "--config", "test_config.json", "--store", "own.sqlite3"],
    ],
    ids=" ".join,
)
def test_an_agent_that_changes_the_folder_leaves_paths_as_they_are(project: Path, words: list[str]) -> None:
    done = in_this_process("eval", *words, "--report", "json=out.json")
    assert done.returncode == 0, done.stderr
    assert (project / "out.json").is_file()
    assert not (project / "elsewhere" / ".proctor").exists()


def test_it_is_so_in_python(project: Path) -> None:
    result = proctor.evaluate_sync("agent.py", "cases.evalset.json", config="test_config.json")
    assert [one.eval_id for one in result.cases] == ["hello"]
    assert result.passed


def test_after_an_error_the_folder_is_the_one_that_it_was(project: Path) -> None:
    with pytest.raises(proctor.SetupError, match=r"gone\.json"):
        proctor.evaluate_sync("agent.py", "gone.json")
    assert Path.cwd() == project
