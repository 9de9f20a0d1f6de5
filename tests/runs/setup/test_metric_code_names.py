"""The manifest's name for the code of each built-in metric: moving a module does not change a metric."""

from __future__ import annotations

from importlib import import_module

import pytest

from proctor.common.registry import load_object
from proctor.metrics.builtin import METRICS
from proctor.runs.setup.manifest import FORMER_MODULES, _code_of

KEPT = {
    "contains": "proctor.metrics.text.contains.Contains",
    "edit_similarity": "proctor.metrics.text.edit_similarity.EditSimilarity",
    "exact_match": "proctor.metrics.text.exact_match.ExactMatch",
    "final_response_match_v1": "proctor.metrics.text.token_match.FinalResponseMatch",
    "final_response_match_v2": "proctor.metrics.judged.final_response_match.FinalResponseMatch",
    "final_session_state": "proctor.metrics.final_session_state.FinalSessionState",
    "graph_trajectory_strict_match": "proctor.metrics.trajectories.node_path.NodePath",
    "hallucinations_v1": "proctor.metrics.judged.hallucinations.Hallucinations",
    "inference_call_count_v1": "proctor.metrics.efficiency.InferenceCallCount",
    "intermediate_response_match": "proctor.metrics.structure.intermediate.IntermediateResponseMatch",
    "invocation_duration_v1": "proctor.metrics.efficiency.InvocationDuration",
    "json_equal": "proctor.metrics.text.json_equal.JsonEqual",
    "known_tools": "proctor.metrics.structure.known_tools.KnownTools",
    "multi_turn_task_success_v1": "proctor.metrics.judged.multi_turn.TaskSuccess",
    "multi_turn_tool_use_quality_v1": "proctor.metrics.judged.multi_turn.ToolUseQuality",
    "multi_turn_trajectory_quality_v1": "proctor.metrics.judged.multi_turn.TrajectoryQuality",
    "numeric_match": "proctor.metrics.text.numeric_match.NumericMatch",
    "per_turn_user_simulator_quality_v1": "proctor.metrics.judged.user_simulator.UserSimulatorQuality",
    "regex_match": "proctor.metrics.text.regex_match.RegexMatch",
    "response_evaluation_score": "proctor.metrics.judged.response_evaluation.ResponseEvaluation",
    "response_match_score": "proctor.metrics.response_match.ResponseMatch",
    "response_schema": "proctor.metrics.structure.response_schema.ResponseSchema",
    "rouge_1": "proctor.metrics.text.rouge_scores.Rouge1",
    "rouge_2": "proctor.metrics.text.rouge_scores.Rouge2",
    "rouge_l": "proctor.metrics.text.rouge_scores.RougeL",
    "rubric_based_final_response_quality_v1": "proctor.metrics.judged.rubric_final_response.RubricFinalResponse",
    "rubric_based_multi_turn_trajectory_quality_v1": "proctor.metrics.judged.rubric_trajectory.RubricTrajectory",
    "rubric_based_tool_use_quality_v1": "proctor.metrics.judged.rubric_tool_use.RubricToolUse",
    "safety_v1": "proctor.metrics.judged.safety.Safety",
    "token_set_f1": "proctor.metrics.text.token_match.TokenSetF1",
    "token_usage_v1": "proctor.metrics.efficiency.TokenUsage",
    "tool_call_count_v1": "proctor.metrics.efficiency.ToolCallCount",
    "tool_expectations": "proctor.metrics.expectations.tool_expectations.ToolExpectations",
    "tool_schema": "proctor.metrics.structure.tool_schema.ToolSchema",
    "tool_trajectory_avg_score": "proctor.metrics.tool_trajectory.ToolTrajectory",
    "trajectory_any_order_match": "proctor.metrics.trajectories.classic.AnyOrderMatch",
    "trajectory_exact_match": "proctor.metrics.trajectories.classic.ExactMatch",
    "trajectory_f1": "proctor.metrics.trajectories.classic.F1",
    "trajectory_in_order_match": "proctor.metrics.trajectories.classic.InOrderMatch",
    "trajectory_precision": "proctor.metrics.trajectories.classic.Precision",
    "trajectory_recall": "proctor.metrics.trajectories.classic.Recall",
    "trajectory_rules": "proctor.metrics.rules.trajectory_rules.TrajectoryRules",
    "trajectory_single_tool_use": "proctor.metrics.trajectories.single_tool_use.SingleToolUse",
    "trajectory_strict_match": "proctor.metrics.trajectories.strict.Strict",
    "trajectory_subset_match": "proctor.metrics.trajectories.relations.Subset",
    "trajectory_superset_match": "proctor.metrics.trajectories.relations.Superset",
    "trajectory_unordered_match": "proctor.metrics.trajectories.relations.Unordered",
    "user_simulator_faults_v1": "proctor.metrics.judged.user_simulator_faults.UserSimulatorFaults",
    "weighted": "proctor.metrics.weighted.Weighted",
}
"""The names in the stores and baselines that users have: an entry never changes. A metric that moves gets a line in `FORMER_MODULES`."""


@pytest.mark.parametrize("name", METRICS)
def test_the_code_of_a_metric_has_the_name_that_stores_have(name: str) -> None:
    kind = load_object(METRICS[name])
    metric = kind.__new__(kind)
    assert name in KEPT, f"{name} is new: add `{_code_of(metric)}` to KEPT"
    assert _code_of(metric) == KEPT[name], "stores have the name in KEPT: add the module to FORMER_MODULES"


@pytest.mark.parametrize("module", FORMER_MODULES)
def test_a_former_module_is_that_of_a_present_one(module: str) -> None:
    assert import_module(module).__name__ == module
