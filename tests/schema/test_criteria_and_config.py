"""How metrics are configured: criteria, match types, configs, rubrics, scenarios and statuses as people write them."""

from typing import Any, TypeAlias

import pytest
from pydantic import ValidationError

from proctor.schema import (
    BaseCriterion,
    ConversationScenario,
    EvalCase,
    EvalConfig,
    EvalMetric,
    EvalMetricResult,
    EvalStatus,
    LlmAudioUserSimulatorConfig,
    LlmBackedUserSimulatorConfig,
    PrebuiltMetrics,
    Rubric,
    RubricsBasedCriterion,
    ToolTrajectoryCriterion,
    UserPersona,
    persona_ids,
    register_persona,
)
from proctor.schema.format.persona import _BUILT_IN
from tests.schema.golden import as_json

MatchType: TypeAlias = ToolTrajectoryCriterion.MatchType
MATCH_TYPES: list[tuple[Any, MatchType]] = [
    ("EXACT", MatchType.EXACT),
    ("exact", MatchType.EXACT),
    (" in_order ", MatchType.IN_ORDER),
    ("in-order", MatchType.IN_ORDER),
    ("Any Order", MatchType.ANY_ORDER),
    (0, MatchType.EXACT),
    (1, MatchType.IN_ORDER),
    (2.0, MatchType.ANY_ORDER),
    (MatchType.ANY_ORDER, MatchType.ANY_ORDER),
]


@pytest.mark.parametrize(("given", "expected"), MATCH_TYPES, ids=[repr(given) for given, _ in MATCH_TYPES])
def test_match_types_read_by_name_or_number_and_are_written_as_numbers(
    given: Any, expected: MatchType
) -> None:
    criterion = ToolTrajectoryCriterion(threshold=1, match_type=given)
    assert criterion.match_type is expected
    assert as_json(criterion)["match_type"] == expected.value


@pytest.mark.parametrize("given", ["0", "2", 3, -1, 0.5, True, False, None, "ANY", "", [1]], ids=repr)
def test_other_match_types_are_refused(given: Any) -> None:
    with pytest.raises(ValidationError, match="expected EXACT, IN_ORDER or ANY_ORDER"):
        ToolTrajectoryCriterion(threshold=1, match_type=given)


def test_criteria_are_keyed_by_members_or_by_names() -> None:
    by_member = EvalConfig(criteria={PrebuiltMetrics.SAFETY_V1: 0.5})
    by_name = EvalConfig(criteria={PrebuiltMetrics.SAFETY_V1.value: 0.5})
    assert by_member == by_name
    assert by_member.criterion_for(PrebuiltMetrics.SAFETY_V1) == by_member.criterion_for("safety_v1")
    assert list(as_json(by_member)["criteria"]) == ["safety_v1"]


def test_a_number_and_an_object_give_the_same_criterion() -> None:
    config = EvalConfig.model_validate({"criteria": {"a": 0.5, "b": {"threshold": 0.5}, "c": "0.5"}})
    assert [config.criterion_for(name) for name in "abc"] == [BaseCriterion(threshold=0.5)] * 3
    assert config.criterion_for("d") is None


def test_criteria_objects_keep_their_values() -> None:
    criterion = ToolTrajectoryCriterion(threshold=1, match_type=MatchType.IN_ORDER, mine=1)
    config = EvalConfig(criteria={"m": criterion})
    assert config.criteria["m"] is criterion
    written = {
        "threshold": 1.0,
        "include_intermediate_responses_in_final": False,
        "match_type": 1,
        "ignore_args": False,
        "mine": 1,
    }
    assert as_json(config)["criteria"]["m"] == written
    assert as_json(EvalMetric(metric_name="m", criterion=criterion))["criterion"] == written


