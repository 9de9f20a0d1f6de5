"""Names that scripts around evaluations import: registries, loaders, printers, behaviors, descriptions of metrics."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from proctor.common.registry import METRICS
from proctor.compat.adk.cli import cli_eval
from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation import metric_info_providers as providers
from proctor.compat.adk.evaluation.agent_evaluator import load_json
from proctor.compat.adk.evaluation.app_details import AgentDetails, AppDetails
from proctor.compat.adk.evaluation.constants import DEFAULT_LIVE_TIMEOUT_SECONDS
from proctor.compat.adk.evaluation.eval_case import Invocation
from proctor.compat.adk.evaluation.eval_config import EvalConfig
from proctor.compat.adk.evaluation.eval_metrics import (
    BaseCriterion,
    EvalMetric,
    Interval,
    MetricInfo,
    MetricValueInfo,
    PrebuiltMetrics,
)
from proctor.compat.adk.evaluation.eval_result import EvalCaseResult
from proctor.compat.adk.evaluation.evaluation_constants import EvalConstants
from proctor.compat.adk.evaluation.evaluator import EvaluationResult, Evaluator
from proctor.compat.adk.evaluation.hallucinations_v1 import EvaluationStep
from proctor.compat.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager
from proctor.compat.adk.evaluation.metric_evaluator_registry import (
    DEFAULT_METRIC_EVALUATOR_REGISTRY,
    MetricEvaluatorRegistry,
    register_custom_metrics_from_config,
)
from proctor.compat.adk.evaluation.simulation.pre_built_personas import PreBuiltBehaviors
from proctor.compat.adk.evaluation.simulation.user_simulator_personas import UserPersona

# --- registries ------------------------------------------------------------------------------------------------------


class Half(Evaluator):
    def __init__(self, eval_metric: EvalMetric) -> None:
        pass

    def evaluate_invocations(self, *args: Any, **kwargs: Any) -> EvaluationResult:
        return EvaluationResult(overall_score=0.5)


def info(name: str) -> MetricInfo:
    unit = MetricValueInfo(interval=Interval(min_value=0.0, max_value=1.0))
    return MetricInfo(metric_name=name, metric_value_info=unit)


def asked(name: str) -> EvalMetric:
    return EvalMetric(metric_name=name, criterion=BaseCriterion(threshold=0.5))


@pytest.mark.parametrize(
    "registry", [DEFAULT_METRIC_EVALUATOR_REGISTRY, MetricEvaluatorRegistry()], ids=["default", "own"]
)
def test_fork_has_earlier_registrations_and_no_later_ones_are_shared(
    registry: MetricEvaluatorRegistry,
) -> None:
    registry.register_evaluator(info("before"), Half)
    try:
        fork = registry.fork()
        fork.register_evaluator(info("in_the_fork"), Half)
        registry.register_evaluator(info("after"), Half)
        assert isinstance(fork.get_evaluator(asked("before")), Half)
        assert isinstance(fork.get_evaluator(asked("in_the_fork")), Half)
        with pytest.raises(NotFoundError):
            fork.get_evaluator(asked("after"))
        with pytest.raises(NotFoundError):
            registry.get_evaluator(asked("in_the_fork"))
        assert "in_the_fork" not in METRICS
        names = [one.metric_name for one in fork.get_registered_metrics()]
        assert (names[-2:], "after" in names) == (["before", "in_the_fork"], False)
    finally:
        for name in ("before", "after"):
            registry._own.pop(name)
            if name in METRICS:
                METRICS.remove(name)


def test_a_fork_of_the_default_registry_has_the_built_in_metrics() -> None:
    fork = DEFAULT_METRIC_EVALUATOR_REGISTRY.fork()
    evaluator = fork.get_evaluator(asked("response_match_score"))
    turn = Invocation(user_content={"parts": [{"text": "hi"}]}, final_response={"parts": [{"text": "a b"}]})
    result = evaluator.evaluate_invocations([turn], [turn])
    assert isinstance(result, EvaluationResult)
    assert result.overall_score == 1.0
    assert len(fork.get_registered_metrics()) == len(PrebuiltMetrics)


FUNCTION = """
def words(actual_invocation):
    return min(1.0, len(actual_invocation.final_response.parts[0].text.split()) / 4)
