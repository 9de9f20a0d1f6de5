"""Scoring and resuming read and write many cases with each statement of the store."""

from pathlib import Path

import pytest

from proctor import evaluate_sync, rescore_sync
from proctor.schema.results.run_result import Outcome
from proctor.stores.sqlite import writer
from tests.stores.statements import counted_statements

CASES = 400


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


def test_scoring_takes_few_statements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "runs.db"
    evaluate_sync(echo, eval_set(CASES), config=CONFIG, store=store)
    monkeypatch.setattr(writer, "_PAUSES_OF_SCORING", (0.3,) * 100)  # a slow machine commits as few times
    statements = counted_statements(monkeypatch)
    result = rescore_sync(store=store, config={"criteria": {"response_match_score": 0.9}})
    assert result.counts == {Outcome.PASSED: CASES}
    assert statements["INSERT"] <= 2 * CASES / 100 + 3
    assert statements.total() <= 0.1 * CASES + 60
