"""A criterion that does not fit its metric is a set-up error that names everything wrong in it."""

from typing import Any

import pytest

from proctor.common.registry import METRICS
from proctor.errors import CriterionError
from proctor.metrics.base import MetricFacts
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.final_session_state import FinalSessionState
from proctor.metrics.text.response_match import ResponseMatch
from proctor.metrics.trajectory.tool_trajectory import ToolTrajectory
from proctor.schema.format.criterion import BaseCriterion, ToolTrajectoryCriterion


def criterion(**values: Any) -> BaseCriterion:
    return BaseCriterion.model_validate({"threshold": 0.5, **values})


@pytest.mark.parametrize(
    ("metric", "values", "message"),
    [
        (ToolTrajectory, {"match_typ": "EXACT"}, r"unknown option 'match_typ'\. Did you mean 'match_type'\?"),
        (
            ToolTrajectory,
            {"appliesTo": "recorded"},
            r"unknown option 'appliesTo'\. Did you mean 'applies_to'\?",
        ),
        (ResponseMatch, {"match_type": "EXACT"}, r"unknown option 'match_type'\."),
        (
            ResponseMatch,
            {"weight": 0.3},
            r"unknown option 'weight'\..* It takes: aggregate, applies_to, compat, gate,",
        ),
        (ToolTrajectory, {"ignore_args": "sometimes"}, "ignore_args: Input should be a valid boolean"),
        (ResponseMatch, {"compat": "ADK 1"}, "compat: expected 'adk', got 'ADK 1'"),
        (ResponseMatch, {"threshold": 0}, r"threshold 0 cannot fail \(scores go from 0 to 1\)"),
        (ResponseMatch, {"threshold": -1}, "threshold -1 cannot fail"),
        (ResponseMatch, {"threshold": 7.0}, r"threshold 7 cannot pass \(scores go from 0 to 1\)"),
        (FinalSessionState, {"threshold": 1.01}, "threshold 1.01 cannot pass"),
    ],
)
def test_misfits(metric: Any, values: dict[str, Any], message: str) -> None:
    with pytest.raises(CriterionError, match=message):
        metric(criterion(**values))


@pytest.mark.parametrize("key", ["_comment", "_why", "description", "comment", "$comment"])
def test_display_text_is_not_an_option(key: str) -> None:
    given = criterion(**{key: "Half of the words will do."})
    assert check_criterion(ResponseMatch.facts, given, BaseCriterion).threshold == 0.5


@pytest.mark.parametrize(
    ("name", "values", "meant"),
    [
        ("tool_trajectory_avg_score", {"match_type": "IN_ODER"}, "IN_ORDER"),
        ("tool_trajectory_avg_score", {"matchType": "exakt"}, "EXACT"),
        ("tool_trajectory_avg_score", {"credit": "partal"}, "partial"),
        ("tool_trajectory_avg_score", {"reading": "adk_rs"}, "adk-rs"),
        ("trajectory_strict_match", {"args": "subset_"}, "subset"),
        ("regex_match", {"pattern": "a", "match": "fulll"}, "full"),
        ("rouge_1", {"measure": "recal"}, "recall"),
        ("exact_match", {"turns": "LAST"}, "last"),
        ("intermediate_response_match", {"text": "exct"}, "exact"),
    ],
)
def test_unknown_choice_gets_a_suggestion(name: str, values: dict[str, Any], meant: str) -> None:
    with pytest.raises(CriterionError, match=rf"Did you mean '{meant}'\?$"):
        METRICS.get(name)(criterion(**values))


def test_each_problem_names_its_option() -> None:
    with pytest.raises(CriterionError) as caught:
        ToolTrajectory(criterion(threshold=2, match_typ="EXACT", matchType="?", compat="x"))
    assert [part.partition(":")[0] for part in caught.value.parts] == [
        "match_typ", "compat", "threshold", "matchType",
    ]  # fmt: skip
    assert ".." not in str(caught.value)


def test_all_errors_are_reported_at_once() -> None:
    with pytest.raises(CriterionError) as caught:
        ToolTrajectory(criterion(threshold=2, match_typ="EXACT", match_type="?", compat="x"))
    for part in ("cannot pass", "'match_typ'", "expected EXACT", "compat"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"threshold": 1.0},
        {"threshold": 0.0, "gate": False},
        {"threshold": 5, "gate": False},
        {"gate": True, "applies_to": "recorded", "compat": "adk"},
        {"include_intermediate_responses_in_final": True},
        {"includeIntermediateResponsesInFinal": True},
        {"judge_model_options": {"judge_model": "x"}},
        {"judgeModelOptions": {}},
    ],
)
def test_common_options_fit_every_metric(values: dict[str, Any]) -> None:
    for metric in (ToolTrajectory, ResponseMatch, FinalSessionState):
        metric(criterion(**values))


def test_a_metric_without_criterion_has_its_default_threshold() -> None:
    facts = MetricFacts(name="m", description="", default_threshold=0.7)
    assert check_criterion(facts, None, ToolTrajectoryCriterion).threshold == 0.7
