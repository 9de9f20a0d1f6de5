"""The metrics `multi_turn_task_success_v1`, `multi_turn_trajectory_quality_v1` and `multi_turn_tool_use_quality_v1`."""

from __future__ import annotations

from proctor.metrics.base import MetricFacts
from proctor.metrics.judged.base import ConversationMetric

_NEEDS = frozenset({"judge"})
_SOURCE = (
    "Proctor's own points for google-adk's metric of this name, which is computed by a model of Vertex AI"
)


class TaskSuccess(ConversationMetric):
    """1 if the user's goal in the conversation was reached, else 0.

    Judge-based here; in google-adk a model of Google's evaluation service, so numbers need not agree.
    """

    facts: MetricFacts = MetricFacts(
        name="multi_turn_task_success_v1",
        description="Whether the user's goal was reached, by a judge model (google-adk asks Google's service).",
        kind="judge",
        default_threshold=1.0,
        needs=_NEEDS,
        source=_SOURCE,
    )
    points = ("task_done",)


class TrajectoryQuality(ConversationMetric):
    """The share of five points about the agent's steps in the conversation that hold.

    Judge-based here; in google-adk a model of Google's evaluation service, so numbers need not agree.
    """

    facts: MetricFacts = MetricFacts(
        name="multi_turn_trajectory_quality_v1",
        description="The quality of the agent's steps in the conversation, by a judge model (google-adk asks Google's service).",
        kind="judge",
        default_threshold=0.8,
        needs=_NEEDS,
        source=_SOURCE,
    )
    points = ("to_the_goal", "in_order", "remembers", "recovers", "within_its_instructions")


class ToolUseQuality(ConversationMetric):
    """The share of five points about the agent's tool calls in the conversation that hold.

    Judge-based here; in google-adk a model of Google's evaluation service, so numbers need not agree.
    """

    facts: MetricFacts = MetricFacts(
        name="multi_turn_tool_use_quality_v1",
        description="The quality of the agent's tool use in the conversation, by a judge model (google-adk asks Google's service).",
        kind="judge",
        default_threshold=0.8,
        needs=_NEEDS,
        source=_SOURCE,
    )
    points = ("right_tools", "right_arguments", "nothing_left_out", "nothing_needless", "results_used")
