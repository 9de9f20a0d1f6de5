"""Every example of the documents works as its document describes, with only its import lines changed.

Without google-genai `from proctor import types` is used; where it is installed, its own objects are taken, too. What
needs a server waits for that part: `WAITING` lists it. What asks a judge is in test_judges.
"""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.schema.format.result import EvalStatus
from tests.cli.project import in_this_process
from tests.docs.seeds import examples

OF = {
    "001": ["MINIMAL", "CASE", "TWO_TURNS", "SET", "CONFIG", "MATCH_TYPES", "EVALUATE_SET", "EVALUATE_FILE", "FIND_CONFIG",
            "END_TO_END", "SAVE_RESULTS", "METRIC", "METRIC_IMPORTS", "METRIC_CONFIG", "RUBRICS", "IN_PYTEST", "MIGRATE"],
    "002": ["AWAITED"],
    "004": ["PLAIN_CALL", "STEPS"],
}  # fmt: skip
WAITING = {
    "adk web": "the page (also `adk web samples_for_testing`)",
    "GcsEvalSetResultsManager": "tests/compat/adk/test_buckets.py has it, against an emulator",
    "rust": "tests/compat/test_adk_rs.py has it in its Python spelling",
    "typescript": "tests/compat/test_adk_ts.py has it in its Python spelling",
}
SAYS: dict[str, tuple[str, list[tuple[str, dict[str, Any]]]]] = {
    "What is 15 + 27?": ("42", []),
    "What's the weather in London?": (
        "It's currently 18°C and partly cloudy.",
        [("get_weather", {"city": "London"})],
    ),
    "Book a table for 2 at 7pm.": ("Which restaurant?", []),
    "La Trattoria.": (
        "Done! Table booked at La Trattoria for 2 at 7pm.",
        [("book_table", {"restaurant": "La Trattoria", "covers": 2, "time": "19:00"})],
    ),
    "Convert 100 Fahrenheit to Celsius.": (
        "37.78",
        [("convert_temperature", {"value": 100, "from_unit": "F", "to_unit": "C"})],
    ),
    "Book a flight to Paris.": ("Which date would you like to travel?", []),
    "June 15th.": (
        "Done! Flight booked for June 15th to Paris.",
        [("book_flight", {"destination": "Paris", "date": "2026-06-15"})],
    ),
}
AGENT = f"""
ANSWERS = {SAYS!r}

def root_agent(text, state):
    answer, calls = ANSWERS[text]
    last = [args["city"] for _, args in calls if "city" in args]
    return {{
        "tool_calls": [{{"name": name, "args": args}} for name, args in calls],
        "state_delta": {{"last_city": last[-1]}} if last else {{}},
        "text": answer,
    }}
"""
HAS_GENAI = (
    importlib.util.find_spec("google") is not None and importlib.util.find_spec("google.genai") is not None
)


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A reader's project: `my_package`, data, an initial session."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("my_package", "my_agent", "home_automation_agent"):
        Path(name).mkdir()
        Path(name, "__init__.py").write_text("from . import agent\n")
        Path(name, "agent.py").write_text(AGENT)
    Path("my_package/travel_agent.py").write_text(AGENT)
    for folder in ("eval_data", "tests/eval_data", "tests/eval"):
        Path(folder).mkdir(parents=True)
    known = {*sys.modules}
    yield
    for name in {*sys.modules} - known:
        if name.partition(".")[0] in {"my_package", "my_agent", "home_automation_agent", "tests"}:
            sys.modules.pop(name, None) if name.partition(".")[0] != "tests" else None


@pytest.fixture(params=["proctor", "google.genai"])
def types_from(request: pytest.FixtureRequest) -> str:
    if request.param == "google.genai" and not HAS_GENAI:
        pytest.skip("google-genai is not installed: make adk")
    return str(request.param)


def example(name: str, types_from: str = "proctor") -> str:
    """An example with its import lines changed, and nothing else."""
    code: str = getattr(examples, name)
    code = code.replace("@pytest.mark.asyncio\n", "")  # names what awaits it; here the test itself
    code = re.sub(r"^from google\.adk\.", "from proctor.compat.adk.", code, flags=re.MULTILINE)
    return code.replace("from google.genai import types", f"from {types_from} import types")


