"""adk-rs's report: its shape, its numbers, and never PASSED for what did not pass."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import proctor
from proctor.reports.base import load_report
from proctor.schema.results.run_result import Outcome, RunResult
from proctor.schema.results.score import MetricScore, Score
from tests.reports.generated_runs import runs
from tests.reports.hostile_texts import GROUPS, everywhere, for_each_text
from tests.reports.sample_runs import E, F, P, case, crashed, good, metric, run, sketch
from tests.reports.terminal.test_hostile import bad_characters


def text_of(*found: RunResult) -> str:
    out = io.StringIO()
    load_report("adk-rs").write(list(found), out)
    return out.getvalue()


def results(*found: RunResult) -> list[dict[str, Any]]:
    document = json.loads(text_of(*found))
    assert document.keys() == {"results"}
    entries: list[dict[str, Any]] = document["results"]
    return entries


def test_its_shape_is_that_of_adk_rs() -> None:
    per_turn = MetricScore(0.75, [Score(1.0), Score(0.5)])
    one = run(case("a", F, metric("m", [per_turn], 0.8)), case("b", P, metric("m", [1.0], 0.8)))
    assert (
        text_of(one)
        == """{
  "results": [
    {
      "eval_set_id": "booking",
      "eval_case_id": "a",
      "scores": {
        "m": {
          "score": 0.75,
          "status": "FAILED",
          "details": {
            "per_invocation": [
              1.0,
              0.5
            ]
          }
        }
      },
      "overall_status": "FAILED"
    },
    {
      "eval_set_id": "booking",
      "eval_case_id": "b",
      "scores": {
        "m": {
          "score": 1.0,
          "status": "PASSED",
          "details": {
            "per_invocation": [
              1.0
            ]
          }
        }
      },
      "overall_status": "PASSED"
    }
  ]
}
"""
    )


def test_other_outcomes_are_failed_with_their_name() -> None:
    entries = {each["eval_case_id"]: each for each in results(sketch(1))}
    error = entries["refund_policy"]
    assert (error["overall_status"], error["proctor_outcome"]) == ("FAILED", "error")
    assert error["proctor_reason"].startswith("agent raised in turn 1: KeyError")
    assert error["scores"]["tool_trajectory_avg_score"]["status"] == "ERROR"
    assert entries["cancel_flight"]["proctor_outcome"] == "inconclusive"
    assert "proctor_outcome" not in entries["two_turn_booking"]


@pytest.mark.parametrize("outcome", [Outcome.NOT_RUN, Outcome.SKIPPED])
def test_what_was_not_run_is_not_passed(outcome: Outcome) -> None:
    (entry,) = results(run(case("a", outcome, trials=[])))
    assert (entry["overall_status"], entry["scores"], entry["proctor_outcome"]) == (
        "FAILED",
        {},
        outcome.value,
    )


@pytest.mark.nightly
@given(runs())
@settings(max_examples=60)
def test_passed_only_where_it_is_and_every_score_a_number(result: RunResult) -> None:
    entries = results(result)
    broken = sum(one.failure is not None for one in result.sets) + (result.failure is not None)
    assert len(entries) == len(result.cases) + broken
    assert [each["overall_status"] == "PASSED" for each in entries] == [
        *(one.passed for one in result.cases),
        *[False] * broken,
    ]
    for each in entries:
        for score in each["scores"].values():
            assert isinstance(score["score"], float)
            assert score["status"] in {"PASSED", "FAILED", "ERROR"}
            assert all(isinstance(value, float) for value in score["details"]["per_invocation"])


@pytest.mark.slow
@for_each_text(GROUPS)
def test_hostile_texts(text: str) -> None:
    assert len(results(everywhere(text))) == 4
    assert bad_characters(text_of(everywhere(text))) == set()


def test_not_a_number_is_null_and_no_invalid_json() -> None:
    (entry,) = results(run(case("a", E, metric("m", [float("nan")], 0.5, F))))
    assert entry["scores"]["m"]["score"] is None


def test_agents_one_behind_the_other() -> None:
    assert len(results(run(good("a")), run(good("a"), crashed()))) == 3


# --- its numbers ---------------------------------------------------------------------------------------------------------


def _vectors(shared: Path) -> Iterator[dict[str, Any]]:
    golden = json.loads((shared / "golden/sister/adk_rs_runner.json").read_text(encoding="utf-8"))
    return (one for one in golden["cases"] if one["conversation"])


def _agent_of(actual: list[dict[str, Any]]) -> Any:
    """Plays the recorded invocations, one a turn."""
    turns = iter(actual)

    def answer(message: str) -> dict[str, Any]:
        turn = next(turns)
        calls, text = _played(turn)
        return {"tool_calls": calls, **({"text": text} if text else {})}

    return answer


def _played(turn: dict[str, Any]) -> tuple[list[Any], str]:
    """The calls of a turn and the text of its answer; both may be nothing."""
    calls = (turn.get("intermediate_data") or {}).get("tool_uses") or []
    parts = (turn.get("final_response") or {}).get("parts") or []
    return calls, "\n".join(part["text"] for part in parts if "text" in part)


@pytest.mark.slow
def test_recorded_vectors_come_out_as_adk_rs_has_them(shared: Path) -> None:
    different = {}
    for one in _vectors(shared):
        asked = {
            "reading": "adk-rs",
            "aggregate": "every_invocation",
            "threshold": one["trajectory_threshold"],
        }
        match = {"compat": "adk", "aggregate": "every_invocation", "threshold": one["response_threshold"]}
        criteria = {"tool_trajectory_avg_score": asked, "final_response_match_v1": match}
        found = proctor.evaluate_sync(
            _agent_of(one["expected_result"]["actual"]),
            {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": one["conversation"]}]},
            config={"criteria": criteria},
        )
        (entry,) = results(found)
        expected = {name: one["expected_result"][name] for name in ("scores", "overall_status")}
        silent = any(_played(turn) == ([], "") for turn in one["expected_result"]["actual"])
        if silent:  # fails closed: an agent without text and calls is an error here
            assert (entry["overall_status"], entry["proctor_outcome"]) == ("FAILED", "error")
            assert expected["overall_status"] == "FAILED"
        elif {name: entry[name] for name in expected} != expected:
            different[one["id"]] = (entry, expected)
    assert different == {}
