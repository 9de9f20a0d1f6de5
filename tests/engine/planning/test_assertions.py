"""A case must assert something: what counts as a statement, for which metric, and what becomes of a case without one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import proctor
from proctor.errors import SetupProblems
from proctor.schema.results.run_result import Outcome, RunResult

DEFAULT = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}
NEGATIVE = "negative only: an agent that does nothing passes it"
NOTHING = "asserts nothing"


def text(content: str, **part: Any) -> dict[str, Any]:
    return {"parts": [{"text": content, **part}], "role": "model"}


def turn(**more: Any) -> dict[str, Any]:
    return {"user_content": {"parts": [{"text": "hi"}], "role": "user"}, **more}


def calls(*names: str) -> dict[str, Any]:
    return turn(intermediate_data={"tool_uses": [{"name": name, "args": {}} for name in names]})


def case(*turns: dict[str, Any], eval_id: str = "a", **more: Any) -> dict[str, Any]:
    return {"eval_id": eval_id, "conversation": [*turns] or [turn()], **more}


def events(*parts: dict[str, Any], author: str = "agent") -> dict[str, Any]:
    steps = [{"author": author, "content": {"parts": [part], "role": "model"}} for part in parts]
    return turn(intermediate_data={"invocation_events": steps})


def run(
    given: Any, criteria: Any = None, agent: Callable[..., Any] | None = None, **options: Any
) -> RunResult:
    config = {"criteria": DEFAULT if criteria is None else criteria}
    return proctor.evaluate_sync(agent or (lambda message: "..."), given, config=config, **options)


def refusal(given: Any, criteria: Any = None, **options: Any) -> str:
    with pytest.raises(SetupProblems) as caught:
        run(given, criteria, **options)
    return str(caught.value)


UNASSERTED: dict[str, tuple[dict[str, Any], Any]] = {
    "nothing but the user's text": (case(), None),
    "null values": (case(turn(final_response=None, intermediate_data=None)), None),
    "empty intermediate data": (case(turn(intermediate_data={})), None),
    "tool_uses null": (case(turn(intermediate_data={"tool_uses": None})), None),
    "intermediate responses only": (
        case(turn(intermediate_data={"intermediate_responses": [["agent", [{"text": "on it"}]]]})),
        None,
    ),
    "tool responses only": (
        case(turn(intermediate_data={"tool_responses": [{"name": "f", "response": {}}]})),
        None,
    ),
    "no events": (case(events()), None),
    "events without a call": (case(events({"text": "thinking"})), None),
    "an empty reference": (case(turn(final_response=text(""))), None),
    "an invisible reference": (case(turn(final_response=text(" \u200b\n"))), None),
    "a reference that is a thought": (case(turn(final_response=text("hm", thought=True))), None),
    "a reference without parts": (case(turn(final_response={"parts": [], "role": "model"})), None),
    "an empty final state": (case(final_session_state={}), None),
    "rubrics that no metric reads": (
        case(rubrics=[{"rubric_id": "r", "rubric_content": {"text_property": "is polite"}}]),
        None,
    ),
    "expectations that no metric reads": (case(expectations={"calls": ["f"]}), None),
    "an answer, for a metric of calls": (
        case(turn(final_response=text("hello"))),
        {"tool_trajectory_avg_score": 1},
    ),
    "a call, for a metric of answers": (case(calls("f")), {"response_match_score": 0.8}),
    "a written [], for recall": (case(calls()), {"trajectory_recall": 1}),
    "a call, for a metric that does not gate": (
        case(calls("f")),
        {"tool_trajectory_avg_score": {"threshold": 1, "gate": False}, "response_match_score": 0.8},
    ),
    "no metric that gates": (case(turn(final_response=text("hello"))), {}),
    "a weighted metric of parts without a statement": (
        case(),
        {
            "weighted": {"threshold": 0.5, "weights": {"tool_trajectory_avg_score": 1}},
            "tool_trajectory_avg_score": {"threshold": 1, "gate": False},
        },
    ),
    "an initial state": (case(session_input={"app_name": "x", "user_id": "u", "state": {"a": 1}}), None),
}


@pytest.mark.parametrize("name", UNASSERTED)
def test_a_case_that_asserts_nothing_is_refused(name: str) -> None:
    given, criteria = UNASSERTED[name]
    message = refusal(given, criteria)
    assert NOTHING in message or "nothing decides it" in message


NEGATIVE_ONLY: dict[str, tuple[dict[str, Any], Any]] = {
    "a written [] of calls": (case(calls()), None),
    "a written [] in one of two turns": (case(turn(), calls()), None),
    "a written [] in camelCase": (case(turn(intermediateData={"toolUses": []})), None),
    "calls, for a metric that allows any subset": (case(calls("f")), {"trajectory_subset_match": 1}),
    "a state equal to the initial one": (
        case(
            final_session_state={"a": 1},
            session_input={"app_name": "x", "user_id": "u", "state": {"a": 1, "b": 2}},
        ),
        None,
    ),
    "forbidden texts": (case(), {"contains": {"threshold": 1, "forbidden": ["as an AI"]}}),
    "forbidden patterns": (case(), {"regex_match": {"threshold": 1, "forbidden": ["as an [Aa][Ii] model"]}}),
    "forbidden calls": (case(expectations={"forbidden": ["pay"]}), {"tool_expectations": 1}),
    "an upper limit of calls": (
        case(expectations={"limits": [{"tool": "pay", "at_most": 1}]}),
        {"tool_expectations": 1},
    ),
    "optional calls": (
        case(expectations={"calls": [{"tool": "pay", "optional": True}]}),
        {"tool_expectations": 1},
    ),
    "a rule `never`": (case(trajectory_rules=[{"never": "pay"}]), {"trajectory_rules": 1}),
    "a rule `implies_later`": (
        case(),
        {"trajectory_rules": {"threshold": 1, "rules": [{"call": "a", "implies_later": "b"}]}},
    ),
    "known_tools": (case(), {"known_tools": {"threshold": 1, "tools": ["f"]}}),
}


@pytest.mark.parametrize("name", NEGATIVE_ONLY)
def test_a_case_with_prohibitions_only_runs_with_a_warning(name: str) -> None:
    given, criteria = NEGATIVE_ONLY[name]
    plan = plan_of(given, criteria)
    assert [warning for warning in plan.warnings if NEGATIVE in warning]
    assert not plan.sets[0].skip_reason(0)


ASSERTED: dict[str, tuple[dict[str, Any], Any]] = {
    "a reference answer": (case(turn(final_response=text("hello"))), None),
    "a reference answer in one of two turns": (case(turn(), turn(final_response=text("hello"))), None),
    "an expected call": (case(calls("f")), None),
    "an expected call in events": (case(events({"function_call": {"name": "f", "args": {}}})), None),
    "a final state": (case(final_session_state={"a": 1}), None),
    "a final state unlike the initial one": (
        case(
            final_session_state={"a": 2}, session_input={"app_name": "x", "user_id": "u", "state": {"a": 1}}
        ),
        None,
    ),
    "a state that the criterion expects": (
        case(),
        {
            "final_session_state": {
                "threshold": 1,
                "state": {"a": {"match": "number", "value": 1, "tolerance": 0.1}},
            }
        },
    ),
    "intermediate responses, for a metric that reads them": (
        case(turn(intermediate_data={"intermediate_responses": [["agent", [{"text": "on it"}]]]})),
        {"intermediate_response_match": 0.8},
    ),
    "authors, for a metric that reads them": (
        case(events({"text": "a"})),
        {"graph_trajectory_strict_match": 1},
    ),
    "expected values of a criterion": (case(), {"contains": {"threshold": 1, "expected": ["sunny"]}}),
    "a pattern of a criterion": (case(), {"regex_match": {"threshold": 1, "pattern": "sun+y"}}),
    "a tool name of a criterion": (
        case(),
        {"trajectory_single_tool_use": {"threshold": 1, "tool_name": "f"}},
    ),
    "expected calls of a criterion": (
        case(),
        {"tool_expectations": {"threshold": 1, "expectations": {"calls": ["f"]}}},
    ),
    "expectations": (case(expectations={"calls": ["f"]}), {"tool_expectations": 1}),
    "a lower limit of calls": (
        case(expectations={"limits": [{"tool": "pay", "at_least": 1}]}),
        {"tool_expectations": 1},
    ),
    "a schema": (case(response_schema={"type": "object"}), {"response_schema": 1}),
    "a weighted metric of a part with a statement": (
        case(calls("f")),
        {
            "weighted": {"threshold": 0.5, "weights": {"tool_trajectory_avg_score": 1}},
            "tool_trajectory_avg_score": {"threshold": 1, "gate": False},
        },
    ),
}


def plan_of(given: dict[str, Any], criteria: Any, **options: Any) -> Any:
    from proctor.engine.planning.plan import make_plan
    from proctor.engine.planning.set_plan import EvalSetSource, SetRequest
    from proctor.engine.run_options import RunOptions

    eval_set = proctor.EvalSet.model_validate({"eval_set_id": "s", "eval_cases": [given]})
    config = proctor.EvalConfig(criteria=DEFAULT if criteria is None else criteria)
    return make_plan([SetRequest(EvalSetSource(eval_set), config, "given")], RunOptions(**options))


@pytest.mark.parametrize("name", ASSERTED)
def test_a_case_that_asserts_something_runs_without_a_warning(name: str) -> None:
    plan = plan_of(*ASSERTED[name])
    assert [warning for warning in plan.warnings if "negative" in warning or NOTHING in warning] == []


@pytest.mark.parametrize(
    ("needs", "is_refused"),
    [(frozenset[str](), False), (frozenset({"expected"}), True), (frozenset({"expected_state"}), True)],
    ids=["no needs", "expected", "expected_state"],
)
def test_metric_without_a_reader_counts_unless_the_case_lacks_its_needs(
    needs: frozenset[str], is_refused: bool
) -> None:
    from proctor.metrics.base import MetricFacts
    from proctor.schema.format.case import Statement

    facts = MetricFacts(name="own", description="", kind="custom", needs=needs)
    found = facts.statement_in(proctor.EvalCase.model_validate(case()))
    assert (found is Statement.NONE) is is_refused


def test_all_such_cases_are_named_at_once_with_locations_and_remedies(tmp_path: Any) -> None:
    path = tmp_path / "s.evalset.json"
    path.write_text(
        '{"eval_set_id": "s", "eval_cases": [\n'
        '{"eval_id": "one", "conversation": [{"user_content": {"parts": [{"text": "hi"}]}}]},\n'
        '{"eval_id": "two", "conversation": [{"user_content": {"parts": [{"text": "hi"}]}}]}]}'
    )
    message = refusal(str(path))
    assert f"{path}:2: case 'one': {NOTHING}" in message
    assert f"{path}:3: case 'two': {NOTHING}" in message
    for remedy in (
        "record",
        "bless",
        "rubric",
        "final_session_state",
        "tool_uses: []",
        "tools: []",
        "--allow-unasserted",
    ):
        assert remedy in message


def test_no_agent_is_called_before_the_refusal() -> None:
    asked: list[str] = []
    refusal(case(), agent=asked.append)
    assert asked == []


@pytest.mark.parametrize("num_runs", [1, 3], ids=["one trial", "several trials"])
@pytest.mark.parametrize("answer", ["...", None], ids=["an answer", "an agent that raises"])
def test_an_allowed_case_runs_and_is_skipped(num_runs: int, answer: str | None) -> None:
    def agent(message: str) -> str:
        asked.append(message)
        if answer is None:
            raise ValueError("broken")
        return answer

    asked: list[str] = []
    both = [case(), case(calls("f"), eval_id="b")]
    result = run(both, agent=agent, allow_unasserted=True, num_runs=num_runs)
    skipped, other = result.cases
    assert len(asked) == 2 * num_runs
    assert (skipped.outcome, skipped.passed, skipped.trials_passed) == (Outcome.SKIPPED, False, 0)
    assert NOTHING in skipped.reason
    assert not any(metric.outcome is Outcome.PASSED for metric in skipped.metrics.values())
    assert result.outcome is other.outcome
    assert result.repeats.cases == 1
    assert any("'a'" in warning and "skipped" in warning for warning in result.warnings)


def test_a_run_in_which_nothing_was_counted_is_an_error() -> None:
    result = run(case(), allow_unasserted=True)
    assert (result.passed, result.outcome, result.exit_code) == (False, Outcome.ERROR, 3)


def test_a_skipped_case_does_not_end_a_run_that_stops_at_the_first_failure() -> None:
    result = run([case(), case(calls(), eval_id="b")], allow_unasserted=True, fail_fast=True, concurrency=1)
    assert [one.outcome for one in result.cases] == [Outcome.SKIPPED, Outcome.PASSED]


@pytest.mark.parametrize(
    ("criteria", "options", "why"),
    [
        (
            {"safety_v1": 1, "tool_trajectory_avg_score": 1},
            {"no_judge": True},
            "safety_v1, left out by --no-judge",
        ),
        (DEFAULT, {"metrics": ["tool_trajectory_avg_score"]}, "response_match_score, left out by --metrics"),
    ],
    ids=["--no-judge", "--metrics"],
)
def test_a_case_that_asserts_only_for_metrics_left_out_is_skipped(
    criteria: Any, options: dict[str, Any], why: str
) -> None:
    result = run(case(turn(final_response=text("hello"))), criteria, **options)
    (only,) = result.cases
    assert only.outcome is Outcome.SKIPPED
    assert why in only.reason
    assert result.exit_code == 3


@pytest.mark.parametrize(
    ("criteria", "options"),
    [
        (DEFAULT, {"compat": "adk"}),
        ({"tool_trajectory_avg_score": {"threshold": 1, "compat": "adk"}}, {}),
    ],
    ids=["a run", "a criterion"],
)
def test_compat_keeps_the_verdict_of_the_original_with_a_warning(
    criteria: Any, options: dict[str, Any]
) -> None:
    result = run(case(), criteria, **options)
    (only,) = result.cases
    assert only.outcome in (Outcome.PASSED, Outcome.FAILED)
    assert any(NOTHING in warning and "compat" in warning for warning in result.warnings)


def test_compat_of_a_metric_that_does_not_gate_keeps_nothing() -> None:
    criteria = {
        "tool_trajectory_avg_score": 1,
        "response_match_score": {"threshold": 0.8, "gate": False, "compat": "adk"},
    }
    assert NOTHING in refusal(case(), criteria)


def test_only_chosen_cases_are_checked() -> None:
    both = {"eval_set_id": "s", "eval_cases": [case(), case(calls("f"), eval_id="b")]}
    assert run(both, only={"s": ["b"]}).cases[0].eval_id == "b"
    assert "'a'" in refusal(both, only={"s": ["a"]})


def test_every_shard_that_holds_the_case_refuses_it() -> None:
    both = [case(), case(calls("f"), eval_id="b")]
    outcomes = []
    for shard in ("1/2", "2/2"):
        try:
            outcomes.append(run(both, shard=shard).outcome.value)
        except proctor.ProctorError as error:
            outcomes.append(str(error))
    assert sorted(NOTHING in each for each in outcomes) == [False, True]


def test_a_matrix_follows_the_rule() -> None:
    with pytest.raises(SetupProblems, match=NOTHING):
        asyncio.run(proctor.evaluate_matrix([lambda text: "..."], case(), config={"criteria": DEFAULT}))


def test_a_stored_run_is_scored_again_by_the_same_rule(tmp_path: Any) -> None:
    store = f"sqlite:///{tmp_path}/s.sqlite3"
    criteria = {"response_match_score": {"threshold": 0.8, "compat": "adk"}}
    made = proctor.evaluate_sync(lambda text: "...", case(), config={"criteria": criteria}, store=store)
    with pytest.raises(SetupProblems, match=NOTHING):
        proctor.rescore_sync(made.run_id, store=store, config={"criteria": DEFAULT})
    again = proctor.rescore_sync(
        made.run_id, store=store, config={"criteria": DEFAULT}, allow_unasserted=True
    )
    assert [one.outcome for one in again.cases] == [Outcome.SKIPPED]


def test_a_run_with_allowed_cases_is_scored_again_without_saying_so_again(tmp_path: Any) -> None:
    store = f"sqlite:///{tmp_path}/s.sqlite3"
    both = [case(), case(calls(), eval_id="b")]
    config = {"criteria": DEFAULT}
    made = proctor.evaluate_sync(lambda text: "...", both, config=config, store=store, allow_unasserted=True)
    again = proctor.rescore_sync(made.run_id, store=store)
    outcomes = [Outcome.SKIPPED, Outcome.PASSED]
    assert [one.outcome for one in made.cases] == [one.outcome for one in again.cases] == outcomes
    assert NEGATIVE in " ".join(again.warnings)


def test_the_difference_between_absent_and_written_survives_the_store(tmp_path: Any) -> None:
    store = f"sqlite:///{tmp_path}/s.sqlite3"
    absent = turn(intermediate_data={"intermediate_responses": []}, final_response=text("..."))
    config = {"criteria": DEFAULT}
    made = proctor.evaluate_sync(lambda text: "...", case(absent), config=config, store=store)
    with pytest.raises(SetupProblems, match=NOTHING):
        proctor.rescore_sync(made.run_id, store=store, config={"criteria": {"tool_trajectory_avg_score": 1}})
