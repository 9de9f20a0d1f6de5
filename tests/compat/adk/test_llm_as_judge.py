"""Judges of one's own: subclasses of `LlmAsJudge` and `RubricBasedEvaluator`, written as for google-adk, with scripted models."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.common.registry import METRICS
from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator
from proctor.compat.adk.evaluation.eval_case import Invocation
from proctor.compat.adk.evaluation.eval_metrics import (
    BaseCriterion,
    EvalMetric,
    EvalStatus,
    Interval,
    LlmAsAJudgeCriterion,
    MetricInfo,
    MetricValueInfo,
    RubricsBasedCriterion,
)
from proctor.compat.adk.evaluation.eval_rubrics import Rubric, RubricScore
from proctor.compat.adk.evaluation.evaluator import EvaluationResult, PerInvocationResult
from proctor.compat.adk.evaluation.llm_as_judge import AutoRaterScore, LlmAsJudge, LlmResponse
from proctor.compat.adk.evaluation.llm_as_judge_utils import (
    Label,
    get_average_rubric_score,
    get_eval_status,
    get_text_from_content,
    get_tool_calls_and_responses_as_json_str,
    get_tool_declarations_as_json_str,
)
from proctor.compat.adk.evaluation.metric_evaluator_registry import DEFAULT_METRIC_EVALUATOR_REGISTRY
from proctor.compat.adk.evaluation.rubric_based_evaluator import (
    DefaultAutoRaterResponseParser,
    MajorityVotePerInvocationResultsAggregator,
    RubricBasedEvaluator,
)


class Politeness(LlmAsJudge[LlmAsAJudgeCriterion]):
    """Asks whether the answer is polite."""

    def __init__(self, eval_metric: EvalMetric) -> None:
        super().__init__(eval_metric, LlmAsAJudgeCriterion)

    def format_auto_rater_prompt(self, actual: Invocation, expected: Invocation | None) -> str:
        wanted = "nothing" if expected is None else get_text_from_content(expected.final_response)
        return f"Is {get_text_from_content(actual.final_response)!r} polite? Reference: {wanted}"

    def convert_auto_rater_response_to_score(self, auto_rater_response: LlmResponse) -> AutoRaterScore:
        text = get_text_from_content(auto_rater_response.content) or ""
        if Label.INVALID.value in text:
            return AutoRaterScore(score=0.0)
        return AutoRaterScore(score=1.0 if Label.VALID.value in text else None)

    def aggregate_per_invocation_samples(
        self, per_invocation_samples: list[PerInvocationResult]
    ) -> PerInvocationResult:
        passed = [one for one in per_invocation_samples if one.eval_status == EvalStatus.PASSED]
        failed = [one for one in per_invocation_samples if one.eval_status == EvalStatus.FAILED]
        return (
            (passed or per_invocation_samples)[0]
            if len(passed) > len(failed)
            else (failed or per_invocation_samples)[0]
        )

    def aggregate_invocation_results(
        self, per_invocation_results: list[PerInvocationResult]
    ) -> EvaluationResult:
        scores = [one.score for one in per_invocation_results if one.score is not None]
        overall = sum(scores) / len(scores) if scores else None
        return EvaluationResult(
            overall_score=overall,
            overall_eval_status=get_eval_status(overall, self._threshold),
            per_invocation_results=per_invocation_results,
        )


class Strict(Politeness):
    """The same, with a reference."""

    def __init__(self, eval_metric: EvalMetric) -> None:
        LlmAsJudge.__init__(self, eval_metric, LlmAsAJudgeCriterion, expected_invocations_required=True)


class Checklist(RubricBasedEvaluator):
    """Asks about rubrics, those of the case with the type MANNERS."""

    def __init__(self, eval_metric: EvalMetric) -> None:
        super().__init__(eval_metric, RubricsBasedCriterion, rubric_type="MANNERS")

    def format_auto_rater_prompt(self, actual: Invocation, expected: Invocation | None) -> str:
        self.create_effective_rubrics_list(actual.rubrics)
        rubrics = [
            f"{r.rubric_id}: {r.rubric_content.text_property}" for r in self.get_effective_rubrics_list()
        ]
        return f"{get_text_from_content(actual.final_response)}\n" + "\n".join(rubrics)


def content(text: str) -> dict[str, Any]:
    return {"role": "model", "parts": [{"text": text}]}


def turns(*texts: str) -> list[Invocation]:
    return [Invocation(user_content=content("hi"), final_response=content(text)) for text in texts]


def metric(criterion: BaseCriterion | None, name: str = "politeness") -> EvalMetric:
    return EvalMetric(metric_name=name, criterion=criterion)


def scripted(tmp_path: Path, answers: dict[str, str]) -> str:
    """Return the name of a model that answers by what the prompt contains."""
    file = tmp_path / "judge.json"
    script = [{"when": text, "say": answer} for text, answer in answers.items()]
    file.write_text(json.dumps(script), encoding="utf-8")
    return f"scripted:{file}"


# --- standalone ------------------------------------------------------------------------------------------------------


def criterion(tmp_path: Path, script: dict[str, str], **options: Any) -> LlmAsAJudgeCriterion:
    options = {"judge_model": scripted(tmp_path, script), **options}
    return LlmAsAJudgeCriterion(threshold=0.5, judge_model_options=options)


def test_each_invocation_is_asked_about_as_often_as_the_criterion_requires(tmp_path: Path) -> None:
    script = {"'Hello.'": "valid", "'Go away.'": "invalid"}
    judge = Politeness(metric(criterion(tmp_path, script, num_samples=3)))
    result = asyncio.run(judge.evaluate_invocations(turns("Hello.", "Go away.")))
    assert [one.score for one in result.per_invocation_results] == [1.0, 0.0]
    assert [one.eval_status for one in result.per_invocation_results] == [
        EvalStatus.PASSED,
        EvalStatus.FAILED,
    ]
    assert (result.overall_score, result.overall_eval_status) == (0.5, EvalStatus.PASSED)


def test_an_invocation_with_a_sample_that_has_no_answer_is_not_evaluated(tmp_path: Path) -> None:
    script = {"'Hello.'": "valid"}  # the other prompt has no answer
    judge = Politeness(metric(criterion(tmp_path, script, num_samples=2)))
    result = asyncio.run(judge.evaluate_invocations(turns("Hello.", "Go away.")))
    assert [one.eval_status.name for one in result.per_invocation_results] == ["PASSED", "NOT_EVALUATED"]


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ValueError, match="politeness: expected a criterion of the type LlmAsAJudgeCriterion, got none"
    ):
        Politeness(metric(None))
    with pytest.raises(ValueError, match="expected a criterion of the type LlmAsAJudgeCriterion"):
        Politeness(metric(BaseCriterion(threshold=1.0, judge_model_options={"num_samples": 0})))
    judge = Strict(metric(criterion(tmp_path, {"polite": "valid"})))
    with pytest.raises(ValueError, match="politeness needs expected_invocations"):
        asyncio.run(judge.evaluate_invocations(turns("Hello.")))
    with pytest.raises(ValueError, match="got 2 and 1"):
        asyncio.run(judge.evaluate_invocations(turns("Hello."), turns("a", "b")))
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    options = {"judge_model": "nothing-known"}
    unknown = Politeness(metric(LlmAsAJudgeCriterion(threshold=1.0, judge_model_options=options)))
    with pytest.raises(ValueError, match="No model is called 'nothing-known'"):
        asyncio.run(unknown.evaluate_invocations(turns("Hello.")))
    assert asyncio.run(judge.evaluate_invocations([], [])) == EvaluationResult()


def test_a_class_without_the_methods_cannot_be_made() -> None:
    class Half(LlmAsJudge[LlmAsAJudgeCriterion]):
        def format_auto_rater_prompt(self, actual: Invocation, expected: Invocation | None) -> str:
            return ""

    with pytest.raises(TypeError, match="abstract"):
        Half(metric(LlmAsAJudgeCriterion(threshold=1.0)), LlmAsAJudgeCriterion)  # type: ignore[abstract]  # that is what is tested


# --- within a run ----------------------------------------------------------------------------------------------------


@pytest.fixture
def register() -> Iterator[Callable[[str, type[Any]], None]]:
    names = []

    def add(name: str, evaluator: type[Any]) -> None:
        unit = MetricValueInfo(interval=Interval(min_value=0.0, max_value=1.0))
        info = MetricInfo(metric_name=name, metric_value_info=unit)
        DEFAULT_METRIC_EVALUATOR_REGISTRY.register_evaluator(info, evaluator)
        names.append(name)

    yield add
    for name in names:
        METRICS.remove(name)
        DEFAULT_METRIC_EVALUATOR_REGISTRY._own.pop(name)


def eval_set(*answers: str, **case: Any) -> dict[str, Any]:
    conversation = [
        {"user_content": {"role": "user", "parts": [{"text": text}]}, "final_response": content(text)}
        for text in answers
    ]
    return {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": conversation, **case}]}


def repeat(text: str) -> str:
    return text


Register = Callable[[str, type[Any]], None]


@pytest.mark.parametrize(
    ("answer", "outcome"), [("valid", "passed"), ("invalid", "failed"), ("perhaps", "error"), ("", "error")]
)
def test_the_judge_of_the_run_decides(register: Register, answer: str, outcome: str) -> None:
    register("politeness", Politeness)
    asked = []

    async def judge(messages: Any) -> str:
        asked.append([message.text for message in messages])
        return answer

    config = {"criteria": {"politeness": {"threshold": 0.5, "judge_model_options": {"num_samples": 3}}}}
    result = proctor.evaluate_sync(repeat, eval_set("Hello."), config=config, judge=judge)
    assert result.outcome.value == outcome
    assert asked == [["Is 'Hello.' polite? Reference: Hello."]] * 3


def test_a_turn_that_the_judge_cannot_decide_is_an_error_and_not_left_out(register: Register) -> None:
    """google-adk takes the mean of the other turns, which would pass."""
    register("politeness", Politeness)

    async def judge(messages: Any) -> str:
        if "Go away." in messages[-1].text:
            raise RuntimeError("out of order")
        return "valid"

    config = {"criteria": {"politeness": 0.5}}
    result = proctor.evaluate_sync(repeat, eval_set("Hello.", "Go away."), config=config, judge=judge)
    assert result.outcome.value == "error"
    failure = result.cases[0].metrics["politeness"].failure
    assert failure is not None
    assert "the judge could not decide (turn 2)" in failure.message
    assert "out of order" in failure.message


def test_it_is_left_out_and_capped_as_every_judge(register: Register) -> None:
    register("politeness", Politeness)
    config = {"criteria": {"politeness": 0.5, "response_match_score": 0.8}}
    left_out = proctor.evaluate_sync(repeat, eval_set("Hello."), config=config, no_judge=True)
    assert (left_out.outcome.value, [*left_out.cases[0].metrics][:1]) == ("passed", ["response_match_score"])
    capped = proctor.evaluate_sync(
        repeat, eval_set("Hello."), config=config, judge=lambda messages: "valid", max_judge_calls=2
    )
    assert capped.cases[0].metrics["politeness"].outcome.value == "error"


@pytest.mark.slow
def test_a_judge_without_a_key_is_a_configuration_error(
    register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("anthropic")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    register("politeness", Politeness)
    called: list[str] = []
    with pytest.raises(proctor.SetupProblems, match="ANTHROPIC_API_KEY is not set"):
        proctor.evaluate_sync(
            called.append,
            eval_set("Hello."),
            config={"criteria": {"politeness": 0.5}},
            judge="claude-opus-4-8",
        )
    assert called == []


def test_agent_evaluator_asks_the_model_of_the_criterion(register: Register, tmp_path: Path) -> None:
    register("strict", Strict)
    script = {"'Hello.'": "valid", "'Go away.'": "invalid"}
    criteria = {"strict": criterion(tmp_path, script)}
    assert AgentEvaluator.evaluate_eval_set(repeat, eval_set("Hello."), criteria, num_runs=1).passed
    with pytest.raises(AssertionError, match=r"strict for repeat Failed\. Expected 0\.5, but got 0\.0"):
        AgentEvaluator.evaluate_eval_set(repeat, eval_set("Go away."), criteria, num_runs=1)


# --- rubrics ---------------------------------------------------------------------------------------------------------


def rubric(rubric_id: str, text: str, kind: str | None = None) -> Rubric:
    return Rubric(rubric_id=rubric_id, rubric_content={"text_property": text}, type=kind)


def rubric_answer(**verdicts: str) -> str:
    return "\n\n".join(
        f"ID: {name}\nProperty: {name}?\nRationale: because\nVerdict: {verdict}"
        for name, verdict in verdicts.items()
    )


CHECKLIST = {"threshold": 0.6, "judge_model_options": {"num_samples": 3}}


@pytest.mark.parametrize(
    ("answer", "outcome", "score"),
    [
        (rubric_answer(greets="yes", thanks="yes"), "passed", 1.0),
        (rubric_answer(greets="yes", thanks="no"), "failed", 0.5),
        (rubric_answer(greets="yes"), "error", None),  # google-adk: 1.0, of the one that it has
        (rubric_answer(greets="yes", thanks="unclear"), "error", None),
        ("Property: greets?\nVerdict: yes", "error", None),
    ],
)
def test_rubrics_of_the_criterion_and_of_the_case(
    register: Register, answer: str, outcome: str, score: float | None
) -> None:
    register("checklist", Checklist)
    of_criterion = [rubric("greets", "It greets.").model_dump(exclude_none=True)]
    config = {"criteria": {"checklist": {**CHECKLIST, "rubrics": of_criterion}}}
    of_case = [rubric("thanks", "It thanks.", "MANNERS"), rubric("other", "Of another metric.", "OTHER")]
    cases = eval_set("Hello.", rubrics=[one.model_dump(exclude_none=True) for one in of_case])
    asked = []

    def judge(messages: Any) -> str:
        asked.append(messages[-1].text)
        return answer

    result = proctor.evaluate_sync(repeat, cases, config=config, judge=judge)
    found = result.cases[0].metrics["checklist"]
    assert (found.outcome.value, found.score) == (outcome, score)
    assert asked[0] == "Hello.\ngreets: It greets.\nthanks: It thanks."


def test_each_answer_is_read_by_the_rubrics_of_its_turn(register: Register) -> None:
    """google-adk reads all of them by those of the last turn."""
    register("checklist", Checklist)
    cases = eval_set("one", "two")
    for turn, name in zip(cases["eval_cases"][0]["conversation"], ("greets", "thanks"), strict=True):
        turn["rubrics"] = [rubric(name, f"It {name}.", "MANNERS").model_dump(exclude_none=True)]

    def judge(messages: Any) -> str:
        return (
            rubric_answer(greets="no") if "It greets." in messages[-1].text else rubric_answer(thanks="yes")
        )

    config = {"criteria": {"checklist": CHECKLIST}}
    result = proctor.evaluate_sync(repeat, cases, config=config, judge=judge)
    assert [one.score for one in result.cases[0].metrics["checklist"].per_invocation] == [0.0, 1.0]
    assert result.cases[0].metrics["checklist"].score == 0.5


def test_a_checklist_without_rubrics_and_one_with_an_id_twice_are_refused(tmp_path: Path) -> None:
    options = {"judge_model": scripted(tmp_path, {"Hello": "yes"})}
    twice = [rubric("greets", "It greets."), rubric("greets", "Again.")]
    for rubrics, message in [
        ([], "needs rubrics"),
        (twice, "two rubrics of an invocation have the id 'greets'"),
    ]:
        judge = Checklist(
            metric(
                RubricsBasedCriterion(threshold=0.5, rubrics=rubrics, judge_model_options=options),
                "checklist",
            )
        )
        with pytest.raises(ValueError, match="call create_effective_rubrics_list"):
            judge.get_effective_rubrics_list()
        with pytest.raises(ValueError, match=message):
            asyncio.run(judge.evaluate_invocations(turns("Hello.")))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (rubric_answer(a="Yes, plainly", b="no"), [("a", 1.0), ("b", 0.0)]),
        ("Property: p\nEvidence: e\nRationale: r\nVerdict: yes", [(None, 1.0)]),
        ("Property: p\nRationale: r\nVerdict: perhaps", [(None, None)]),
        ("* Property: p\nProperty: q\nEvidence and Rationale: r\n**Verdict: Yes**", [(None, 1.0)]),
        ("ID: a\nProperty: p\nRationale: r", []),
        ("Property: p\nProperty: q\nRationale: r\nVerdict: yes\nVerdict: no", []),
        (
            "Property: p\nRationale: r\nVerdict: yes\nID: b\nProperty: q\nRationale: r\nVerdict: no",
            [(None, 1.0), ("b", 0.0)],
        ),
        ("", []),
    ],
)
@pytest.mark.needs_adk
@pytest.mark.filterwarnings("ignore")
def test_answers_about_rubrics_are_read_as_in_google_adk(text: str, found: list[tuple[str, float]]) -> None:
    theirs = pytest.importorskip("google.adk.evaluation.rubric_based_evaluator")
    read = DefaultAutoRaterResponseParser().parse(text)
    assert [(one.rubric_id, one.score) for one in read] == found
    expected = theirs.DefaultAutoRaterResponseParser().parse(text)
    assert [one.model_dump() for one in read] == [one.model_dump() for one in expected]


def test_a_rubric_is_known_by_its_text_however_it_is_decorated() -> None:
    judge = Checklist(
        metric(
            RubricsBasedCriterion(threshold=0.5, rubrics=[rubric("g", "The agent\u2019s answer greets.")]),
            "c",
        )
    )
    judge.create_effective_rubrics_list(None)
    answer = 'Property: **"The agent\'s  answer GREETS."**\nRationale: r\nVerdict: yes'
    score = judge.convert_auto_rater_response_to_score(LlmResponse(content=content(answer)))
    assert [(one.rubric_id, one.score) for one in score.rubric_scores or ()] == [("g", 1.0)]


@pytest.mark.parametrize(
    ("scores", "majority"),
    [([1, 0, 1], 1.0), ([1, 0], 0.0), ([None, 1], 1.0), ([None, None], None), ([0.5, 1], 0.5)],
)
def test_samples_are_decided_by_majority_and_a_tie_is_a_no(
    scores: list[float | None], majority: float | None
) -> None:
    (turn,) = turns("Hello.")
    samples = [
        PerInvocationResult(actual_invocation=turn, rubric_scores=[RubricScore(rubric_id="r", score=score)])
        for score in scores
    ]
    assert MajorityVotePerInvocationResultsAggregator().aggregate(samples, 0.5).score == majority


# --- texts for prompts -----------------------------------------------------------------------------------------------


def test_texts_for_prompts() -> None:
    invocation = Invocation.model_validate(
        {
            "user_content": content("hi"),
            "final_response": content("done"),
            "intermediate_data": {
                "invocation_events": [
                    {"author": "a", "content": content("working")},
                    {
                        "author": "a",
                        "content": {"parts": [{"function_call": {"id": "1", "name": "f", "args": {"x": 1}}}]},
                    },
                    {
                        "author": "a",
                        "content": {
                            "parts": [{"function_response": {"id": "1", "name": "f", "response": {}}}]
                        },
                    },
                    {"author": "a", "content": {"parts": [{"function_call": {"id": "2", "name": "g"}}]}},
                ]
            },
            "app_details": {
                "agent_details": {"a": {"name": "a", "tool_declarations": [{"function_declarations": []}]}}
            },
        }
    )
    assert get_text_from_content(invocation) == "done"
    assert get_text_from_content(invocation, include_intermediate_responses_in_final=True) == "working\ndone"
    assert get_text_from_content(None) is None
    calls = json.loads(get_tool_calls_and_responses_as_json_str(invocation.intermediate_data))
    assert calls == {
        "tool_calls_and_response": [
            {
                "step": 0,
                "tool_call": {"id": "1", "args": {"x": 1}, "name": "f"},
                "tool_response": {"id": "1", "name": "f", "response": {}},
            },
            {"step": 1, "tool_call": {"id": "2", "name": "g"}, "tool_response": "None"},
        ]
    }
    assert get_tool_calls_and_responses_as_json_str(None) == "No intermediate steps were taken."
    assert invocation.app_details is not None
    tools = json.loads(get_tool_declarations_as_json_str(invocation.app_details))
    assert tools == {"tool_declarations": {"a": [{"function_declarations": []}]}}
    assert get_average_rubric_score([RubricScore(rubric_id="a", score=1), RubricScore(rubric_id="b")]) == 1.0
