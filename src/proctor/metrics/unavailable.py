"""Metrics that google-adk has and this build only knows by name.

A config that names one is understood and refused before anything runs, with the reason; it is never skipped in
silence. `--no-judge` leaves out those that ask a model.
"""

from __future__ import annotations

from typing import ClassVar

from proctor.errors import CriterionError
from proctor.metrics.base import CaseView, MetricFacts
from proctor.schema.criterion import BaseCriterion
from proctor.schema.score import MetricScore

NEEDS_JUDGES = "it asks a language model, and judges are not in this build"
NEEDS_SERVICE = "it is computed by a model in Google's evaluation service, which is not in this build"


class _Unavailable:
    facts: ClassVar[MetricFacts]

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        raise CriterionError(f"The metric {self.facts.name!r} cannot run: {self.facts.unavailable}.")

    def score(self, case: CaseView) -> MetricScore:
        """Never reached: there is no instance."""
        raise NotImplementedError(case.eval_id)


def _judge(name: str, description: str, *needs: str) -> MetricFacts:
    return MetricFacts(
        name=name,
        description=description,
        kind="judge",
        needs=frozenset({"judge", *needs}),
        source="google-adk's metric of this name",
        unavailable=NEEDS_JUDGES,
    )


def _service(
    name: str, description: str, *needs: str, minimum: float = 0.0, maximum: float = 1.0
) -> MetricFacts:
    return MetricFacts(
        name=name,
        description=description,
        kind="judge",
        minimum=minimum,
        maximum=maximum,
        needs=frozenset({"judge", *needs}),
        source="google-adk's metric of this name",
        unavailable=NEEDS_SERVICE,
    )


class ResponseEvaluation(_Unavailable):
    """Coherence of the final answers, 1 to 5."""

    facts = _service(
        "response_evaluation_score", "Coherence of the final answers.", "expected", minimum=1.0, maximum=5.0
    )


class Safety(_Unavailable):
    """Harmlessness of the final answers."""

    facts = _service("safety_v1", "Harmlessness of the final answers.")


class MultiTurnTaskSuccess(_Unavailable):
    """Whether the conversation reached its goal."""

    facts = _service("multi_turn_task_success_v1", "Whether the conversation reached its goal.")


class MultiTurnTrajectoryQuality(_Unavailable):
    """Quality of the way through the whole conversation."""

    facts = _service("multi_turn_trajectory_quality_v1", "Quality of the way through the whole conversation.")


class MultiTurnToolUseQuality(_Unavailable):
    """Quality of the tool calls of the whole conversation."""

    facts = _service("multi_turn_tool_use_quality_v1", "Quality of the tool calls of the whole conversation.")


class FinalResponseMatch(_Unavailable):
    """Whether a judge finds the final answers valid, given the reference answers."""

    facts = _judge(
        "final_response_match_v2", "A judge compares the final answers with the references.", "expected"
    )


class RubricFinalResponse(_Unavailable):
    """The share of rubrics that the final answers fulfil."""

    facts = _judge(
        "rubric_based_final_response_quality_v1", "Rubrics that the final answers fulfil.", "rubrics"
    )


class Hallucinations(_Unavailable):
    """The share of sentences that the context supports."""

    facts = _judge("hallucinations_v1", "Sentences of the answers that the context supports.")


class RubricToolUse(_Unavailable):
    """The share of rubrics that the tool calls fulfil."""

    facts = _judge("rubric_based_tool_use_quality_v1", "Rubrics that the tool calls fulfil.", "rubrics")


class UserSimulatorQuality(_Unavailable):
    """Whether the played user kept to its plan."""

    facts = _judge(
        "per_turn_user_simulator_quality_v1", "Turns in which the played user kept to its plan.", "scenario"
    )


class RubricMultiTurnTrajectory(_Unavailable):
    """The share of rubrics that the whole conversation fulfils."""

    facts = _judge(
        "rubric_based_multi_turn_trajectory_quality_v1",
        "Rubrics that the whole conversation fulfils.",
        "rubrics",
    )
