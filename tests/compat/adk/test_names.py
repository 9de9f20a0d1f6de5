"""The names: every mirrored module has what google-adk's has under its name, with the same parameters and defaults."""

import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import proctor.compat.adk.evaluation as mirrored
from proctor.common.registry import METRICS
from proctor.compat.adk.cli.cli_eval import parse_and_get_evals_to_run
from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation.simulation.pre_built_personas import get_default_persona_registry
from proctor.compat.adk.evaluation.simulation.user_simulator_personas import UserPersonaRegistry
from tests.compat.golden.recorded import golden

PREFIX = "proctor.compat.adk."
MODULES = sorted(one.name for one in pkgutil.walk_packages(mirrored.__path__, f"{mirrored.__name__}."))
OURS_ALONE = {"s3_eval_sets_manager", "s3_eval_set_results_manager"}
WITH_ITS_EVAL_EXTRA = {
    "local_eval_service",
    "metric_evaluator_registry",
    "multi_turn_task_success_evaluator",
    "multi_turn_tool_use_quality_evaluator",
    "multi_turn_trajectory_quality_evaluator",
    "response_evaluator",
    "safety_evaluator",
}
"""Modules of google-adk that can be imported only where its extra `eval` is installed: pandas, and Google's services."""
OTHERS = ["agents.common_configs", "errors.not_found_error", "cli.cli_eval"]


def importable(module: str) -> bool:
    return module not in WITH_ITS_EVAL_EXTRA or find_spec("pandas") is not None


def test_there_are_some() -> None:
    assert len(MODULES) > 30


@pytest.mark.parametrize("name", MODULES)
def test_each_has_the_names_that_it_promises(name: str) -> None:
    module = import_module(name)
    if not hasattr(module, "__path__"):
        assert module.__all__
    for promised in getattr(module, "__all__", ()):
        assert getattr(module, promised) is not None


@pytest.mark.needs_adk
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*MODULES, *(PREFIX + other for other in OTHERS)])
def test_google_adk_has_them_under_the_same_name(name: str) -> None:
    if (module := name.rpartition(".")[2]) in OURS_ALONE or not importable(module):
        return
    theirs = import_module(name.replace(PREFIX, "google.adk."))
    assert [one for one in getattr(import_module(name), "__all__", ()) if not hasattr(theirs, one)] == []


SAME_CALLS = [
    ("evaluation.agent_evaluator", "AgentEvaluator.evaluate"),
    ("evaluation.agent_evaluator", "AgentEvaluator.evaluate_eval_set"),
    ("evaluation.agent_evaluator", "AgentEvaluator.find_config_for_test_file"),
    ("evaluation.agent_evaluator", "AgentEvaluator.migrate_eval_data_to_new_schema"),
    ("evaluation.eval_config", "get_evaluation_criteria_or_default"),
    ("evaluation.eval_config", "get_eval_metrics_from_config"),
    ("evaluation.eval_case", "get_all_tool_calls"),
    ("evaluation.local_eval_sets_manager", "LocalEvalSetsManager"),
    ("evaluation.local_eval_sets_manager", "load_eval_set_from_file"),
    ("evaluation.local_eval_sets_manager", "convert_eval_set_to_pydantic_schema"),
    ("evaluation.eval_sets_manager", "EvalSetsManager.get_eval_set"),
    ("evaluation.eval_sets_manager", "EvalSetsManager.create_eval_set"),
    ("evaluation.eval_sets_manager", "EvalSetsManager.list_eval_sets"),
    ("evaluation.eval_sets_manager", "EvalSetsManager.get_eval_case"),
    ("evaluation.eval_sets_manager", "EvalSetsManager.add_eval_case"),
    ("evaluation.eval_sets_manager", "EvalSetsManager.update_eval_case"),
    ("evaluation.eval_sets_manager", "EvalSetsManager.delete_eval_case"),
    ("evaluation.eval_set_results_manager", "EvalSetResultsManager.save_eval_set_result"),
    ("evaluation.eval_set_results_manager", "EvalSetResultsManager.get_eval_set_result"),
    ("evaluation.eval_set_results_manager", "EvalSetResultsManager.list_eval_set_results"),
    ("evaluation.metric_evaluator_registry", "MetricEvaluatorRegistry.register_evaluator"),
    ("evaluation.metric_evaluator_registry", "MetricEvaluatorRegistry.get_evaluator"),
    ("evaluation.base_eval_service", "BaseEvalService.perform_inference"),
    ("evaluation.base_eval_service", "BaseEvalService.evaluate"),
    ("evaluation.evaluator", "Evaluator.evaluate_invocations"),
    ("evaluation.trajectory_evaluator", "TrajectoryEvaluator"),
    ("evaluation.response_evaluator", "ResponseEvaluator"),
    ("evaluation.final_response_match_v1", "RougeEvaluator"),
    ("evaluation.local_eval_service", "LocalEvalService"),
    ("evaluation.eval_config", "append_default_efficiency_metrics"),
    ("evaluation.eval_case", "get_all_usage_metadata"),
    ("evaluation.simulation.user_simulator_personas", "UserPersonaRegistry.register_persona"),
    ("evaluation.simulation.user_simulator", "UserSimulator"),
    ("evaluation.simulation.user_simulator", "UserSimulator.get_next_user_message"),
    ("evaluation.simulation.user_simulator", "register_user_simulator"),
    ("evaluation.simulation.static_user_simulator", "StaticUserSimulator"),
    ("evaluation.simulation.llm_backed_user_simulator", "LlmBackedUserSimulator"),
    ("evaluation.simulation.user_simulator_provider", "UserSimulatorProvider"),
    ("evaluation.simulation.user_simulator_provider", "UserSimulatorProvider.provide"),
    ("evaluation.simulation.pre_built_personas", "get_default_persona_registry"),
    ("cli.cli_eval", "parse_and_get_evals_to_run"),
]


