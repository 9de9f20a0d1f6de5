"""The table of built-in metrics: name -> where it lives. Importing it loads none of them.

ADK's names stand in ADK's order; `final_session_state` is ours.
"""

from __future__ import annotations

METRICS: dict[str, str] = {
    "tool_trajectory_avg_score": "proctor.metrics.tool_trajectory:ToolTrajectory",
    "response_evaluation_score": "proctor.metrics.unavailable:ResponseEvaluation",
    "response_match_score": "proctor.metrics.response_match:ResponseMatch",
    "safety_v1": "proctor.metrics.unavailable:Safety",
    "multi_turn_task_success_v1": "proctor.metrics.unavailable:MultiTurnTaskSuccess",
    "multi_turn_trajectory_quality_v1": "proctor.metrics.unavailable:MultiTurnTrajectoryQuality",
    "multi_turn_tool_use_quality_v1": "proctor.metrics.unavailable:MultiTurnToolUseQuality",
    "final_response_match_v2": "proctor.metrics.unavailable:FinalResponseMatch",
    "rubric_based_final_response_quality_v1": "proctor.metrics.unavailable:RubricFinalResponse",
    "hallucinations_v1": "proctor.metrics.unavailable:Hallucinations",
    "rubric_based_tool_use_quality_v1": "proctor.metrics.unavailable:RubricToolUse",
    "per_turn_user_simulator_quality_v1": "proctor.metrics.unavailable:UserSimulatorQuality",
    "rubric_based_multi_turn_trajectory_quality_v1": "proctor.metrics.unavailable:RubricMultiTurnTrajectory",
    "tool_call_count_v1": "proctor.metrics.efficiency:ToolCallCount",
    "inference_call_count_v1": "proctor.metrics.efficiency:InferenceCallCount",
    "token_usage_v1": "proctor.metrics.efficiency:TokenUsage",
    "invocation_duration_v1": "proctor.metrics.efficiency:InvocationDuration",
    "final_session_state": "proctor.metrics.final_session_state:FinalSessionState",
    "rouge_1": "proctor.metrics.text.rouge_scores:Rouge1",
    "rouge_2": "proctor.metrics.text.rouge_scores:Rouge2",
    "rouge_l": "proctor.metrics.text.rouge_scores:RougeL",
    "final_response_match_v1": "proctor.metrics.text.token_match:FinalResponseMatch",
    "token_set_f1": "proctor.metrics.text.token_match:TokenSetF1",
    "exact_match": "proctor.metrics.text.exact_match:ExactMatch",
    "contains": "proctor.metrics.text.contains:Contains",
    "regex_match": "proctor.metrics.text.regex_match:RegexMatch",
    "json_equal": "proctor.metrics.text.json_equal:JsonEqual",
    "numeric_match": "proctor.metrics.text.numeric_match:NumericMatch",
    "edit_similarity": "proctor.metrics.text.edit_similarity:EditSimilarity",
}
