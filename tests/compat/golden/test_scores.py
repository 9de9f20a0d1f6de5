"""Every recorded score again, this time through the door that users take: `proctor.score` with `compat: "adk"`."""

import math
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.errors import SetupProblems
from proctor.schema.results.run_result import MetricVerdict, Outcome
from tests.compat.golden.recorded import Json, golden

RULES = [
    f"{match_type}{ignoring}"
    for match_type in ("EXACT", "IN_ORDER", "ANY_ORDER")
    for ignoring in ("", "/ignore_args")
]


def compare(vector: Json, theirs: Json, name: str, **options: Any) -> None:
    """Compare one vector; without its statuses where Proctor refuses its threshold, which could not fail or not pass."""
    threshold = vector["threshold"]
    is_usable = 0 < threshold <= 1
    if not is_usable:
        with pytest.raises(SetupProblems, match=r"cannot (fail|pass)"):
            scored(vector, name, threshold=threshold)
    verdict = scored(vector, name, threshold=threshold if is_usable else 0.5, compat="adk", **options)
    if "error" in theirs:
        assert (verdict.outcome, verdict.score) == (Outcome.ERROR, None)
        assert verdict.reason
        return
    recorded = theirs["ok"]
    assert close(verdict.score, recorded["overall_score"])
    assert verdict.status.name == recorded["overall_status"] or not is_usable
    assert len(verdict.per_invocation) == len(recorded["per_invocation"])
    for ours, one in zip(verdict.per_invocation, recorded["per_invocation"], strict=True):
        assert close(ours.score, one["score"])
        assert ours.status.name == one["status"] or not is_usable
        assert ours.reason


def scored(vector: Json, name: str, **criterion: Any) -> MetricVerdict:
    verdicts: dict[str, MetricVerdict] = proctor.score_sync(
        vector["actual"], vector["expected"], criteria={name: criterion}
    )
    return verdicts[name]


def close(ours: float | None, theirs: float | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return math.isclose(ours, theirs, rel_tol=1e-9)


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("rule", RULES)
def test_trajectories(shared: Path, rule: str) -> None:
    match_type, _, ignoring = rule.partition("/")
    for vector in golden(shared, "trajectory.json", 194)["vectors"]:
        options = {"match_type": match_type, "ignore_args": bool(ignoring)}
        compare(vector, vector["results"][rule], "tool_trajectory_avg_score", **options)


@pytest.mark.slow
def test_texts(shared: Path) -> None:
    for vector in golden(shared, "rouge_invocations.json", 70)["vectors"]:
        compare(vector, vector["result"], "response_match_score")


@pytest.mark.slow
def test_pairs_of_texts(shared: Path) -> None:
    def turn_with(text: str) -> Json:
        return {"user_content": {"parts": [{"text": "q"}]}, "final_response": {"parts": [{"text": text}]}}

    for vector in golden(shared, "rouge_pairs.json", 288)["vectors"]:
        one = {"score": vector["score"], "status": vector["status"]}
        result = {"overall_score": one["score"], "overall_status": one["status"], "per_invocation": [one]}
        given = {
            **vector,
            "actual": [turn_with(vector["candidate"])],
            "expected": [turn_with(vector["reference"])],
        }
        compare(given, {"ok": result}, "response_match_score")