"""


@pytest.mark.parametrize("in_a_fork", [True, False])
def test_functions_of_a_config_can_be_registered(
    in_a_fork: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "functions_of_a_config.py").write_text(FUNCTION, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    custom = {
        "words": {"code_config": {"name": "functions_of_a_config.words"}, "description": "Long answers."}
    }
    config = EvalConfig(criteria={"words": 0.5}, custom_metrics=custom)
    given = DEFAULT_METRIC_EVALUATOR_REGISTRY.fork() if in_a_fork else None
    registry = register_custom_metrics_from_config(config, given)
    try:
        assert registry is (given or DEFAULT_METRIC_EVALUATOR_REGISTRY)
        assert ("words" in METRICS) is not in_a_fork
        assert registry.get_registered_metrics()[-1].description == "Long answers."
        turn = Invocation(user_content={}, final_response={"parts": [{"text": "three words here"}]})
        found: Any = registry.get_evaluator(asked("words")).evaluate_invocations([turn])
        result = asyncio.run(found)
        assert (result.overall_score, result.overall_eval_status.name) == (0.75, "PASSED")
    finally:
        if not in_a_fork:
            DEFAULT_METRIC_EVALUATOR_REGISTRY._own.pop("words")
            METRICS.remove("words")


def test_a_function_that_is_not_there_is_refused_when_it_is_asked_for() -> None:
    config = EvalConfig(
        criteria={}, custom_metrics={"lost": {"code_config": {"name": "no_such_module.lost"}}}
    )
    registry = register_custom_metrics_from_config(config, MetricEvaluatorRegistry())
    with pytest.raises(ValueError, match="importing 'no_such_module' failed"):
        registry.get_evaluator(asked("lost"))


PROVIDERS = [name for name in providers.__all__ if name != "ResponseEvaluatorMetricInfoProvider"]


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_provider_describes_a_metric(name: str) -> None:
    found = getattr(providers, name)().get_metric_info()
    assert found.metric_name in {metric.value for metric in PrebuiltMetrics}
    assert found.description


def test_the_providers_describe_all_metrics() -> None:
    response = providers.ResponseEvaluatorMetricInfoProvider
    described = [getattr(providers, name)().get_metric_info().metric_name for name in PROVIDERS]
    described += [
        response(name).get_metric_info().metric_name
        for name in ("response_match_score", "response_evaluation_score")
    ]
    assert sorted(described) == sorted(metric.value for metric in PrebuiltMetrics)
    with pytest.raises(
        ValueError, match="expected response_evaluation_score or response_match_score, got 'safety_v1'"
    ):
        response("safety_v1").get_metric_info()


@pytest.mark.needs_adk
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROVIDERS)
def test_each_provider_belongs_to_the_metric_of_its_google_adk_name(name: str) -> None:
    theirs = pytest.importorskip("google.adk.evaluation.metric_info_providers")
    expected = getattr(theirs, name)().get_metric_info()
    found = getattr(providers, name)().get_metric_info()
    assert found.metric_name == getattr(expected.metric_name, "value", expected.metric_name)
    assert found.requires_threshold == expected.requires_threshold


# --- scripts around evaluations ----------------------------------------------------------------------------------------


def package(folder: Path, agent: str) -> str:
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import agent\n", encoding="utf-8")
    (folder / "agent.py").write_text(agent, encoding="utf-8")
    return str(folder)


@pytest.mark.parametrize(
    "agent",
    [
        "root_agent = 'it'\ndef reset_data():\n    return 'reset'\n",
        "async def get_agent_async():\n    return 'it', None\ndef reset_data():\n    return 'reset'\n",
        "app = 'not an App'\nroot_agent = 'it'\ndef reset_data():\n    return 'reset'\n",
    ],
)
def test_an_agents_folder_gives_its_agent(agent: str, tmp_path: Path) -> None:
    folder = package(tmp_path / "my_agent", agent)
    assert asyncio.run(cli_eval.get_root_agent(folder)) == "it"
    assert asyncio.run(cli_eval.get_app_or_root_agent(folder)) == (None, "it")
    assert cli_eval.try_get_reset_func(folder)() == "reset"


def test_two_agents_are_not_confused(tmp_path: Path) -> None:
    """google-adk imports both as the module `agent`."""
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    folders = [package(tmp_path / name / "my_agent", f"root_agent = {name!r}\n") for name in ("one", "other")]
    assert [asyncio.run(cli_eval.get_root_agent(folder)) for folder in folders] == ["one", "other"]
    assert cli_eval.try_get_reset_func(folders[0]) is None


@pytest.mark.needs_adk
@pytest.mark.filterwarnings("ignore")
def test_an_app_of_google_adk_comes_with_its_root_agent(tmp_path: Path) -> None:
    source = (
        "from google.adk.agents import LlmAgent\nfrom google.adk.apps.app import App\n"
        "app = App(name='my_app', root_agent=LlmAgent(name='it', model='m'))\n"
    )
    app, agent = asyncio.run(cli_eval.get_app_or_root_agent(package(tmp_path / "app_agent", source)))
    assert (app.name, agent.name) == ("my_app", "it")


@pytest.mark.parametrize("source", ["", "other = 1\n"])
def test_a_folder_without_an_agent_is_refused(source: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected a folder with an __init__"):
        asyncio.run(cli_eval.get_root_agent(str(tmp_path)))
    folder = package(tmp_path / "no_agent", source)
    with pytest.raises(ValueError, match="expected `app`, `root_agent` or `get_agent_async` in its module"):
        asyncio.run(cli_eval.get_root_agent(folder))


def test_the_manager_of_eval_sets_goes_by_the_address(tmp_path: Path) -> None:
    assert isinstance(cli_eval.get_eval_sets_manager(None, str(tmp_path)), LocalEvalSetsManager)
    for wrong in ("ftp://x", "gs://", "bucket"):
        with pytest.raises(ValueError, match="expected gs://BUCKET or s3://BUCKET, got "):
            cli_eval.get_eval_sets_manager(wrong, str(tmp_path))


RESULT: dict[str, Any] = {
    "eval_set_id": "s",
    "eval_id": "a",
    "final_eval_status": 2,
    "overall_eval_metric_results": [
        {
            "metric_name": "checklist",
            "threshold": 0.5,
            "score": 0.25,
            "eval_status": 2,
            "criterion": {"threshold": 0.5, "rubrics": []},
            "details": {"rubric_scores": [{"rubric_id": "r", "score": 0.0, "rationale": "rude"}]},
        },
        {
            "metric_name": "token_usage_v1",
            "score": 12.0,
            "eval_status": 4,
            "details": {"token_usage_details": {"total_tokens": 12.0}},
        },
    ],
    "eval_metric_result_per_invocation": [
        {
            "actual_invocation": {
                "user_content": {"parts": [{"text": "Book a table."}]},
                "final_response": {"parts": [{"text": "word " * 30}]},
                "intermediate_data": {"tool_uses": [{"name": "book", "args": {"covers": 4}}]},
            },
            "eval_metric_results": [{"metric_name": "checklist", "score": 0.25, "eval_status": 2}],
        }
    ],
    "session_id": "x",
}


def test_a_result_is_printed_with_its_metrics_and_turns(capsys: pytest.CaptureFixture[str]) -> None:
    cli_eval.pretty_print_eval_result(EvalCaseResult.model_validate(RESULT))
    printed = capsys.readouterr().out
    for line in [
        "Eval Set Id: s",
        "Eval Id: a",
        "Overall Eval Status: FAILED",
        "Metric: checklist, Status: FAILED, Score: 0.25, Threshold: 0.5",
        "Rubric: r, Score: 0.0, Reasoning: rude",
        "Token breakdown:",
        "  total:            12",
        "  cached:           n/a",
        "Invocation 1 of 1",
        "  prompt:                     Book a table.",
        "  actual_tool_calls:          book(covers=4)",
        "  checklist:                  FAILED (0.25)",
    ]:
        assert f"{line}\n" in printed, printed
    assert "expected" not in printed
    assert max(map(len, printed.splitlines())) < 120


@pytest.mark.needs_adk
@pytest.mark.filterwarnings("ignore")
def test_a_result_of_google_adk_is_printed_with_the_same_lines(capsys: pytest.CaptureFixture[str]) -> None:
    theirs = pytest.importorskip("google.adk.evaluation.eval_result").EvalCaseResult.model_validate(RESULT)
    cli_eval.pretty_print_eval_result(theirs)
    ours = capsys.readouterr().out
    import_module("google.adk.cli.cli_eval").pretty_print_eval_result(theirs)
    expected = capsys.readouterr().out
    heads = ("Eval ", "Overall", "Metric:", "Rubric", "Token", "Invocation")
    assert [line for line in ours.splitlines() if line.startswith(heads)] == [
        line for line in expected.splitlines() if line.startswith(heads)
    ]


def test_json_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps([{"query": "ü"}]), encoding="utf-8")
    assert load_json(str(tmp_path / "x.json")) == [{EvalConstants.QUERY: "ü"}]


# --- small things ------------------------------------------------------------------------------------------------------


def test_app_details() -> None:
    tools = [{"function_declarations": [{"name": "f"}]}]
    details = AppDetails(
        agent_details={"a": AgentDetails(name="a", instructions="Be.", tool_declarations=tools)}
    )
    assert details.get_developer_instructions("a") == "Be."
    assert details.get_tools_by_agent_name() == {"a": tools}
    with pytest.raises(ValueError, match="no agent 'b'"):
        details.get_developer_instructions("b")


def test_behaviors_make_personas() -> None:
    behavior = PreBuiltBehaviors.CORRECT_AGENT.value
    persona = UserPersona(id="MINE", description="Mine.", behaviors=[behavior])
    assert persona.behaviors == [behavior]
    assert behavior.get_behavior_instructions_str().splitlines() == [
        f"  * {one}" for one in behavior.behavior_instructions
    ]
    assert behavior.get_violation_rubrics_str() == "\n".join(
        f"  * {one}" for one in behavior.violation_rubrics
    )
    assert len(PreBuiltBehaviors) == 11
    assert all(one.value.violation_rubrics for one in PreBuiltBehaviors)


def test_constants() -> None:
    assert DEFAULT_LIVE_TIMEOUT_SECONDS == 300
    assert (EvalConstants.EXPECTED_TOOL_USE, EvalConstants.MOCK_TOOL_OUTPUT) == (
        "expected_tool_use",
        "mock_tool_output",
    )
    assert cli_eval.DEFAULT_CRITERIA == {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}
    assert EvaluationStep(context="c", nl_response="n") == EvaluationStep("c", "n")
