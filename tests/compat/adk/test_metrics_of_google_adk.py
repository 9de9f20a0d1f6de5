"""Metrics that are written against google-adk's classes run unchanged: they get its objects, and may return them."""

from __future__ import annotations

import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.common.registry import METRICS
from proctor.compat.adk.evaluation.metric_evaluator_registry import DEFAULT_METRIC_EVALUATOR_REGISTRY

pytestmark = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]  # google-adk warns about itself

_numbers = count()

SIGNATURE = "(eval_metric, actual_invocations, expected_invocations=None, conversation_scenario=None)"
RESULT = """
    per = [
        PerInvocationResult(actual_invocation=a, expected_invocation=e, score=float(s), eval_status=EvalStatus(1 if s else 2))
        for a, e, s in zip(actual_invocations, expected_invocations, same)
    ]
    overall = sum(one.score for one in per) / len(per)
    passed = overall >= eval_metric.criterion.threshold
    return EvaluationResult(overall_score=overall, overall_eval_status=EvalStatus(1 if passed else 2), per_invocation_results=per)
"""
RESULT_IMPORTS = """
from google.adk.evaluation.evaluator import EvalStatus, EvaluationResult, PerInvocationResult
"""

METRICS_OF_ADK = {
    "imports at the top": f"""
from google.adk.evaluation.eval_case import get_all_tool_calls
from google.genai import types
{RESULT_IMPORTS}
def metric{SIGNATURE}:
    wanted = [types.FunctionCall(name="book", args={{"covers": 4}})]
    same = [
        [types.FunctionCall(name=c.name, args=c.args) for c in get_all_tool_calls(a.intermediate_data)] == wanted
        for a in actual_invocations
    ]
{RESULT}""",
    "imports in the function": f"""
def metric{SIGNATURE}:
    from google.adk.evaluation.eval_case import get_all_tool_calls
    from google.adk.evaluation.evaluator import EvalStatus, EvaluationResult, PerInvocationResult
    same = [
        [c.args for c in get_all_tool_calls(a.intermediate_data)]
        == [c.args for c in get_all_tool_calls(e.intermediate_data)]
        for a, e in zip(actual_invocations, expected_invocations)
    ]
{RESULT}""",
    "modules by their names": f"""
import google.adk.evaluation.eval_case as cases
{RESULT_IMPORTS}
async def metric{SIGNATURE}:
    same = [
        len(a.intermediate_data.invocation_events) > 0
        and isinstance(a, cases.Invocation)
        and cases.get_all_tool_calls(a.intermediate_data)[0].args
        == cases.get_all_tool_calls(e.intermediate_data)[0].args
        for a, e in zip(actual_invocations, expected_invocations)
    ]
{RESULT}""",
    "a helper of the project": f"""
from google.adk.evaluation.eval_case import get_all_tool_calls

def arguments(invocation):
    return [call.args for call in get_all_tool_calls(invocation.intermediate_data)]

def equal(one, other):
    return arguments(one) == arguments(other)

def metric{SIGNATURE}:
    pairs = zip(actual_invocations, expected_invocations)
    return sum(equal(a, e) for a, e in pairs) / len(actual_invocations)
""",
    "parameters with other names": """
from google.adk.evaluation.eval_case import get_all_tool_calls

def metric(metric_config, actual, expected, scenario):
    assert scenario is None
    assert metric_config.criterion.threshold == 1.0
    pairs = zip(actual, expected)
    return all(
        [c.args for c in get_all_tool_calls(a.intermediate_data)]
        == [c.args for c in get_all_tool_calls(e.intermediate_data)]
        for a, e in pairs
    )
""",
    "types of google-genai only": f"""
from google.genai import types

def metric{SIGNATURE}:
    calls = [
        part.function_call
        for invocation in actual_invocations
        for event in invocation.intermediate_data.invocation_events
        for part in (event.content.parts if event.content else ())
        if isinstance(part.function_call, types.FunctionCall)
    ]
    return float([call.args for call in calls] == [{{"covers": 4}}])
""",
    "from google import adk": f"""
from google import adk
import google.adk.evaluation.eval_case

def metric{SIGNATURE}:
    calls = adk.evaluation.eval_case.get_all_tool_calls
    pairs = zip(actual_invocations, expected_invocations)
    return all(calls(a.intermediate_data)[0].args == calls(e.intermediate_data)[0].args for a, e in pairs)
""",
}
REWRITTEN = f"""
from google.genai import types
from proctor.compat.adk.evaluation.eval_case import get_all_tool_calls

def metric{SIGNATURE}:
    wanted = [types.FunctionCall(name="book", args={{"covers": 4}})]
    calls = [get_all_tool_calls(a.intermediate_data) for a in actual_invocations]
    for of_turn in calls:
        for call in of_turn:
            call.id = None
    return float(all(wanted == of_turn and of_turn == wanted for of_turn in calls))
"""
PARTLY_REWRITTEN = f"""
from google.adk.evaluation.evaluator import PerInvocationResult
from proctor.compat.adk.evaluation.eval_case import get_all_tool_calls
from proctor.compat.adk.evaluation.evaluator import EvalStatus, EvaluationResult

def metric{SIGNATURE}:
    same = [
        get_all_tool_calls(a.intermediate_data)[0].args == get_all_tool_calls(e.intermediate_data)[0].args
        for a, e in zip(actual_invocations, expected_invocations)
    ]
    results = [
        PerInvocationResult(actual_invocation=a, score=float(s)) for a, s in zip(actual_invocations, same)
    ]
    return EvaluationResult(overall_score=sum(same) / len(same), per_invocation_results=[r.model_dump() for r in results])
"""


