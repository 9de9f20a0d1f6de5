"""The file of a set is read again while a run is under way: what changed in it is never run in place of what was checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor import evaluate_sync, load_run
from proctor.schema.results.run_result import Outcome, RunResult
from tests.engine.scripted import case, turn

CONFIG = {"criteria": {"response_match_score": 0.5}}
CASES = [case(f"c{number}", turn("hi", expect="hello")) for number in range(9)]


def run_while(path: Path, change: Callable[[], object], store: Path | None = None) -> RunResult:
    """A run in which the third call of the agent changes the file."""
    calls: list[str] = []

    def agent(text: str) -> str:
        calls.append(text)
        if len(calls) == 3:
            change()
        return "hello"

    return evaluate_sync(agent, str(path), config=CONFIG, concurrency=1, store=store)


@pytest.fixture(params=[".evalset.json", ".evalset.jsonl"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = tmp_path / f"s{request.param}"
    if request.param.endswith("l"):
        made.write_text("".join(json.dumps(one) + "\n" for one in CASES))
    else:
        made.write_text(json.dumps({"eval_set_id": "s", "eval_cases": CASES}))
    return made


def appended(path: Path) -> Callable[[], object]:
    def append() -> None:
        with path.open("a") as file:
            file.write(" ")

    return append


def test_run_stops_when_its_eval_set_file_is_overwritten(path: Path) -> None:
    result = run_while(path, appended(path))
    assert result.failure is not None
    assert (result.failure.where, result.exit_code, result.passed) == ("file", 3, False)
    assert "changed while it was being read" in result.failure.message
    assert [one.eval_id for one in result.cases] == ["c0", "c1", "c2"]
    assert all(one.outcome is Outcome.PASSED for one in result.cases)


def test_what_was_finished_before_is_in_the_store(path: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite3"
    run_while(path, appended(path), store)
    outcomes = [one.outcome for one in load_run("latest", store=store).cases]
    assert outcomes == [Outcome.PASSED] * 3 + [Outcome.NOT_RUN] * 6


def test_run_keeps_the_checked_eval_set_when_its_file_is_replaced(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text(path.read_text().replace("hello", "goodbye"))
    result = run_while(path, lambda: other.replace(path))
    assert (result.passed, len(result.cases)) == (True, 9)
