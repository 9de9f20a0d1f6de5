"""Messages of `proctor` to its parent program: the started run, or all errors."""

import json
from pathlib import Path
from typing import Any

from tests.cli.project import proctor

AGENT = """
import os

async def root_agent(message, session):
    yield os.environ.get("PROCTOR_TELL", "no listener")
"""
TURN = {
    "user_content": {"parts": [{"text": "hi"}]},
    "final_response": {"parts": [{"text": "no listener"}]},
}
CASE = {"eval_id": "one", "conversation": [TURN]}


def _messages(folder: Path, *words: str) -> tuple[int, list[dict[str, Any]]]:
    """Return the exit code and the messages."""
    (folder / "talker.py").write_text(AGENT)
    (folder / "set.json").write_text(json.dumps({"eval_set_id": "set", "eval_cases": [CASE]}))
    file = folder / "told.jsonl"
    ended = proctor(*words, cwd=folder, PROCTOR_TELL=str(file))
    lines = file.read_text().splitlines() if file.exists() else []
    return ended.returncode, [json.loads(line) for line in lines]


def test_started_run_is_reported_by_its_id(tmp_path: Path) -> None:
    code, told = _messages(tmp_path, "eval", "talker.py:root_agent", "set.json", "--num-runs=2")
    listed = proctor("runs", "--json", cwd=tmp_path)
    (run,) = json.loads(listed.stdout)["runs"]
    assert told == [{"run": run["run_id"], "trials": 2}]
    assert code == 0


def test_all_problems_are_reported_one_by_one(tmp_path: Path) -> None:
    code, told = _messages(tmp_path, "eval", "talkre.py", "missing.json", "--config=none.json")
    assert code == 2
    (only,) = told
    kinds = [problem["kind"] for problem in only["problems"]]
    assert kinds[0] == "AgentLoadError"
    assert any("missing.json" in problem["message"] for problem in only["problems"])


def test_a_file_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    place = "no/such/folder/told.jsonl"
    ended = proctor("eval", "nobody", cwd=tmp_path, PROCTOR_TELL=place)
    assert ended.returncode == 2
    assert "error: " in ended.stderr


def test_what_the_agent_starts_does_not_inherit_the_file(tmp_path: Path) -> None:
    _messages(tmp_path, "eval", "talker.py:root_agent", "set.json", "--report=json=out.json")
    assert "no listener" in (tmp_path / "out.json").read_text()
