"""`proctor metrics`: what there is to measure with."""

import json

import pytest
from click.testing import CliRunner, Result

from proctor.cli.main import cli
from proctor.common.registry import METRICS
from proctor.schema.format.config import EvalConfig


def metrics(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["metrics", *arguments])


def test_every_metric_is_listed_with_what_it_needs() -> None:
    result = metrics()
    assert result.exit_code == 0
    assert "default threshold 0.8" in result.stdout
    assert "needs a judge model, rubrics" in result.stdout
    assert all(name in result.stdout for name in METRICS.names())


def test_one_metric_explained() -> None:
    text = metrics("tool_trajectory_avg_score").stdout
    for words in (
        "needs      a recorded conversation",
        "scores     0 to 1",
        "match_type",
        "IN_ORDER",
        "gate",
        '"criteria"',
    ):
        assert words in text
    assert "judge" not in text


def test_one_that_decides_nothing() -> None:
    text = metrics("token_usage_v1").stdout
    assert "it is always reported, and takes no threshold" in text
    assert "criteria" not in text


def test_as_json() -> None:
    listed = json.loads(metrics("--json").stdout)["metrics"]
    assert [found["name"] for found in listed] == METRICS.names()
    one = json.loads(metrics("response_match_score", "--json").stdout)
    assert one == next(found for found in listed if found["name"] == "response_match_score")
    assert (one["needs"], one["default_threshold"]) == (["expected"], 0.8)


def test_what_is_not_there() -> None:
    result = metrics("response_match_scor")
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        "error: No metric named 'response_match_scor'. Did you mean 'response_match_score'?" in result.stderr
    )
    assert "trajectory_rules" not in result.stderr
    assert "trajectory_rules" in metrics("response_match_scor", "-v").stderr


def test_several_close_names_are_offered() -> None:
    offered = "Did you mean 'trajectory_exact_match', 'trajectory_subset_match' or 'trajectory_strict_match'?"
    assert offered in metrics("trajectory_match").stderr


@pytest.mark.parametrize("plugin", [lambda actual_invocation, expected_invocation, criterion: 1.0])
def test_a_plug_in_function(plugin: object) -> None:
    METRICS.add("politeness", plugin)
    try:
        result = metrics("politeness")
    finally:
        METRICS.remove("politeness")
    assert result.exit_code == 0
    assert "kind       custom" in result.stdout


def test_the_example_of_each_is_a_config() -> None:
    for found in json.loads(metrics("--json").stdout)["metrics"]:
        if found["gates"]:
            assert found["name"] in EvalConfig.model_validate(found["example"]).criteria
        else:
            assert found["example"] is None


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "weighted",
            [
                "needs      the scores of other metrics of the config",
                "the metrics to combine and their weights",
                "(required)",
            ],
        ),
        ("known_tools", ["needs      what the agent declares about its tools", '"tools": [']),
        ("response_schema", ["from       JSON Schema (json-schema.org)", '"schema": {']),
        ("final_session_state", ["needs      final_session_state in the case", "scores     0 to 1"]),
    ],
)
def test_needs_source_options_and_an_example(name: str, lines: list[str]) -> None:
    text = metrics(name).stdout
    for line in [*lines, "kind       deterministic", "in a config", '"criteria": {']:
        assert line in text
