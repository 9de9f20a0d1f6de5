"""Which judges there are and what is known of them, over runs that a scripted judge gave verdicts in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import proctor
from proctor.runs.storage.open import open_store
from proctor.schema.analysis.calibration import Agreement, Calibration, Figure
from proctor.schema.results.score import JudgedBy
from proctor.web.pages.analysis.known_judges import known_judges
from proctor.web.server.context import ServerContext

METRIC = "safety_v1"
ANSWER = '{"score": 1, "reasoning": "fine"}'


def judge_one(text: str) -> str:
    """Find everything right."""
    return ANSWER


def judge_two(text: str) -> str:
    """Find everything right, too: another judge all the same."""
    return ANSWER


def _run(context: ServerContext, judge: Any) -> JudgedBy:
    case = {
        "eval_id": "greets",
        "conversation": [
            {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hi"}]}}
        ],
    }
    config = {"criteria": {"rubric_based_final_response_quality_v1": {"threshold": 0.5, "rubrics": [RUBRIC]}}}
    result = proctor.evaluate_sync(
        lambda text: text,
        {"eval_set_id": "greetings", "eval_cases": [case]},
        config=config,
        judge=judge,
        store=context.store_url,
    )
    return result.judged_by[0]


RUBRIC = {"rubric_id": "polite", "rubric_content": {"text_property": "The answer is polite."}}


KAPPA = Figure(value=0.74, low=0.3, high=0.97)


def _calibrated(by: JudgedBy, *, at: float = 1.0, kappa: Figure = KAPPA, **changed: Any) -> Calibration:
    agreement = Agreement(both_pass=6, both_fail=3, judge_passes=1, kappa=kappa)
    kept = {"metric": by.metric, "model": by.model, "prompt": by.prompt, **changed}
    return Calibration(**kept, created_at=at, run_id="r", agreement=agreement)


def _keep(context: ServerContext, calibrations: Sequence[Calibration]) -> None:
    store = open_store(context.store_url)
    for one in calibrations:
        store.calibrate(one)
    store.close()


def test_there_are_none_before_anything_ran(client: TestClient) -> None:
    assert client.get("/api/judges").json() == {"items": [], "runs": 0}


@pytest.mark.slow
def test_each_judge_is_listed_once_with_the_runs_it_was_asked_in(
    client: TestClient, context: ServerContext
) -> None:
    for judge in (judge_one, judge_two, judge_one):
        _run(context, judge)
    page = client.get("/api/judges").json()
    assert page["runs"] == 3
    reported = {row["model"]: (row["runs"], row["standing"], row["calibration"]) for row in page["items"]}
    assert sorted(reported.values()) == [(1, "unknown", None), (2, "unknown", None)]
    newest = client.get("/api/runs").json()["items"][0]["run_id"]
    assert page["items"][0]["last_run"] == newest  # the judge that was asked last comes first


STANDINGS: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "of this judge": ({}, "calibrated", []),
    "that may be chance": ({"kappa": Figure(value=0.4, low=0.0, high=0.8)}, "chance", []),
    "that states nothing": ({"kappa": Figure(value=None)}, "chance", []),
    "of another model": ({"model": "other"}, "void", ["the model is"]),
    "of another prompt": ({"prompt": "other"}, "void", ["the prompt is another one"]),
    "of another threshold": ({"threshold": 0.9}, "calibrated", []),
}


@pytest.mark.parametrize(("changed", "standing", "void"), STANDINGS.values(), ids=STANDINGS)
def test_a_calibration_holds_for_the_judge_that_it_was_made_of(
    client: TestClient, context: ServerContext, changed: dict[str, Any], standing: str, void: list[str]
) -> None:
    by = _run(context, judge_one)
    _keep(context, [_calibrated(by, **changed)])
    row = client.get("/api/judges").json()["items"][0]
    assert row["standing"] == standing
    assert [reason.startswith(words) for reason, words in zip(row["void"], void, strict=True)] == [
        True
    ] * len(void)
    assert row["calibration"]["labels"] == 10
    assert row["calibration"]["kappa"] == changed.get("kappa", KAPPA).model_dump()


def test_the_newest_calibration_that_holds_counts(client: TestClient, context: ServerContext) -> None:
    by = _run(context, judge_one)
    _keep(context, [_calibrated(by, at=1.0), _calibrated(by, at=2.0), _calibrated(by, at=3.0, model="other")])
    used, other = client.get("/api/judges").json()["items"]
    assert (used["standing"], used["calibration"]["created_at"]) == ("calibrated", 2.0)
    assert (other["model"], other["runs"], other["last_run"]) == ("other", 0, None)


def test_labels_of_the_last_run_count_where_they_are_of_the_metric(
    client: TestClient, context: ServerContext, tmp_path: Path
) -> None:
    by = _run(context, judge_one)
    run = client.get("/api/runs").json()["items"][0]["run_id"]
    address = f"/api/runs/{run}/cases/0/trials/0/labels"
    for metric in (by.metric, "another_metric"):
        client.put(f"{address}/{metric}", json={"passes": False})
    client.put(f"{address}/{by.metric}", json={"passes": True, "labeller": "ben"})  # the same verdict
    assert client.get("/api/judges").json()["items"][0]["labels"] == 1


def test_only_the_newest_runs_are_read(context: ServerContext) -> None:
    for judge in (judge_one, judge_two):
        _run(context, judge)
    with context.runs() as store:
        assert [row.runs for row in known_judges(store, limit=1).items] == [1]