def run(code: str, scope: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run an example as the body of a module, or of a coroutine where it awaits."""
    known = {"__name__": "example"} if scope is None else scope
    compiled = compile(code, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    done = eval(compiled, known)
    if inspect.iscoroutine(done):
        asyncio.run(done)
    return known


def a_set(*turns: str) -> str:
    """A set whose cases the agents of this project pass, as a file of the documents has it."""
    conversation = [
        {
            "user_content": {"role": "user", "parts": [{"text": text}]},
            "final_response": {"role": "model", "parts": [{"text": SAYS[text][0]}]},
            "intermediate_data": {
                "tool_uses": [{"name": name, "args": args} for name, args in SAYS[text][1]]
            },
        }
        for text in turns
    ]
    return json.dumps(
        {"eval_set_id": "s", "eval_cases": [{"eval_id": "case_1", "conversation": conversation}]}
    )


# --- typed again as they are -------------------------------------------------------------------------------------------


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize(
    ("number", "name"), [(number, name) for number, names in OF.items() for name in names]
)
def test_an_example_stands_in_its_document(shared: Path, number: str, name: str) -> None:
    [document] = (shared / "seeds").glob(f"{number}_*.txt")
    assert bare(getattr(examples, name)) in bare(document.read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", examples.COMMANDS.strip().split("\n\n"))
def test_a_command_stands_in_its_document(shared: Path, command: str) -> None:
    [document] = (shared / "seeds").glob("002_*.txt")
    assert bare(command) in bare(document.read_text(encoding="utf-8"))


# --- the guide to google-adk's evaluation (001) ------------------------------------------------------------------------


def test_the_minimal_example(types_from: str) -> None:
    scope = run(example("MINIMAL", types_from))
    asyncio.run(scope["test_arithmetic"]())
    scope["eval_set"].eval_cases[0].conversation[0].final_response.parts[0].text = "no"
    with pytest.raises(AssertionError, match="response_match_score"):
        asyncio.run(scope["test_arithmetic"]())


def test_cases_sets_and_their_files(types_from: str) -> None:
    scope = run(example("CASE", types_from))
    weather = scope["case"]
    run(example("TWO_TURNS", types_from), scope)
    booking = scope["case"]
    for case in (weather, booking):
        scope["case"] = case
        run(example("SET", types_from), scope)
        eval_set = scope["eval_set"]
        assert (eval_set.eval_set_id, [each.eval_id for each in eval_set.eval_cases]) == (
            "full_regression",
            [case.eval_id],
        )
        assert proctor.evaluate_sync("my_package.agent", "eval_data/full_regression.evalset.json").passed


def test_the_final_state_is_asserted(types_from: str) -> None:
    case = run(example("CASE", types_from))["case"]
    case.final_session_state = {"last_city": "Paris"}
    result = proctor.evaluate_sync(
        "my_package.agent", {"eval_set_id": "s", "eval_cases": [case.model_dump()]}
    )
    assert not result.passed
    assert "Paris" in result.cases[0].reason


def test_configs_and_match_types() -> None:
    config = run(example("CONFIG"))["config"]
    assert {*config.criteria} == {
        "response_match_score",
        "response_evaluation_score",
        "tool_trajectory_avg_score",
    }
    assert config.criteria["response_evaluation_score"].judge_model_options.num_samples == 3
    run(example("MATCH_TYPES"))


def test_evaluate_eval_set(types_from: str, capsys: pytest.CaptureFixture[str]) -> None:
    scope = run(example("MINIMAL", types_from))
    run(example("EVALUATE_SET"), scope)
    assert "response_match_score" in capsys.readouterr().out


def test_evaluate_takes_a_folder_of_test_files_and_the_session_of_old_ones() -> None:
    Path("tests/eval_data/old.test.json").write_text(
        json.dumps([{"query": "What is 15 + 27?", "reference": "42", "expected_tool_use": []}])
    )
    Path("tests/initial_session.json").write_text('{"app_name": "a", "user_id": "u", "state": {}}')
    scope = run("from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator")
    with pytest.warns(DeprecationWarning, match="proctor migrate"):
        run(example("EVALUATE_FILE"), scope)
    Path("tests/eval_data/old.test.json").write_text(
        json.dumps([{"query": "What is 15 + 27?", "reference": "43", "expected_tool_use": []}])
    )
    with pytest.raises(AssertionError), pytest.warns(DeprecationWarning, match="proctor migrate"):
        run(example("EVALUATE_FILE"), scope)


def test_the_config_beside_a_file_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    Path("tests/eval_data/test_config.json").write_text(
        '{ "criteria": { "tool_trajectory_avg_score": 1.0, "response_match_score": 0.7 }}'
    )
    scope = run("from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator")
    assert run(example("FIND_CONFIG"), scope)["config"].criteria["tool_trajectory_avg_score"] == 1.0
    assert "tool_trajectory_avg_score" in capsys.readouterr().out


@pytest.mark.slow
def test_the_example_from_end_to_end(types_from: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(example("END_TO_END", types_from))
    assert "tool_trajectory_avg_score" in capsys.readouterr().out
    Path("my_package/travel_agent.py").write_text(AGENT.replace("book_flight", "book_train"))
    sys.modules.pop("my_package.travel_agent", None)
    with pytest.raises(AssertionError, match="book_flight"):
        run(example("END_TO_END", types_from))


def test_results_are_saved(types_from: str) -> None:
    scope = run(example("MINIMAL", types_from))
    asked = "agent_module='my_package.agent', eval_set=eval_set, eval_config=eval_config"
    run(example("SAVE_RESULTS").replace("evaluate_eval_set(...)", f"evaluate_eval_set({asked})"), scope)
    [file] = Path("eval_results").rglob("*.evalset_result.json")
    document = json.loads(file.read_text())
    assert [case["final_eval_status"] for case in document["eval_case_results"]] == [EvalStatus.PASSED] * 2


def test_a_metric_of_ones_own(types_from: str) -> None:
    Path("my_package/metrics.py").write_text(example("METRIC"))
    scope = run(example("MINIMAL", types_from))
    run(example("METRIC_IMPORTS") + example("METRIC_CONFIG"), scope)
    scope["eval_config"] = scope["config"]
    run(example("EVALUATE_SET"), scope)
    Path("my_package/metrics.py").write_text(example("METRIC").replace("<= 100", "<= 1"))
    sys.modules.pop("my_package.metrics", None)
    with pytest.raises(AssertionError, match="response_brevity"):
        run(example("EVALUATE_SET"), scope)


def test_rubrics_get_ids_and_texts() -> None:
    scope = run("from proctor.compat.adk.evaluation.eval_config import EvalConfig")
    criterion = run(example("RUBRICS"), scope)["config"].criteria["rubric_based_final_response_quality_v1"]
    texts = [rubric.rubric_content.text_property for rubric in criterion.rubrics]
    assert texts[2] == "The response must be under 200 words."
    assert len({rubric.rubric_id for rubric in criterion.rubrics}) == 3


@pytest.mark.filterwarnings("ignore:unclosed file")  # the document leaves it to the interpreter
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_example_for_pytest(types_from: str) -> None:
    Path("tests/eval_data/regression.evalset.json").write_text(a_set("Book a flight to Paris.", "June 15th."))
    scope = run(example("IN_PYTEST", types_from))
    asyncio.run(scope["test_agent_regression"]())
    Path("tests/eval_data/regression.evalset.json").write_text(
        a_set("June 15th.").replace("book_flight", "book_train")
    )
    with pytest.raises(AssertionError, match="book_train"):
        asyncio.run(run(example("IN_PYTEST", types_from))["test_agent_regression"]())


def test_old_data_is_migrated() -> None:
    Path("tests/eval_data/old_tests.test.json").write_text(
        json.dumps([{"query": "What is 15 + 27?", "reference": "42", "expected_tool_use": []}])
    )
    Path("tests/initial_session.json").write_text('{"app_name": "a", "user_id": "u", "state": {"x": 1}}')
    run(example("MIGRATE"), run("from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator"))
    [case] = proctor.load_eval_set("tests/eval_data/old_tests.evalset.json").eval_cases
    assert case.session_input is not None
    assert case.session_input.state == {"x": 1}


# --- the second guide (002) and the original chapter (004) -------------------------------------------------------------


@pytest.mark.parametrize("name", ["test_basic_tool_use", "test_eval_directory"])
def test_awaited_in_a_test(name: str) -> None:
    Path("tests/eval/basic.test.json").write_text(a_set("Book a flight to Paris.", "June 15th."))
    asyncio.run(run(example("AWAITED"))[name]())
    Path("tests/eval/basic.test.json").write_text(a_set("June 15th.").replace("book_flight", "book_train"))
    with pytest.raises(AssertionError, match="book_train"):
        asyncio.run(run(example("AWAITED"))[name]())


def test_called_plainly_in_a_test() -> None:
    code = (
        example("PLAIN_CALL").rstrip()
        + '\n        eval_dataset_file_path_or_dir="tests/eval/simple.test.json",\n    )\n'
    )
    Path("tests/eval/simple.test.json").write_text(a_set("What is 15 + 27?"))
    run(code)["test_with_single_test_file"]()
    Path("tests/eval/simple.test.json").write_text(a_set("What is 15 + 27?").replace('"42"', '"43"'))
    with pytest.raises(AssertionError, match="response_match_score"):
        run(code)["test_with_single_test_file"]()


def test_bare_steps_are_compared() -> None:
    scope = run(example("STEPS"))
    names = ["trajectory_exact_match", "trajectory_in_order_match", "trajectory_any_order_match", "trajectory_precision",
             "trajectory_recall"]  # fmt: skip
    for name in names:
        found = proctor.score_sync(scope["actual_steps"], scope["expected_steps"], criteria={name: 1.0})
        assert (found[name].score, found[name].status) == (1.0, EvalStatus.PASSED)


@pytest.mark.slow
def test_every_command_of_the_documents() -> None:
    cases = [
        json.loads(a_set(text))["eval_cases"][0] for text in ("What is 15 + 27?", "Book a flight to Paris.")
    ]
    for number, case in enumerate(cases, 1):
        case["eval_id"] = f"case_{number}"
    Path("my_agent/eval_set.evalset.json").write_text(json.dumps({"eval_set_id": "e", "eval_cases": cases}))
    Path("my_agent/test_config.json").write_text('{"criteria": {"response_match_score": 0.8}}')
    Path("my_agent/conversation_scenarios.json").write_text(
        '{"scenarios": [{"starting_prompt": "Hi", "conversation_plan": "Say hello, then stop."}]}'
    )
    Path("my_agent/session_input.json").write_text('{"app_name": "my_agent", "user_id": "u", "state": {}}')
    for command in examples.COMMANDS.strip().split("\n\n"):
        words = command.replace("\\\n", " ").split()
        program = words.index("adk")
        done = in_this_process(*words[program + 1 :])
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    [case] = proctor.load_eval_set("my_agent/my_eval_set.evalset.json").eval_cases
    assert case.conversation_scenario is not None
