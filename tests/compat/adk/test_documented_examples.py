"""The examples of the guides to google-adk's evaluation, with only their import lines changed.

Their pages glued lines together: they are typed here as they read. Each runs with `types` of Proctor and, where it is
installed, with those of google-genai. What the agents answer is ours.
"""

import asyncio
import inspect
import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

AS_TYPED = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""Examples that leave a file open."""

TYPES = {
    "proctor": "from proctor import types",
    "google-genai": "from google.genai import types",
}


@pytest.fixture(params=["proctor", pytest.param("google-genai", marks=pytest.mark.needs_adk)])
def types_line(request: pytest.FixtureRequest) -> str:
    return TYPES[request.param]


AGENTS = {
    "my_package/__init__.py": "",
    "my_package/agent.py": """
        from proctor import Event

        def root_agent(text, session):
            if "15 + 27" in text:
                return "42"
            if "weather" in text:
                yield Event.called("get_weather", {"city": "London"})
                yield Event.returned("get_weather", {"temp": 18})
                session.state["last_city"] = "London"
                return "It's currently 18°C and partly cloudy."
            if "Book a table" in text:
                return "Which restaurant?"
            yield Event.called("book_table", {"restaurant": "La Trattoria", "covers": 2, "time": "19:00"})
            return "Done! Table booked at La Trattoria for 2 at 7pm."
    """,
    "my_package/travel_agent/__init__.py": "",
    "my_package/travel_agent/agent.py": """
        from proctor import Event

        def root_agent(text):
            if "Fahrenheit" in text:
                yield Event.called("convert_temperature", {"value": 100, "from_unit": "F", "to_unit": "C"})
                return "37.78"
            if "Paris" in text:
                return "Which date would you like to travel?"
            yield Event.called("book_flight", {"destination": "Paris", "date": "2026-06-15"})
            return "Done! Flight booked for June 15th to Paris."
    """,
    "my_package/metrics.py": '''
        def my_length_metric(
            actual_invocation,
            expected_invocation,
            criterion,
        ) -> float:
            """Returns 1.0 if the response is ≤ 100 chars, else 0.0."""
            if not actual_invocation.final_response:
                return 0.0
            text = "".join(
                p.text or "" for p in actual_invocation.final_response.parts or []
            )
            return 1.0 if len(text) <= 100 else 0.0
    ''',
    "my_agent/__init__.py": "from . import agent\n",
    "my_agent/agent.py": """
        from my_package.agent import root_agent
    """,
    "home_automation_agent/__init__.py": "from . import agent\n",
    "home_automation_agent/agent.py": """
        from proctor import Event

        def root_agent(text, session):
            assert session.state.get("home") in (None, "ours")
            yield Event.called("set_device_info", {"location": "Bedroom", "device_id": "device_2", "status": "OFF"})
            return "I have set the device_2 status to off."
    """,
}

OFF = [
    {
        "query": "Turn off device_2 in the Bedroom.",
        "expected_tool_use": [
            {
                "tool_name": "set_device_info",
                "tool_input": {"location": "Bedroom", "device_id": "device_2", "status": "OFF"},
            }
        ],
        "reference": "I have set the device_2 status to off.",
    }
]
ARITHMETIC = {
    "evalSetId": "arithmetic_suite",
    "evalCases": [
        {
            "evalId": "add_two_numbers",
            "conversation": [
                {
                    "userContent": {"role": "user", "parts": [{"text": "What is 15 + 27?"}]},
                    "finalResponse": {"role": "model", "parts": [{"text": "42"}]},
                    "intermediateData": {"toolUses": []},
                }
            ],
        }
    ],
}
FILES = {
    "tests/integration/fixture/home_automation_agent/simple_test.test.json": OFF,
    "tests/initial_session.json": {"app_name": "home", "user_id": "u", "state": {"home": "ours"}},
    "tests/old/old_tests.test.json": OFF,
    "tests/eval_data/arithmetic_suite.evalset.json": ARITHMETIC,
    "tests/eval_data/my_suite.evalset.json": ARITHMETIC,
    "tests/eval_data/regression.evalset.json": ARITHMETIC,
    "tests/eval_data/test_config.json": {
        "criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.7}
    },
    "tests/eval/basic.test.json": ARITHMETIC,
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name, source in AGENTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(source), encoding="utf-8")
    for name, document in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
    return tmp_path


def follow(example: str, types_line: str) -> dict[str, Any]:
    """Run an example, and each test in it, as pytest would: plainly, or awaited where it is a coroutine."""
    source = example.replace("google.adk", "proctor.compat.adk").replace(
        "from google.genai import types", types_line
    )
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(source, "example", "exec"), names)
    tests = [found for name, found in list(names.items()) if name.startswith("test_")]
    for test in tests:
        outcome = test()
        if inspect.iscoroutine(outcome):
            asyncio.run(outcome)
    return names


CASES = """
import asyncio
from google.adk.evaluation.agent_evaluator import AgentEvaluator
from google.adk.evaluation.eval_case import EvalCase, Invocation, SessionInput, IntermediateData
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.eval_metrics import PrebuiltMetrics
from google.adk.evaluation.eval_config import EvalConfig
from google.genai import types

