"""google-adk's recorded runs of `AgentEvaluator`, made here: the same files, the same agent, the same numbers.

Where google-adk is not installed the agent is only the recorded script played again. How the agent was found there (by module) is not part
of this; `tests/agents/test_load.py` has it.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.errors import SetupProblems
from proctor.schema.results.run_result import Outcome
from tests.compat.golden.recorded import DURATION, Json, config_of, golden, scripted

RECORDED = 16
NOT_RUN_HERE = {
    "no cases": "a.test.json:1:1: error: eval_cases: no cases",
    "missing file": "none.test.json",
    "unknown metric": "No metric named 'no_such_metric'",
}
"""What stops a run before the first agent call, and what the message names."""
ABOUT_LOADING = {"module without agent"}

_SUMMARY = re.compile(
    r"Summary: `EvalStatus\.(?P<status>\w+)` for Metric: `(?P<name>\w+)`\."
    r" Expected threshold: `(?P<threshold>[^`]+)`, actual value: `(?P<score>[^`]+)`\."
)


def vector(shared: Path, name: str) -> Json:
    return next(
        one for one in golden(shared, "agent_evaluator.json", RECORDED)["vectors"] if one["name"] == name
    )


def names(shared: Path) -> list[str]:
    return [one["name"] for one in golden(shared, "agent_evaluator.json", RECORDED)["vectors"]]


def write(folder: Path, recorded: Json) -> None:
    for name, content in recorded["files"].items():
        path = folder / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")


def run(agent: Any, folder: Path, recorded: Json) -> proctor.RunResult:
    write(folder, recorded)
    config, _ = config_of(recorded["config"])
    if "no_such_metric" in json.dumps(recorded["config"]):
        config["criteria"]["no_such_metric"] = 0.5
    return proctor.evaluate_sync(
        agent,
        folder / recorded["path"],
        config=config,
        compat="adk",
        num_runs=recorded["kwargs"].get("num_runs", 2),
    )


Row = tuple[str, str, float | None, float | None]


def rows_there(recorded: Json) -> list[Row]:
    """What ADK printed: name, status, threshold and score of each metric of each case."""
    found = [_SUMMARY.fullmatch(line) for line in recorded["summary_lines"]]
    assert all(found), recorded["summary_lines"]
    return [
        (match["name"], match["status"], number(match["threshold"]), number(match["score"]))
        for match in found
        if match
    ]


def number(text: str) -> float | None:
    return None if text == "None" else float(text)


def rows_here(result: proctor.RunResult) -> list[Row]:
    return [
        (metric.name, metric.status.name, metric.threshold, metric.score)
        for case in result.cases
        for metric in case.metrics.values()
        if metric.name != DURATION
    ]


def test_each_recorded_run_has_its_place_here(shared: Path) -> None:
    known = {*NOT_RUN_HERE, *ABOUT_LOADING, *RUN_HERE}
    assert set(names(shared)) == known
    assert len(RUN_HERE) + len(NOT_RUN_HERE) + len(ABOUT_LOADING) == RECORDED


RUN_HERE = [
    "new format passes", "old format passes", "old format fails", "mixed fails", "no detailed print",
    "inference failure", "in order config", "custom metrics", "recursive directory", "module .agent",
    "agent by own name", "evalset.json given as file",
]  # fmt: skip


@pytest.mark.parametrize("name", RUN_HERE)
def test_the_verdict_and_every_number_are_the_same(
    shared: Path, agent: Any, tmp_path: Path, name: str
) -> None:
    recorded = vector(shared, name)
    result = run(agent, tmp_path, recorded)
    assert result.passed is recorded["result"]["passed"]
    if recorded["summary_lines"]:
        assert sorted(rows_here(result), key=str) == sorted(rows_there(recorded), key=str)
    else:  # nothing was printed: the agent broke, or it was not asked for
        assert recorded["kwargs"].get("print_detailed_results") is False or result.outcome is Outcome.ERROR
    for failed in failed_metrics(recorded):
        assert failed in [
            (metric, score) for metric, status, _, score in rows_here(result) if status == "FAILED"
        ]


def failed_metrics(recorded: Json) -> list[tuple[str, float]]:
    """The metrics that ADK's error message lists, with their scores."""
    message = recorded["result"].get("message", "")
    found = re.findall(r"^(\w+) for \w+ Failed\. Expected [\d.]+, but got ([\d.]+)\.$", message, re.MULTILINE)
    return [(name, float(score)) for name, score in found]


def test_agent_that_breaks_in_every_run_is_an_error_with_the_reason(
    shared: Path, agent: Any, tmp_path: Path
) -> None:
    """ADK: '3 of 3 runs were recorded as failed without producing any metric results', and no cause."""
    (case,) = run(agent, tmp_path, vector(shared, "inference failure")).cases
    assert case.outcome is Outcome.ERROR
    assert "RuntimeError: model exploded" in case.reason
    assert len(case.trials) == 3


@pytest.mark.parametrize("name", NOT_RUN_HERE)
def test_what_cannot_be_judged_is_refused_before_the_first_call(
    shared: Path, tmp_path: Path, name: str
) -> None:
    recorded = vector(shared, name)
    assert recorded["result"]["passed"] is False
    with pytest.raises(SetupProblems, match=NOT_RUN_HERE[name]):
        run(scripted(shared), tmp_path, recorded)
