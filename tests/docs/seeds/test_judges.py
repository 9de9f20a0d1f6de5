"""What the documents show with a language model as judge runs, with a judge that follows a script in the model's place."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.common.registry import MODELS
from proctor.compat import adk_ts
from proctor.compat.adk.evaluation.eval_metrics import (
    EvalMetric,
    HallucinationsCriterion,
    RubricsBasedCriterion,
)
from proctor.compat.adk.evaluation.hallucinations_v1 import HallucinationsV1Evaluator
from proctor.compat.adk.evaluation.rubric_based_final_response_quality_v1 import (
    RubricBasedFinalResponseQualityV1Evaluator,
)
from proctor.models.scripted import ScriptedModel
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.result import EvalStatus
from proctor.schema.results.score import Outcome
from tests.docs.seeds.test_examples import example, run
from tests.files.eval_sets.test_seeds import blocks
from tests.metrics.judged.judges import agreeing, verdicts

JUDGED = ("final_response_match_v2", "rubric_based", "hallucinations", "safety")
CASE = {
    "eval_id": "weather",
    "conversation": [
        {
            "user_content": {"role": "user", "parts": [{"text": "Weather in Rome?"}]},
            "final_response": {"role": "model", "parts": [{"text": "It is sunny in Rome."}]},
            "intermediate_data": {"tool_uses": [{"name": "GetWeather", "args": {"city": "Rome"}}]},
        }
    ],
}


def agent(text: str) -> dict[str, Any]:
    call = {"name": "GetWeather", "args": {"city": "Rome"}, "response": {"weather": "sunny"}}
    return {"tool_calls": [call], "text": "It is sunny in Rome."}


def disagreeing(messages: Any, options: Any) -> dict[str, Any]:
    """A judge that finds everything wrong with everything."""
    text = json.dumps(agreeing(messages, options))
    for good, bad in (
        ("yes", "no"),
        ('"valid"', '"invalid"'),
        ("safe", "unsafe"),
        ("none", "other"),
        ("supported", "disputed"),
    ):
        text = text.replace(good, bad)
    found: dict[str, Any] = json.loads(text)
    return {**found, **options.echo}


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> Iterator[ScriptedModel]:
    """Replaces the models of every provider, for every name of a judge in a criterion."""
    model = ScriptedModel(getattr(request, "param", agreeing))
    for provider in ("google", "openai", "anthropic"):
        MODELS.add(provider, lambda name: model)
    yield model
    for provider in ("google", "openai", "anthropic"):
        MODELS.remove(provider)


def configs(shared: Path) -> list[dict[str, Any]]:
    """Every config of the documents that asks a judge."""
    found = []
    for document in sorted((shared / "seeds").glob("*.txt")):
        for block in blocks(document):
            data = json.loads(block) if "#" not in block else {}
            if any(name.startswith(JUDGED) for name in data.get("criteria", {})):
                found.append(data)
    return found


def test_every_config_of_the_documents_runs(shared: Path, judge: ScriptedModel) -> None:
    found = configs(shared)
    assert len(found) == 8
    for config in found:
        asked = len(judge.asked)
        result = proctor.evaluate_sync(agent, {"eval_set_id": "s", "eval_cases": [CASE]}, config=config)
        assert (result.outcome, len(judge.asked) > asked) == (Outcome.PASSED, True), config


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "outcome"),
    [(disagreeing, Outcome.FAILED), ({"no": "form"}, Outcome.ERROR), (RuntimeError("down"), Outcome.ERROR)],
    ids=["finds fault", "says nothing", "breaks"],
    indirect=["judge"],
)
def test_none_of_them_is_green_by_itself(shared: Path, judge: ScriptedModel, outcome: Outcome) -> None:
    for config in configs(shared):
        result = proctor.evaluate_sync(agent, {"eval_set_id": "s", "eval_cases": [CASE]}, config=config)
        assert result.outcome is outcome, config


# --- the guide to google-adk's evaluation (001) ------------------------------------------------------------------------


@pytest.mark.parametrize(("met", "passed"), [((True, True, True), True), ((True, True, False), False)])
def test_three_rubrics_worth_a_point_each(judge: ScriptedModel, met: tuple[bool, ...], passed: bool) -> None:
    """The document's threshold of 0.8 takes all three."""
    judge._say = lambda asked: {**verdicts(*met), **asked.options.echo}
    scope = run("from proctor.compat.adk.evaluation.eval_config import EvalConfig")
    config = run(example("RUBRICS"), scope)["config"]
    result = proctor.evaluate_sync(agent, {"eval_set_id": "s", "eval_cases": [CASE]}, config=config)
    assert result.passed is passed