add = EvalCase(
    eval_id="add_two_numbers",
    conversation=[
        Invocation(
            user_content=types.Content(role="user", parts=[types.Part(text="What is 15 + 27?")]),
            final_response=types.Content(role="model", parts=[types.Part(text="42")]),
        )
    ],
)
weather = EvalCase(
    eval_id="weather_lookup",
    session_input=SessionInput(app_name="weather_app", user_id="test_user", state={"preferred_units": "metric"}),
    conversation=[
        Invocation(
            user_content=types.Content(role="user", parts=[types.Part(text="What's the weather in London?")]),
            final_response=types.Content(
                role="model", parts=[types.Part(text="It's currently 18°C and partly cloudy.")]
            ),
            intermediate_data=IntermediateData(
                tool_uses=[types.FunctionCall(name="get_weather", args={"city": "London"})],
            ),
        ),
    ],
    final_session_state={"last_city": "London"},
)
booking = EvalCase(
    eval_id="two_turn_booking",
    conversation=[
        Invocation(
            user_content=types.Content(role="user", parts=[types.Part(text="Book a table for 2 at 7pm.")]),
            final_response=types.Content(role="model", parts=[types.Part(text="Which restaurant?")]),
        ),
        Invocation(
            user_content=types.Content(role="user", parts=[types.Part(text="La Trattoria.")]),
            final_response=types.Content(
                role="model", parts=[types.Part(text="Done! Table booked at La Trattoria for 2 at 7pm.")]
            ),
            intermediate_data=IntermediateData(
                tool_uses=[
                    types.FunctionCall(
                        name="book_table", args={"restaurant": "La Trattoria", "covers": 2, "time": "19:00"}
                    ),
                ],
            ),
        ),
    ],
)
"""


def test_minimal_example(project: Path, types_line: str) -> None:
    follow(
        CASES
        + """
eval_set = EvalSet(eval_set_id="arithmetic_suite", eval_cases=[add])
eval_config = EvalConfig(criteria={PrebuiltMetrics.RESPONSE_MATCH_SCORE.value: 0.8})

async def test_arithmetic():
    await AgentEvaluator.evaluate_eval_set(
        agent_module="my_package.agent", eval_set=eval_set, eval_config=eval_config, num_runs=1,
    )
""",
        types_line,
    )


def test_cases_of_one_turn_and_of_two_and_the_state_at_the_end(project: Path, types_line: str) -> None:
    names = follow(
        CASES
        + """
