"""Every configuration error is reported before the first agent call, all at once."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.engine.planning.criteria import bind
from proctor.engine.planning.plan import make_plan
from proctor.engine.planning.set_plan import EvalSetSource, SetRequest
from proctor.engine.run_options import RunOptions
from proctor.errors import SetupError, SetupProblems
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.config import EvalConfig
from tests.engine.scripted import EXACT, TEXT, case, eval_set, plan_of, turn

SCENARIO = {
    "eval_id": "played",
    "conversation_scenario": {"starting_prompt": "hi", "conversation_plan": "Say hi, then stop."},
}


def config(**criteria: Any) -> EvalConfig:
    return EvalConfig(criteria=criteria)


def refused(given: EvalSet, criteria: EvalConfig = EXACT, **options: Any) -> str:
    with pytest.raises(SetupProblems) as caught:
        plan_of(given, criteria, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("criteria", "message"),
    [
        pytest.param(
            config(tool_trajectory_avg_scor=1.0), "Did you mean 'tool_trajectory_avg_score'?", id="misspelled"
        ),
        pytest.param(
            config(safety_v1=0.5),
            "'safety_v1' asks a language model, and none may be asked here",
            id="a judge metric",
        ),
        pytest.param(config(token_usage_v1=1.0), "informational", id="an efficiency metric with a threshold"),
        pytest.param(config(response_match_score=0.0), "cannot fail", id="a threshold that cannot fail"),
        pytest.param(config(response_match_score=1.1), "cannot pass", id="a threshold that cannot pass"),
        pytest.param(
            config(tool_trajectory_avg_score={"threshold": 1, "match_typ": "EXACT"}),
            "Did you mean 'match_type'?",
            id="a misspelled option",
        ),
        pytest.param(
            config(tool_trajectory_avg_score={"threshold": 1, "gate": "no"}),
            "`gate` must be",
            id="gate is not a boolean",
        ),
        pytest.param(
            config(tool_trajectory_avg_score={"threshold": 1, "applies_to": "all"}),
            "`applies_to`",
            id="applies_to",
        ),
        pytest.param(EvalConfig(), "nothing decides it", id="no criteria"),
        pytest.param(
            config(tool_trajectory_avg_score={"threshold": 1, "gate": False}),
            "nothing decides it",
            id="no gate",
        ),
        pytest.param(
            config(tool_trajectory_avg_score={"threshold": 1, "applies_to": "scenario"}),
            "nothing decides it",
            id="applies to other cases only",
        ),
        pytest.param(
            EvalConfig(criteria={"tool_trajectory_avg_score": 1.0}, live_model_config={}),
            "live_model_config",
            id="live audio",
        ),
        pytest.param(
            EvalConfig(
                criteria={"tool_trajectory_avg_score": 1.0}, user_simulator_config={"type": "llm_audio"}
            ),
            "llm_audio",
            id="spoken users",
        ),
    ],
)
def test_what_is_wrong_with_a_config(criteria: EvalConfig, message: str) -> None:
    assert message in refused(eval_set(case("a")), criteria)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param(eval_set(), "has no cases", id="an empty set"),
        pytest.param(eval_set(SCENARIO), "scenario", id="a scenario"),
        pytest.param(eval_set({"eval_id": "e", "conversation": []}), "no turns", id="no turns"),
    ],
)
def test_what_is_wrong_with_a_set(given: EvalSet, message: str) -> None:
    assert message in refused(given)


def test_criteria_that_decide_nothing_are_reported_once_for_a_set() -> None:
    message = refused(
        eval_set(*(case(f"c{n}") for n in range(30)), case("z", final_session_state={"k": 1})), EvalConfig()
    )
    assert message == (
        "set: case 'c0' (and 29 more of set): nothing decides it: the criteria have no gating metric, and the case "
        "states no final session state: see given"
    )


def test_a_case_that_asserts_only_for_what_was_left_out_by_hand_is_skipped() -> None:
    plan, _ = plan_of(eval_set(case("a")), config(safety_v1=1.0), no_judge=True)
    assert plan.sets[0].skip_reason(0) == "asserts something only for safety_v1, left out by --no-judge"


def test_a_case_without_reference_is_not_decided_by_the_text() -> None:
    given = eval_set(case("a", turn("a", expect=None)), case("b"))
    assert "'a': nothing decides it: response_match_score" in refused(given, TEXT)


def test_a_stated_final_state_decides_by_itself() -> None:
    plan, _ = plan_of(eval_set(case("a", final_session_state={"k": 1})), EvalConfig())
    assert plan.trials == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"num_runs": 0}, "num_runs must be at least 1, got 0", id="num_runs"),
        pytest.param({"concurrency": 0}, "concurrency must be at least 1", id="concurrency"),
        pytest.param({"limit": 0}, "limit must be at least 1", id="limit"),
        pytest.param({"retry_errors": -1}, "retry_errors must be at least 0", id="retries"),
        pytest.param({"timeout": 0}, "timeout must be a number of seconds above 0", id="timeout"),
        pytest.param(
            {"trial_timeout": float("nan")}, "trial_timeout must be", id="a time that is not a number"
        ),
        pytest.param({"num_runs": 1_000_001}, "num_runs must be at most 1,000,000, got 1000001", id="trials"),
        pytest.param({"concurrency": 10_001}, "concurrency must be at most 10,000", id="at once"),
        pytest.param({"retry_errors": 1_001}, "retry_errors must be at most 1,000", id="most retries"),
        *(
            pytest.param(
                {name: most + 1},
                f"{name} must be at most 2**63 - 1, got 9223372036854775808",
                id=f"most {name}",
            )
            for most in [2**63 - 1]
            for name in ("limit", "max_failures", "max_tokens", "max_judge_calls", "max_text", "max_events")
        ),
        pytest.param(
            {"limit": 10**5000}, "limit must be at most 2**63 - 1, got a larger one", id="unwritable"
        ),
        *(
            pytest.param({name: value}, f"{name} must be a number of", id=f"{name} {kind}")
            for name in ("timeout", "trial_timeout", "max_time", "max_cost")
            for kind, value in {"infinite": float("inf"), "unwritable": 10**5000}.items()
        ),
        pytest.param({"compat": "abk"}, "compat knows only 'adk'", id="compat"),
        pytest.param(
            {"metrics": ["respons_match_score"]},
            "the criteria do not have 'respons_match_score'",
            id="metrics",
        ),
        pytest.param({"tags": ["smoke"]}, "no case carries the tag smoke", id="tags"),
        pytest.param({"setup": "not callable"}, "must be a function", id="hook"),
        pytest.param({"teardown": lambda database: None}, "asks for database", id="hook parameters"),
    ],
)
def test_what_is_wrong_with_the_options(options: dict[str, Any], message: str) -> None:
    assert message in refused(eval_set(case("a")), **options)


def test_unknown_case_ids_are_refused_with_the_closest_one() -> None:
    source = EvalSetSource(eval_set(case("booking"), case("refund")))
    with pytest.raises(SetupProblems, match=r"no case 'bokking'\. Did you mean 'booking'\?"):
        make_plan([SetRequest(source, EXACT, "given", only=["refund", "bokking"])], RunOptions())


def test_all_problems_come_at_once_and_each_once() -> None:
    wrong = config(nope=1.0)
    sets = [
        SetRequest(EvalSetSource(eval_set(case("a"), eval_set_id=name)), wrong, "c.json")
        for name in ("s", "t")
    ]
    with pytest.raises(SetupProblems) as caught:
        make_plan(sets, RunOptions(num_runs=0), [SetupError("found while loading")])
    lines = [str(problem) for problem in caught.value.problems]
    assert lines[0] == "found while loading"
    assert [line for line in lines if "nope" in line] == lines[2:3]
    assert len(lines) == 3


def test_two_cases_of_one_id_in_a_set_made_in_python() -> None:
    with pytest.raises(SetupError, match="duplicate case id 'a'"):
        EvalSetSource(eval_set(case("a"), case("b"), case("a")))


def test_limit_tags_and_ids_choose() -> None:
    given = eval_set(case("a", tags=["x"]), case("b", tags="y"), case("c", tags=["x", "y"]), case("d"))
    assert plan_of(given, tags=["x"])[0].sets[0].cases == [0, 2]
    assert plan_of(given, tags=["x", "y"], limit=2)[0].sets[0].cases == [0, 1]
    plan = make_plan([SetRequest(EvalSetSource(given), EXACT, "given", only=["d", "b"])], RunOptions())
    assert plan.sets[0].cases == [1, 3]


class Counted(EvalSetSource):
    """Notes which cases are read."""

    def __init__(self, given: EvalSet) -> None:
        super().__init__(given)
        self.read: list[int] = []

    def case(self, index: int) -> EvalCase:
        self.read.append(index)
        return super().case(index)


@pytest.mark.parametrize(
    ("only", "options", "read"),
    [
        pytest.param([], {}, [0, 1, 2, 3], id="all"),
        pytest.param(["c"], {}, [2], id="one by its id"),
        pytest.param([], {"limit": 2}, [0, 1], id="the first two"),
        pytest.param(["b", "d"], {"tags": ["x"]}, [1, 3], id="two, to see their tags"),
    ],
)
def test_no_case_is_read_that_will_not_run(only: list[str], options: dict[str, Any], read: list[int]) -> None:
    source = Counted(eval_set(*(case(name, tags=["x"]) for name in "abcd")))
    make_plan([SetRequest(source, EXACT, "given", only=only)], RunOptions(**options))
    assert source.read == read


def test_metrics_left_out_are_named_with_who_left_them_out() -> None:
    both = config(tool_trajectory_avg_score=1.0, response_match_score=0.8, safety_v1=0.5)
    plan, _ = plan_of(eval_set(case("a")), both, metrics=["response_match_score"], no_judge=True)
    skipped = plan.sets[0].summary.skipped_metrics
    assert skipped["tool_trajectory_avg_score"] == "--metrics"
    assert "token_usage_v1" not in skipped  # always reported
    plan, _ = plan_of(eval_set(case("a")), both, no_judge=True)
    assert plan.sets[0].summary.skipped_metrics == {"safety_v1": "--no-judge"}


def test_the_efficiency_metrics_and_the_final_state_come_by_themselves() -> None:
    names = [metric.name for metric in bind(EXACT, RunOptions()).metrics]
    assert names == [
        "tool_trajectory_avg_score",
        "final_session_state",
        "tool_call_count_v1",
        "inference_call_count_v1",
        "token_usage_v1",
        "invocation_duration_v1",
    ]


def test_compat_leaves_the_final_state_unchecked_as_adk_does() -> None:
    names = [metric.name for metric in bind(EXACT, RunOptions(compat="adk")).metrics]
    assert "final_session_state" not in names


@pytest.mark.parametrize(
    ("name", "criterion", "why"),
    [
        ("response_match_score", {}, "no turn of the case states a reference answer (`final_response`)"),
        ("rouge_1", {}, "no turn of the case states a reference answer (`final_response`)"),
        ("trajectory_recall", {}, "no turn of the case expects a tool call"),
        ("tool_expectations", {}, "neither the case nor the criterion states `expectations`"),
        (
            "tool_expectations",
            {"expectations": {"turn": 5, "calls": ["x"]}},
            "the criterion expects something of turn 5, and this conversation has 1 turn(s)",
        ),
        ("trajectory_rules", {}, "neither the criterion nor the case states rules"),
        ("response_schema", {}, "neither the case nor the criterion states a schema"),
        ("intermediate_response_match", {}, "no turn of the case states intermediate responses"),
        ("graph_trajectory_strict_match", {}, "no turn of the case states who works in it"),
        ("trajectory_exact_match", {"applies_to": "scenario"}, "it does not score recorded cases"),
    ],
)
def test_what_a_case_lacks_that_nothing_decides(name: str, criterion: dict[str, Any], why: str) -> None:
    bare = EvalCase.model_validate(
        {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "hi"}]}}]}
    )
    given = EvalSet(eval_set_id="set", eval_cases=[bare])
    message = refused(given, config(**{name: {"threshold": 1, **criterion}}))
    assert f"case 'a': nothing decides it: {name}: {why}" in message


@pytest.mark.parametrize(
    ("texts", "turns", "why"),
    [
        (["ok"], "all", "no reference answer of the case (`final_response`) states a number"),
        (["5", "ok"], "last", "no reference answer of the case (`final_response`) states a number"),
        ([" "], "all", "no turn of the case states a reference answer (`final_response`)"),
        (["5", ""], "last", "no turn of the case states a reference answer (`final_response`)"),
    ],
)
def test_reference_answers_without_a_number_are_not_missing(texts: list[str], turns: str, why: str) -> None:
    conversation = [
        {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": text}]}}
        for text in texts
    ]
    case = EvalCase.model_validate({"eval_id": "a", "conversation": conversation})
    message = refused(
        EvalSet(eval_set_id="set", eval_cases=[case]), config(numeric_match={"threshold": 1, "turns": turns})
    )
    assert f"case 'a': nothing decides it: numeric_match: {why}" in message