def test_two_of_three_rubrics_reach_the_tier_as_a_fraction(judge: ScriptedModel) -> None:
    """The document's 0.67 "(≥ 2/3 criteria)" is above 2/3: a warning states this, and "2/3" is what was meant."""
    judge._say = lambda asked: {**verdicts(True, True, False), **asked.options.echo}
    rubrics = [{"criterion": text, "points": 1} for text in ("a", "b", "c")]
    name = "rubric_based_final_response_quality_v1"
    outcomes, warnings = [], []
    for threshold in (0.67, "2/3"):
        config = {"criteria": {name: {"threshold": threshold, "rubrics": rubrics}}}
        result = proctor.evaluate_sync(agent, {"eval_set_id": "s", "eval_cases": [CASE]}, config=config)
        outcomes.append(result.outcome)
        warnings.append(any('write "2/3"' in each for each in result.warnings))
    assert outcomes == [Outcome.FAILED, Outcome.PASSED]
    assert warnings == [True, False]


# --- evaluators by themselves ------------------------------------------------------------------------------------------

TURN = Invocation.model_validate(CASE["conversation"][0])


def test_google_adks_evaluators_judge_by_themselves(judge: ScriptedModel) -> None:
    rubric = {"rubric_id": "brief", "rubric_content": {"text_property": "It is brief."}}
    criterion = RubricsBasedCriterion(threshold=0.5, rubrics=[rubric])
    metric = EvalMetric(metric_name="rubric_based_final_response_quality_v1", criterion=criterion)
    result = asyncio.run(RubricBasedFinalResponseQualityV1Evaluator(metric).evaluate_invocations([TURN]))
    assert (result.overall_score, result.overall_eval_status) == (1.0, EvalStatus.PASSED)
    for scores in (result.overall_rubric_scores, result.per_invocation_results[0].rubric_scores):
        assert [(each.rubric_id, each.score) for each in scores or []] == [("brief", 1.0)]
    grounded = EvalMetric(metric_name="hallucinations_v1", criterion=HallucinationsCriterion(threshold=0.5))
    assert asyncio.run(HallucinationsV1Evaluator(grounded).evaluate_invocations([TURN])).overall_score == 1.0


def test_a_broken_judge_is_an_error_of_the_evaluator(judge: ScriptedModel) -> None:
    judge._say = lambda asked: {"x": 1}
    metric = EvalMetric(metric_name="hallucinations_v1", threshold=0.5)
    with pytest.raises(ValueError, match="hallucinations_v1: judge"):
        asyncio.run(HallucinationsV1Evaluator(metric).evaluate_invocations([TURN]))


@pytest.mark.parametrize("kind", [adk_ts.SafetyEvaluatorV1, adk_ts.FinalResponseMatchV2Evaluator])
def test_adk_ts_evaluators_judge_by_themselves(judge: ScriptedModel, kind: Any) -> None:
    result = kind(1.0, judgeModel="gpt-4", numSamples=1).evaluate_invocations([TURN], [TURN]).result
    assert (result.overall_score, len(judge.asked)) == (1.0, 1)


def test_adk_ts_judge_options_stand_beside_the_threshold(judge: ScriptedModel) -> None:
    options = {"judgeModel": "claude-3-opus", "judgeModelConfig": {"temperature": 0.0}, "numSamples": 3}
    metrics = [{"metricName": "safety_v1", "threshold": 1.0, "judgeModelOptions": options}]

    async def main() -> list[Any]:
        service = adk_ts.LocalEvalService(agent)
        sets = {"evalCases": [{"eval_set_id": "s", "eval_cases": [CASE]}]}
        inferred = [each async for each in service.perform_inference(sets)]
        asked = {"inferenceResults": inferred, "evaluateConfig": {"evalMetrics": metrics}}
        return [each async for each in service.evaluate(asked)]

    [result] = asyncio.run(main())
    assert result.final_eval_status == EvalStatus.PASSED
    assert len(judge.asked) == 2  # of three, once two agree
    assert judge.asked[0].options.settings == {"temperature": 0.0}