eval_set = EvalSet(
    eval_set_id="full_regression",
    name="Full regression suite",
    description="Tests the booking and weather sub-agents.",
    eval_cases=[weather, booking],
)
eval_config = EvalConfig(criteria={"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8})

async def test_all():
    await AgentEvaluator.evaluate_eval_set(
        agent_module="my_package.agent",
        eval_set=eval_set,
        eval_config=eval_config,
        num_runs=2,
        agent_name=None,
        print_detailed_results=True,
    )
""",
        types_line,
    )
    names["weather"].final_session_state["last_city"] = "Paris"
    with pytest.raises(AssertionError, match="final_session_state for my_package Failed"):
        asyncio.run(names["test_all"]())


def test_a_set_is_written_and_read(project: Path, types_line: str) -> None:
    names = follow(
        CASES
        + """
eval_set = EvalSet(eval_set_id="full_regression", eval_cases=[add, weather, booking])
with open("eval_data.evalset.json", "w") as f:
    f.write(eval_set.model_dump_json(indent=2))
with open("eval_data.evalset.json") as f:
    again = EvalSet.model_validate_json(f.read())
""",
        types_line,
    )
    assert [case.eval_id for case in names["again"].eval_cases] == [
        "add_two_numbers",
        "weather_lookup",
        "two_turn_booking",
    ]


def test_config_with_criteria(types_line: str) -> None:
    names = follow(
        """
from google.adk.evaluation.eval_config import EvalConfig
from google.adk.evaluation.eval_metrics import (
    PrebuiltMetrics, BaseCriterion, LlmAsAJudgeCriterion, ToolTrajectoryCriterion, JudgeModelOptions,
)

config = EvalConfig(
    criteria={
        PrebuiltMetrics.RESPONSE_MATCH_SCORE.value: 0.7,
        PrebuiltMetrics.RESPONSE_EVALUATION_SCORE.value: LlmAsAJudgeCriterion(
            threshold=0.8,
            judge_model_options=JudgeModelOptions(judge_model="gemini-2.5-pro", num_samples=3),
        ),
        PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE.value: ToolTrajectoryCriterion(
            threshold=1.0,
            match_type=ToolTrajectoryCriterion.MatchType.IN_ORDER,
        ),
    }
)
ToolTrajectoryCriterion(threshold=1.0, match_type=ToolTrajectoryCriterion.MatchType.EXACT)
ToolTrajectoryCriterion(threshold=1.0, match_type=ToolTrajectoryCriterion.MatchType.ANY_ORDER)
""",
        types_line,
    )
    assert names["config"].criteria["tool_trajectory_avg_score"].match_type == 1


@pytest.mark.filterwarnings("ignore:.*proctor migrate:DeprecationWarning")
def test_files_and_a_folder(project: Path, types_line: str) -> None:
    follow(
        """
from google.adk.evaluation.agent_evaluator import AgentEvaluator

async def test_basic_tool_use():
    await AgentEvaluator.evaluate(
        agent_module="my_agent",
        eval_dataset_file_path_or_dir="tests/eval/basic.test.json",
    )

async def test_eval_directory():
    await AgentEvaluator.evaluate(
        agent_module="my_agent",
        eval_dataset_file_path_or_dir="tests/eval/",
    )

async def test_an_eval_set_file():
    await AgentEvaluator.evaluate(
        agent_module="my_package.agent",
        eval_dataset_file_path_or_dir="tests/eval_data/arithmetic_suite.evalset.json",
    )

async def test_with_an_initial_session():
    await AgentEvaluator.evaluate(
        agent_module="home_automation_agent.agent",
        eval_dataset_file_path_or_dir="tests/old/",
        num_runs=2,
        initial_session_file="tests/initial_session.json",
    )
""",
        types_line,
    )


@pytest.mark.filterwarnings("ignore:.*proctor migrate:DeprecationWarning")
def test_the_plain_form_of_the_original_document(project: Path, types_line: str) -> None:
    follow(
        '''
from google.adk.evaluation.agent_evaluator import AgentEvaluator

def test_with_single_test_file():
    """Test the agent's basic ability via a session file."""
    AgentEvaluator.evaluate(
        agent_module="home_automation_agent",
        eval_dataset_file_path_or_dir="tests/integration/fixture/home_automation_agent/simple_test.test.json",
    )
''',
        types_line,
    )


def test_config_found_for_a_file(project: Path, types_line: str, capsys: pytest.CaptureFixture[str]) -> None:
    follow(
        """
from google.adk.evaluation.agent_evaluator import AgentEvaluator
config = AgentEvaluator.find_config_for_test_file("tests/eval_data/my_suite.evalset.json")
print(config.criteria)
""",
        types_line,
    )
    assert capsys.readouterr().out == "{'tool_trajectory_avg_score': 1.0, 'response_match_score': 0.7}\n"


def test_end_to_end_and_the_result_saved(project: Path, types_line: str) -> None:
    follow(
        """
import asyncio
from google.adk.evaluation.agent_evaluator import AgentEvaluator
from google.adk.evaluation.eval_case import EvalCase, Invocation, IntermediateData
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.eval_config import EvalConfig
from google.adk.evaluation.eval_metrics import PrebuiltMetrics, ToolTrajectoryCriterion
from google.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager
from google.genai import types

cases = [
    EvalCase(
        eval_id="unit_conversion",
        conversation=[
            Invocation(
                user_content=types.Content(role="user", parts=[types.Part(text="Convert 100 Fahrenheit to Celsius.")]),
                final_response=types.Content(role="model", parts=[types.Part(text="37.78")]),
                intermediate_data=IntermediateData(
                    tool_uses=[
                        types.FunctionCall(
                            name="convert_temperature", args={"value": 100, "from_unit": "F", "to_unit": "C"},
                        )
                    ]
                ),
            )
        ],
    ),
    EvalCase(
        eval_id="multi_turn_booking",
        conversation=[
            Invocation(
                user_content=types.Content(role="user", parts=[types.Part(text="Book a flight to Paris.")]),
                final_response=types.Content(
                    role="model", parts=[types.Part(text="Which date would you like to travel?")]
                ),
            ),
            Invocation(
                user_content=types.Content(role="user", parts=[types.Part(text="June 15th.")]),
                final_response=types.Content(
                    role="model", parts=[types.Part(text="Done! Flight booked for June 15th to Paris.")]
                ),
                intermediate_data=IntermediateData(
                    tool_uses=[
                        types.FunctionCall(name="book_flight", args={"destination": "Paris", "date": "2026-06-15"})
                    ]
                ),
            ),
        ],
    ),
]

eval_set = EvalSet(eval_set_id="travel_agent_suite", eval_cases=cases)

eval_config = EvalConfig(
    criteria={
        PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE.value: ToolTrajectoryCriterion(
            threshold=1.0, match_type=ToolTrajectoryCriterion.MatchType.IN_ORDER,
        ),
        PrebuiltMetrics.RESPONSE_MATCH_SCORE.value: 0.5,
    }
)

async def main():
    await AgentEvaluator.evaluate_eval_set(
        agent_module="my_package.travel_agent",
        eval_set=eval_set,
        eval_config=eval_config,
        num_runs=2,
        print_detailed_results=True,
    )

asyncio.run(main())

results_manager = LocalEvalSetResultsManager(results_dir="./eval_results")

async def test_saving():
    result = await AgentEvaluator.evaluate_eval_set(
        agent_module="my_package.travel_agent", eval_set=eval_set, eval_config=eval_config,
    )
    await results_manager.save_eval_set_result(result)
""",
        types_line,
    )
    (saved,) = (project / "eval_results").rglob("*.evalset_result.json")
    found = json.loads(saved.read_text(encoding="utf-8"))
    assert found["eval_set_id"] == "travel_agent_suite"
    assert [one["final_eval_status"] for one in found["eval_case_results"]] == [1, 1, 1, 1]


def test_custom_metrics(project: Path, types_line: str) -> None:
    names = follow(
        CASES
        + """
from google.adk.evaluation.eval_config import EvalConfig, CustomMetricConfig
from google.adk.agents.common_configs import CodeConfig

config = EvalConfig(
    criteria={
        "response_brevity": 1.0,
    },
    custom_metrics={
        "response_brevity": CustomMetricConfig(
            code_config=CodeConfig(name="my_package.metrics.my_length_metric"),
        ),
    },
)
result = AgentEvaluator.evaluate_eval_set(
    agent_module="my_package.agent", eval_set=EvalSet(eval_set_id="s", eval_cases=[add]), eval_config=config,
)
""",
        types_line,
    )
    assert names["result"].cases[0].metrics["response_brevity"].score == 1.0


def test_rubrics(types_line: str) -> None:
    names = follow(
        """
from google.adk.evaluation.eval_config import EvalConfig
from google.adk.evaluation.eval_rubrics import Rubric, RubricScore
from google.adk.evaluation.eval_metrics import RubricsBasedCriterion

rubrics = [
    Rubric(criterion="The response must cite at least one source URL.", points=1),
    Rubric(criterion="The response must be written in plain English, no jargon.", points=1),
    Rubric(criterion="The response must be under 200 words.", points=1),
]

config = EvalConfig(
    criteria={
        "rubric_based_final_response_quality_v1": RubricsBasedCriterion(threshold=0.8, rubrics=rubrics),
    }
)
""",
        types_line,
    )
    criterion = names["config"].criteria["rubric_based_final_response_quality_v1"]
    assert len({rubric.rubric_id for rubric in criterion.rubrics}) == 3


@AS_TYPED
def test_pytest_integration(project: Path, types_line: str) -> None:
    follow(
        """
from google.adk.evaluation.agent_evaluator import AgentEvaluator
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.eval_config import EvalConfig
from google.adk.evaluation.eval_metrics import PrebuiltMetrics

EVAL_SET = EvalSet.model_validate_json(
    open("tests/eval_data/regression.evalset.json").read()
)

EVAL_CONFIG = EvalConfig(
    criteria={
        PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE.value: 1.0,
        PrebuiltMetrics.RESPONSE_MATCH_SCORE.value: 0.7,
    }
)

async def test_agent_regression():
    await AgentEvaluator.evaluate_eval_set(
        agent_module="my_package.agent",
        eval_set=EVAL_SET,
        eval_config=EVAL_CONFIG,
        num_runs=2,
    )
""",
        types_line,
    )


@AS_TYPED
def test_migration(project: Path, types_line: str) -> None:
    names = follow(
        """
from google.adk.evaluation.agent_evaluator import AgentEvaluator
from google.adk.evaluation.eval_set import EvalSet

AgentEvaluator.migrate_eval_data_to_new_schema(
    old_eval_data_file="tests/old/old_tests.test.json",
    new_eval_data_file="tests/old/old_tests.evalset.json",
    initial_session_file="tests/initial_session.json",
)
migrated = EvalSet.model_validate_json(open("tests/old/old_tests.evalset.json").read())
AgentEvaluator.evaluate("home_automation_agent", "tests/old/old_tests.evalset.json")
""",
        types_line,
    )
    assert names["migrated"].eval_cases[0].session_input.state == {"home": "ours"}
