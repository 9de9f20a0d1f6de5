"""Cases that assert nothing, through google-adk's service and with criteria that ask for another implementation's verdict."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.compat.adk.evaluation.eval_metrics import EvalMetric
from proctor.compat.adk.evaluation.eval_set import EvalSet
from proctor.compat.adk.evaluation.local_eval_service import LocalEvalService
from tests.compat.adk.test_local_eval_service import kept, run

NOTHING = "asserts nothing, so an agent that does nothing passes it"
ASKED = {"user_content": {"parts": [{"text": "hi"}]}}
BARE = {"eval_set_id": "s", "eval_cases": [{"eval_id": "bare", "conversation": [ASKED]}]}


def answers_dots(message: str) -> str:
    return "..."


CRITERIA = [{"metric_name": "tool_trajectory_avg_score", "threshold": 1.0}, {"metric_name": "response_match_score", "threshold": 0.8}]  # fmt: skip


@pytest.mark.parametrize("chosen", [CRITERIA[:1], CRITERIA[1:], CRITERIA], ids=["calls", "answer", "both"])
def test_the_evaluation_service_never_passes_it(chosen: list[dict[str, Any]]) -> None:
    metrics = [EvalMetric.model_validate(one) for one in chosen]
    service = LocalEvalService(answers_dots, kept(EvalSet.model_validate(BARE)))
    _, results = asyncio.run(run(service, "s", metrics))
    assert [one.final_eval_status.name for one in results] == ["NOT_EVALUATED"]


READINGS = {
    "adk-rs: no calls are expected and none made": ("adk-rs", "failed"),
    "adk-ts: nothing is expected in any turn": ("adk-ts", "error"),
}


@pytest.mark.parametrize(("reading", "outcome"), READINGS.values(), ids=READINGS)
def test_a_criterion_keeps_the_verdict_of_the_implementation_that_it_names(
    tmp_path: Path, reading: str, outcome: str
) -> None:
    file = tmp_path / "s.evalset.json"
    file.write_text(json.dumps(BARE))
    config = {"criteria": {"tool_trajectory_avg_score": {"threshold": 1.0, "reading": reading}}}
    done = proctor.evaluate_sync(answers_dots, file, config=config, store="memory:")
    assert done.cases[0].outcome.value == outcome
    assert any(NOTHING in one and "keeps the original's verdict" in one for one in done.warnings)