@pytest.mark.parametrize("value", [None, {}, {"match_type": 1}, [0.5], "high", {"threshold": None}], ids=repr)
def test_what_states_no_threshold_is_refused(value: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        EvalConfig.model_validate({"criteria": {"m": value}})
    (error,) = caught.value.errors()
    assert error["loc"][:2] == ("criteria", "m")


def test_a_config_keeps_keys_that_it_does_not_know() -> None:
    document = {"criteria": {}, "criterias": {"m": 1}, "description": "x"}
    config = EvalConfig.model_validate(document)
    assert config.model_extra == {"criterias": {"m": 1}, "description": "x"}
    assert as_json(config, exclude_unset=True) == document


def test_the_default_config_judges_trajectory_and_response() -> None:
    assert EvalConfig.default().criteria == {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}
    assert EvalConfig().criteria == {}


SIMULATORS: dict[str, tuple[Any, type]] = {
    "no type": ({}, LlmBackedUserSimulatorConfig),
    "null type": ({"type": None}, LlmBackedUserSimulatorConfig),
    "llm_backed": ({"type": "llm_backed", "extra": 1}, LlmBackedUserSimulatorConfig),
    "llm_audio": ({"type": "llm_audio", "audioModel": "x"}, LlmAudioUserSimulatorConfig),
    "not stated": (None, type(None)),
}


@pytest.mark.parametrize(("value", "kind"), SIMULATORS.values(), ids=SIMULATORS)
def test_the_type_decides_the_played_user(value: Any, kind: type) -> None:
    assert type(EvalConfig.model_validate({"user_simulator_config": value}).user_simulator_config) is kind


@pytest.mark.parametrize("missing", ["stop_signal", "conversation_plan", "conversation_history"])
def test_custom_instructions_must_use_every_placeholder(missing: str) -> None:
    names = ["stop_signal", "conversation_plan", "conversation_history"]
    text = " ".join(f"{{{{{name}|upper}}}}" for name in names)
    assert LlmBackedUserSimulatorConfig(custom_instructions=text).custom_instructions == text
    with pytest.raises(ValidationError, match=missing):
        LlmBackedUserSimulatorConfig(custom_instructions=text.replace(missing, "other"))


# --- rubrics ---------------------------------------------------------------------------------------------------------


def test_a_rubric_without_id_gets_a_stable_one() -> None:
    first = Rubric(criterion="Cites a source.", points=1)
    again, other = Rubric(criterion="Cites a source.", points=2), Rubric(criterion="Is short.", points=1)
    assert first.rubric_id == again.rubric_id != other.rubric_id
    assert first.rubric_content.text_property == "Cites a source."
    assert first.model_extra == {"criterion": "Cites a source.", "points": 1}
    assert Rubric.model_validate(as_json(first)) == first


def test_what_a_short_rubric_states_itself_counts() -> None:
    rubric = Rubric(rubricId="mine", criterion="c", rubric_content={"text_property": "other"})
    assert (rubric.rubric_id, rubric.rubric_content.text_property) == ("mine", "other")
    criterion = RubricsBasedCriterion(threshold=0.8, rubrics=[Rubric(criterion="c"), {"criterion": "d"}])
    assert [rubric.rubric_content.text_property for rubric in criterion.rubrics] == ["c", "d"]


# --- cases, scenarios, personas --------------------------------------------------------------------------------------

SCENARIO = {"starting_prompt": "hi", "conversation_plan": "say hi"}


@pytest.mark.parametrize(
    ("keys", "came"),
    [
        ({}, "neither"),
        ({"conversation": None}, "neither"),
        ({"conversation": [], "conversation_scenario": SCENARIO}, "both"),
    ],
)
def test_a_case_is_recorded_or_played(keys: dict[str, Any], came: str) -> None:
    with pytest.raises(ValidationError, match=f"expected exactly one of .*, got {came}"):
        EvalCase.model_validate({"eval_id": "a", **keys})


@pytest.mark.parametrize("persona_id", ["EXPERT", "NOVICE", "EVALUATOR"])
def test_personas_are_named_by_id_and_written_expanded(persona_id: str) -> None:
    scenario = ConversationScenario.model_validate({**SCENARIO, "user_persona": persona_id})
    assert scenario.user_persona is not None
    assert scenario.user_persona.id == persona_id
    written = as_json(scenario)["user_persona"]
    assert all(behavior["behavior_instructions"] for behavior in written["behaviors"])
    assert all(behavior["violation_rubrics"] for behavior in written["behaviors"])
    assert ConversationScenario.model_validate({**SCENARIO, "user_persona": written}) == scenario


def test_an_unknown_persona_is_an_error_with_a_hint() -> None:
    with pytest.raises(ValidationError, match=r"there is no persona 'novise' .*did you mean 'NOVICE'\?"):
        ConversationScenario.model_validate({**SCENARIO, "user_persona": "novise"})


def test_own_personas_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "proctor.schema.format.persona._BUILT_IN", dict(_BUILT_IN)
    )  # other tests do not know this one
    own = UserPersona(id="HURRIED", description="In a hurry.", behaviors=[])
    register_persona(own)
    assert "HURRIED" in persona_ids()
    assert ConversationScenario.model_validate({**SCENARIO, "user_persona": "HURRIED"}).user_persona == own


# --- results ---------------------------------------------------------------------------------------------------------

STATUSES: list[tuple[Any, EvalStatus]] = [
    (1, EvalStatus.PASSED),
    (2.0, EvalStatus.FAILED),
    ("PASSED", EvalStatus.PASSED),
    ("failed", EvalStatus.FAILED),
    ("Not Evaluated", EvalStatus.NOT_EVALUATED),
    ("error", EvalStatus.NOT_EVALUATED),
    ("INFORMATIONAL", EvalStatus.INFORMATIONAL),
    (EvalStatus.FAILED, EvalStatus.FAILED),
]


@pytest.mark.parametrize(("given", "expected"), STATUSES, ids=[repr(given) for given, _ in STATUSES])
def test_statuses_read_as_numbers_or_names_and_are_written_as_numbers(
    given: Any, expected: EvalStatus
) -> None:
    result = EvalMetricResult.model_validate({"metric_name": "m", "eval_status": given})
    assert result.eval_status is expected
    assert as_json(result)["eval_status"] == expected.value


@pytest.mark.parametrize("given", [0, 5, True, "1", "OK", None, 1.5], ids=repr)
def test_other_statuses_are_refused(given: Any) -> None:
    with pytest.raises(ValidationError, match="expected a status"):
        EvalMetricResult.model_validate({"metric_name": "m", "eval_status": given})


def test_the_effective_threshold_is_the_criterions() -> None:
    criterion = BaseCriterion(threshold=0.9)
    assert EvalMetric(metric_name="m", threshold=0.1, criterion=criterion).effective_threshold == 0.9
    assert EvalMetric(metric_name="m", threshold=0.1).effective_threshold == 0.1
    with pytest.raises(ValueError, match="neither a criterion nor a threshold"):
        _ = EvalMetric(metric_name="m").effective_threshold
