"""Scoring, resuming and exporting read and write many cases with each statement of the store."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from proctor import evaluate_sync, export_run, rescore_sync, resume_sync
from proctor.schema.results.run_result import Outcome
from proctor.stores.open import open_store_url
from proctor.stores.sql import writer
from tests.stores.statements import executed_statements

CASES = 400
FIXED = 80
"""Statements that a command takes with any number of cases."""


def eval_set(cases: int) -> dict[str, object]:
    return {
        "eval_set_id": "echoes",
        "eval_cases": [
            {
                "eval_id": f"case_{number}",
                "conversation": [
                    {
                        "user_content": {"parts": [{"text": f"message {number}"}]},
                        "final_response": {"parts": [{"text": f"message {number}"}]},
                    }
                ],
            }
            for number in range(cases)
        ],
    }


def echo(message: str) -> str:
    return message


CONFIG = {"criteria": {"response_match_score": 0.5}}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def test_a_run_takes_fewer_statements_than_cases(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_PAUSES", (0.1,) * 10)  # a slow machine commits as few times
    statements = executed_statements(monkeypatch)
    evaluate_sync(echo, eval_set(96), config=CONFIG, store=store, concurrency=8)
    assert statements.count("COMMIT") <= FIXED / 10 + 96 / 9
    assert sum("INTO trials" in text for text in statements) <= 96 / 9


@pytest.mark.slow
def test_scoring_takes_few_statements(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate_sync(echo, eval_set(CASES), config=CONFIG, store=store)
    monkeypatch.setattr(writer, "_PAUSES_OF_SCORING", (0.3,) * 100)  # a slow machine commits as few times
    statements = executed_statements(monkeypatch)
    result = rescore_sync(store=store, config={"criteria": {"response_match_score": 0.9}})
    assert result.counts == {Outcome.PASSED: CASES}
    assert len(statements) <= FIXED + 0.1 * CASES
    assert sum("evidence" in text for text in statements) == CASES / 200


@pytest.mark.slow
def test_export_takes_few_statements(store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    evaluate_sync(echo, eval_set(CASES), config=CONFIG, store=store)
    statements = executed_statements(monkeypatch)
    with closing(open_store_url(str(store))) as opened:
        (path,) = export_run(opened.load(opened.find("latest")), "adk", tmp_path)
    cases = json.loads(path.read_text(encoding="utf-8"))["eval_case_results"]
    assert len(cases) == CASES
    expected = [case["eval_metric_result_per_invocation"][0]["expected_invocation"] for case in cases]
    assert expected[-1]["user_content"]["parts"][0]["text"] == f"message {CASES - 1}"
    assert len(statements) <= FIXED + 0.1 * CASES


class Stumbling:
    """Gives a wrong answer to one message, once."""

    def __init__(self, message: str) -> None:
        self.message = message

    def __call__(self, message: str) -> str:
        if message != self.message:
            return message
        self.message = ""
        return "not that"


@pytest.mark.slow
def test_resuming_takes_few_statements_and_no_evidence(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, cases = Stumbling(f"message {CASES - 2}"), eval_set(CASES)
    begun = evaluate_sync(agent, cases, config=CONFIG, store=store, fail_fast=True, concurrency=1)
    assert begun.counts == {Outcome.PASSED: CASES - 2, Outcome.FAILED: 1, Outcome.NOT_RUN: 1}
    statements = executed_statements(monkeypatch)
    result = resume_sync(store=store, agent=agent, eval_sets=cases)
    assert result.counts == {Outcome.PASSED: CASES - 1, Outcome.FAILED: 1}
    assert len(statements) <= FIXED + 0.1 * CASES
    read = [text for text in statements if text.startswith("SELECT") and "evidence" in text]
    assert [f"trials.position IN ({CASES - 1})" in text for text in read] == [True]