def evaluate(source: str, covers: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Evaluate one case by the metric in `source`; the agent books for so many, and four are expected."""
    module = f"metrics_of_google_adk_{next(_numbers)}"
    (folder / f"{module}.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))

    def agent(text: str) -> Any:
        yield proctor.Event.called("book", {"covers": covers})
        return "Done."

    turn = {
        "user_content": {"role": "user", "parts": [{"text": "Book."}]},
        "final_response": {"role": "model", "parts": [{"text": "Done."}], "unknown_key": 1},
        "intermediate_data": {"tool_uses": [{"name": "book", "args": {"covers": 4}}]},
    }
    eval_set = {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [turn]}]}
    config = {
        "criteria": {"same_calls": {"threshold": 1.0, "my_option": {"deep": 1}}},
        "custom_metrics": {"same_calls": {"code_config": {"name": f"{module}.metric"}}},
    }
    result = proctor.evaluate_sync(agent, eval_set, config=config)
    metric = result.cases[0].metrics["same_calls"]
    assert metric.failure is None, metric.failure
    return metric.score


@pytest.mark.parametrize(
    "source",
    [*METRICS_OF_ADK.values(), REWRITTEN, PARTLY_REWRITTEN],
    ids=[*METRICS_OF_ADK, "rewritten", "partly rewritten"],
)
def test_metric_distinguishes_expected_and_actual_calls(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("google.adk.evaluation.eval_case")
    assert evaluate(source, 4, tmp_path, monkeypatch) == 1.0
    assert evaluate(source, 5, tmp_path, monkeypatch) == 0.0


def test_a_metric_written_for_proctor_gets_proctors_objects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although google-adk is loaded in this process."""
    pytest.importorskip("google.adk.evaluation.eval_case")
    source = f"""
from proctor import Invocation

def metric{SIGNATURE}:
    return all(isinstance(one, Invocation) and one.tool_calls for one in actual_invocations)
"""
    assert evaluate(source, 4, tmp_path, monkeypatch) == 1.0


@pytest.mark.parametrize(
    "parameters",
    ["metric, actual_turns, expected_turns", "one, two, three, four, five", "one, two, three, /, four"],
)
def test_other_parameters_are_refused_as_before(
    parameters: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("google.adk.evaluation.eval_case")
    source = "from google.adk.evaluation.eval_case import Invocation\n"
    source += f"def metric({parameters}):\n    return isinstance(1, Invocation)\n"
    with pytest.raises(proctor.SetupProblems, match="cannot be called"):
        evaluate(source, 4, tmp_path, monkeypatch)


@pytest.mark.slow
def test_google_adk_may_be_imported_by_the_metric_alone(tmp_path: Path) -> None:
    """In a process that has not loaded it: the metric imports it when it is called."""
    pytest.importorskip("google.adk.evaluation.eval_case")
    (tmp_path / "late.py").write_text(METRICS_OF_ADK["imports in the function"], encoding="utf-8")
    (tmp_path / "script.py").write_text(
        "import sys, proctor\n"
        "def agent(text):\n    yield proctor.Event.called('book', {'covers': 4})\n    return 'Done.'\n"
        "turn = {'user_content': {'parts': [{'text': 'Book.'}]}, 'intermediate_data': {'tool_uses': [{'name': 'book', 'args': {'covers': 4}}]}}\n"
        "config = {'criteria': {'late': 1.0}, 'custom_metrics': {'late': {'code_config': {'name': 'late.metric'}}}}\n"
        "cases = [{'eval_id': 'a', 'conversation': [turn]}]\n"
        "result = proctor.evaluate_sync(agent, {'eval_set_id': 's', 'eval_cases': cases}, config=config)\n"
        "print(result.cases[0].metrics['late'].score)\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "1.0\n", done.stderr


def test_what_a_metric_of_google_adk_gets() -> None:
    from google.adk.evaluation import (
        app_details,
        conversation_scenarios,
        eval_case,
        eval_metrics,
        eval_rubrics,
    )
    from google.genai import types

    from proctor.metrics.custom.adk_functions import to_adk
    from proctor.schema.format import case, criterion, invocation

    given = invocation.Invocation.model_validate(
        {
            "invocation_id": "i",
            "user_content": {
                "parts": [{"inlineData": {"mimeType": "image/png", "data": "-_8="}}],
                "role": "user",
            },
            "final_response": {
                "parts": [{"text": "x", "thought": True}, {"executableCode": {"language": "PYTHON"}}]
            },
            "intermediate_data": {
                "invocation_events": [
                    {
                        "author": "a",
                        "content": {
                            "parts": [{"function_call": {"name": "f", "args": {"n": None, "deep": [1]}}}]
                        },
                        "usage_metadata": {"prompt_token_count": 3},
                        "newer": 1,
                    }
                ]
            },
            "duration": 1.5,
            "rubrics": [{"rubric_id": "r", "rubric_content": {"text_property": "t"}}],
            "app_details": {
                "agent_details": {
                    "a": {
                        "name": "a",
                        "instructions": "Be.",
                        "tool_declarations": [{"function_declarations": [{"name": "f"}]}, {"odd": 1}],
                    }
                }
            },
            "my_key": 1,
        }
    )
    theirs = to_adk(given)
    assert type(theirs) is eval_case.Invocation
    assert type(theirs.user_content) is types.Content
    assert theirs.user_content.parts[0].inline_data.data == b"\xfb\xff"
    assert type(theirs.intermediate_data) is eval_case.InvocationEvents
    (call,) = eval_case.get_all_tool_calls(theirs.intermediate_data)
    assert call == types.FunctionCall(name="f", args={"n": None, "deep": [1]})
    assert eval_case.get_all_usage_metadata(theirs)[0].prompt_token_count == 3
    assert type(theirs.rubrics[0]) is eval_rubrics.Rubric
    assert type(theirs.app_details) is app_details.AppDetails
    (tool, other) = theirs.app_details.get_tools_by_agent_name()["a"]
    assert (type(tool), tool.function_declarations[0].name, other) == (types.Tool, "f", {"odd": 1})
    assert invocation.Invocation.model_validate(theirs).app_details == given.app_details
    wanted = criterion.ToolTrajectoryCriterion(threshold=0.5, match_type="IN_ORDER", mine=1)
    metric = to_adk(criterion.EvalMetric(metric_name="m", criterion=wanted))
    assert type(metric.criterion) is eval_metrics.ToolTrajectoryCriterion
    assert (metric.criterion.match_type.name, metric.criterion.mine) == ("IN_ORDER", 1)
    plan = case.ConversationScenario(starting_prompt="p", conversation_plan="q", user_persona="NOVICE")
    assert type(to_adk(plan)) is conversation_scenarios.ConversationScenario
    assert to_adk(plan).user_persona.id == "NOVICE"
    assert to_adk(None) is None
    assert to_adk([given, None])[1] is None


def test_an_evaluator_of_google_adk_can_be_registered() -> None:
    from google.adk.evaluation.eval_case import Invocation, get_all_tool_calls
    from google.adk.evaluation.eval_metrics import EvalMetric, Interval, MetricInfo, MetricValueInfo
    from google.adk.evaluation.evaluator import EvaluationResult, Evaluator, PerInvocationResult

    seen = []

    class Calls(Evaluator):
        def __init__(self, eval_metric: EvalMetric) -> None:
            seen.append(type(eval_metric))

        def evaluate_invocations(
            self, actual_invocations: Any, expected_invocations: Any = None, conversation_scenario: Any = None
        ) -> EvaluationResult:
            results = [
                PerInvocationResult(
                    actual_invocation=one, score=float(len(get_all_tool_calls(one.intermediate_data)) == 1)
                )
                for one in actual_invocations
            ]
            seen.append(type(actual_invocations[0]))
            return EvaluationResult(overall_score=results[0].score, per_invocation_results=results)

    info = MetricInfo(
        metric_name="one_call", metric_value_info=MetricValueInfo(interval=Interval(min_value=0, max_value=1))
    )
    DEFAULT_METRIC_EVALUATOR_REGISTRY.register_evaluator(info, Calls)
    try:

        def agent(text: str) -> Any:
            yield proctor.Event.called("book", {})
            return "Done."

        case = {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "Book."}]}}]}
        eval_set = {"eval_set_id": "s", "eval_cases": [case]}
        result = proctor.evaluate_sync(agent, eval_set, config={"criteria": {"one_call": 1.0}})
    finally:
        METRICS.remove("one_call")
        DEFAULT_METRIC_EVALUATOR_REGISTRY._own.pop("one_call")
    assert result.cases[0].metrics["one_call"].score == 1.0
    assert set(seen) == {EvalMetric, Invocation}