OTHER_DEFAULTS = {"print_detailed_results": False}
"""docs/explanation/differences-from-adk.md: the message of a failure has the evidence; the tables are printed on request."""


def found(module: ModuleType, path: str) -> Any:
    thing: Any = module
    for step in path.split("."):
        thing = getattr(thing, step)
    return thing


@pytest.mark.needs_adk
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("module", "path"), SAME_CALLS, ids=[path for _, path in SAME_CALLS])
def test_calls_take_what_google_adks_take(module: str, path: str) -> None:
    """The same parameters in the same order, as far as there; more may follow. Plain defaults are equal."""
    if not importable(module.rpartition(".")[2]):
        return
    theirs = inspect.signature(found(import_module(f"google.adk.{module}"), path)).parameters
    ours = inspect.signature(found(import_module(PREFIX + module), path)).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    for name, parameter in theirs.items():
        default = parameter.default
        if default is not parameter.empty and isinstance(default, int | float | str | bool | None):
            assert ours[name].default == OTHER_DEFAULTS.get(name, default), name


def test_the_personas_are_those_that_a_file_may_name() -> None:
    registry = get_default_persona_registry()
    assert [one.id for one in registry.get_registered_personas()][:3] == ["EXPERT", "NOVICE", "EVALUATOR"]
    assert registry.get_persona("NOVICE").id == "NOVICE"
    own = UserPersonaRegistry()
    for empty_handed in (registry, own):
        with pytest.raises(NotFoundError, match="no persona 'NOBODY'"):
            empty_handed.get_persona("NOBODY")
    own.register_persona("MINE", registry.get_persona("NOVICE"))
    assert own.get_registered_personas() == [registry.get_persona("NOVICE")]


JUDGED = [
    ("final_response_match_v2", "FinalResponseMatchV2Evaluator"),
    ("hallucinations_v1", "HallucinationsV1Evaluator"),
    ("multi_turn_task_success_evaluator", "MultiTurnTaskSuccessV1Evaluator"),
    ("multi_turn_tool_use_quality_evaluator", "MultiTurnToolUseQualityV1Evaluator"),
    ("multi_turn_trajectory_quality_evaluator", "MultiTurnTrajectoryQualityV1Evaluator"),
    ("rubric_based_final_response_quality_v1", "RubricBasedFinalResponseQualityV1Evaluator"),
    ("rubric_based_multi_turn_trajectory_evaluator", "RubricBasedMultiTurnTrajectoryEvaluator"),
    ("rubric_based_tool_use_quality_v1", "RubricBasedToolUseV1Evaluator"),
    ("safety_evaluator", "SafetyEvaluatorV1"),
    ("simulation.per_turn_user_simulator_quality_v1", "PerTurnUserSimulatorQualityV1"),
]


@pytest.mark.parametrize(("module", "name"), JUDGED, ids=[name for _, name in JUDGED])
def test_evaluators_with_a_model_use_our_judge(module: str, name: str) -> None:
    evaluator = getattr(import_module(f"{PREFIX}evaluation.{module}"), name)
    assert "judge" in METRICS.get(evaluator.metric_name).facts.needs
    with pytest.raises(ValueError, match="either eval_metric or threshold"):
        evaluator()


def test_selectors_are_read_as_there(shared: Path) -> None:
    for vector in golden(shared, "eval_selectors.json", 25)["vectors"]:
        assert parse_and_get_evals_to_run(vector["input"]) == vector["result"]["ok"]


# --- what is not mirrored -------------------------------------------------------------------------------------------


@pytest.mark.needs_adk
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["sessions", "tools", "agents.llm_agent", "artifacts", "sessions.in_memory_session_service"]
)
def test_other_modules_are_google_adks_own(name: str) -> None:
    ours, theirs = import_module(PREFIX + name), import_module(f"google.adk.{name}")
    assert ours is theirs
    assert theirs.__spec__ is not None
    assert theirs.__spec__.name == theirs.__name__ == f"google.adk.{name}"


@pytest.mark.parametrize(
    "name",
    [
        "evaluation.no_such_module",
        "evaluation.simulation.no_such",
        pytest.param(
            "evaluation.evaluation_generator", marks=pytest.mark.needs_adk
        ),  # google-adk has this one
    ],
)
def test_an_evaluation_module_that_is_not_mirrored_is_missed(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=name):
        import_module(PREFIX + name)


WITHOUT = """
import sys
sys.modules["google.adk"] = None  # as where it is not installed
{line}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import proctor.compat.adk.tools", "pip install 'proctor[adk]'"),
        ("from proctor.compat.adk.agents import LlmAgent", "cannot import name 'LlmAgent'"),
        ("from proctor.compat.adk.agents import common_configs", ""),
        ("from proctor.compat.adk.evaluation import AgentEvaluator", ""),
    ],
)
def test_without_google_adk(line: str, message: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(line=line)], capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) is (message == ""), done.stderr
    assert message in done.stderr
