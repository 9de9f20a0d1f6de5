"""Every public name of google-adk's evaluation is here, or documented as absent: a new one turns this red."""

from __future__ import annotations

import pytest

from tests.docs import adk_names

pytestmark = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]  # google-adk warns about itself


@pytest.fixture(scope="module")
def names() -> list[str]:
    pytest.importorskip("google.adk.evaluation")
    return adk_names.names()


def test_every_module_and_its_names_are_found(names: list[str]) -> None:
    assert len(names) > 500
    assert {
        "evaluation:AgentEvaluator",
        "evaluation.evaluator:EvalStatus",
        "evaluation.eval_metrics:PrebuiltMetrics.SAFETY_V1",
        "evaluation.simulation:LlmAudioUserSimulatorConfig",
        "evaluation.simulation.user_simulator_personas:UserBehavior.get_violation_rubrics_str",
        "cli.cli_eval:pretty_print_eval_result",
    } <= set(names)


def test_each_name_is_here_or_absent_for_a_reason(names: list[str]) -> None:
    assert [name for name in names if not adk_names.is_here(name) and not adk_names.reason(name)] == []


def test_each_reason_is_about_a_name_of_google_adk_that_proctor_lacks(names: list[str]) -> None:
    assert [name for name in adk_names.ABSENT if name not in names or adk_names.is_here(name)] == []


def test_the_page_has_them(names: list[str]) -> None:
    """Where it does not: make adk-names."""
    assert adk_names.PAGE.read_text(encoding="utf-8") == adk_names.page()


def test_a_new_name_would_be_missed() -> None:
    assert not adk_names.is_here("evaluation.eval_case:EvalCase.new_method")
    assert not adk_names.is_here("evaluation.new_module:NewClass")
    assert adk_names.reason("evaluation.eval_case:EvalCase.new_method") is None
