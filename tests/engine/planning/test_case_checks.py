"""The expectations of cases for certain metrics are checked before the run."""

from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.common.registry import METRICS
from proctor.engine.planning.case_checks import READERS, reader_of
from proctor.engine.planning.plan import make_plan
from proctor.engine.planning.set_plan import EvalSetSource, SetRequest
from proctor.engine.run_options import RunOptions
from proctor.errors import SetupError
from proctor.judges.pool import RunJudges
from proctor.metrics.base import CaseView, MetricFacts
from proctor.models.scripted import ScriptedModel
from proctor.schema.format.case import EvalCase, EvalSet, all_extensions, contradictory_extensions
from proctor.schema.format.config import EvalConfig
from proctor.schema.results.score import MetricScore

TURN = {"user_content": {"parts": [{"text": "q"}]}, "final_response": {"parts": [{"text": "a"}]}}
TEXT = {"response_match_score": 0.5}
SLIPS: dict[str, tuple[dict[str, Any], str]] = {
    "expectations": ({"expectations": {"calls": [], "forbiden": ["a"]}}, "Did you mean 'forbidden'"),
    "rules": ({"trajectory_rules": [{"nevr": "a"}]}, "Did you mean 'never'"),
    "state": ({"final_session_state": {"n": {"$match": "numbr"}}}, "Did you mean 'number'"),
    "schema": ({"response_schema": {"type": "objekt"}}, "it is not a JSON Schema"),
    "a turn": ({"expectations": {"turn": 2, "calls": []}}, "the case has 1 turn(s), got 2"),
    "camelCase": ({"trajectoryRules": [{"nevr": "a"}]}, "trajectoryRules[0]: "),
    "in the session input": (
        {"session_input": {"app_name": "a", "user_id": "u", "expectations": {"calls": ["f(a=1)"]}}},
        "session_input.expectations.calls[0]: ",
    ),
    "two locations with different values": (
        {
            "session_input": {"app_name": "a", "user_id": "u", "expectations": {"calls": []}},
            "expectations": {"calls": ["a"]},
        },
        "session_input.expectations: `expectations` has another value; keep one of the two",
    ),
    "two spellings": (
        {"responseSchema": {"type": "object"}, "response_schema": {"type": "array"}},
        "responseSchema: `response_schema` has another value",
    ),
}


def test_a_slip_in_a_case_stops_the_run_before_the_first_call() -> None:
    def agent(text: str) -> str:
        raise AssertionError("the agent was asked")

    cases = [{"eval_id": "c", "conversation": [TURN], "expectations": {"call": []}}]
    with pytest.raises(SetupError, match="Did you mean 'calls'"):
        proctor.evaluate_sync(agent, {"eval_set_id": "s", "eval_cases": cases}, config={"criteria": TEXT})


def plan_of(case: dict[str, Any], criteria: dict[str, Any], *others: dict[str, Any], **options: Any) -> Any:
    cases = [
        {"eval_id": f"c{number}", "conversation": [TURN], **each}
        for number, each in enumerate((case, *others))
    ]
    source = EvalSetSource(EvalSet.model_validate({"eval_set_id": "s", "eval_cases": cases}))
    planned = SetRequest(source, EvalConfig.model_validate({"criteria": criteria}), "config")
    if only := options.pop("only", None):
        planned.only = only
    return make_plan([planned], RunOptions(**options))


@pytest.mark.parametrize(
    "criteria", [TEXT, {**TEXT, **dict.fromkeys(READERS.values(), 1)}], ids=["unread", "read"]
)
@pytest.mark.parametrize(("case", "problem"), SLIPS.values(), ids=SLIPS)
def test_a_slip_is_refused_whether_or_not_a_metric_reads_it(
    case: dict[str, Any], problem: str, criteria: dict[str, Any]
) -> None:
    with pytest.raises(SetupError) as caught:
        plan_of(case, criteria, {"response_schema": {"type": "object"}})
    assert problem in str(caught.value)
    assert str(caught.value).count("case 'c0'") == 1


def test_typo_in_a_state_is_refused_even_where_the_state_is_ignored() -> None:
    with pytest.raises(SetupError, match="numbr"):
        plan_of({"final_session_state": {"n": {"$match": "numbr"}}}, TEXT, metrics=["response_match_score"])


@pytest.mark.parametrize(
    "stated",
    [
        {"expectations": {"forbidden": ["a"]}},
        {"session_input": {"app_name": "a", "user_id": "u", "expectations": {"forbidden": ["a"]}}},
        {"sessionInput": {"appName": "a", "userId": "u", "expectations": [{"forbidden": ["a"]}]}},
    ],
    ids=["case", "session input", "session input in camelCase"],
)
@pytest.mark.parametrize("tools", [["a"], ["b"]], ids=repr)
def test_what_is_expected_decides_wherever_it_is_stated(stated: dict[str, Any], tools: list[str]) -> None:
    case = {"eval_id": "c", "conversation": [TURN], **stated}
    result = proctor.evaluate_sync(
        lambda text: {"text": "a", "tool_calls": [{"name": name, "args": {}} for name in tools]},
        {"eval_set_id": "s", "eval_cases": [case]},
        config={"criteria": {"tool_expectations": 1.0}},
    )
    assert result.passed == (tools == ["b"])


def test_the_same_in_two_places_counts_once() -> None:
    once = {"calls": ["a"]}
    session = {"app_name": "a", "user_id": "u", "expectations": once}
    case = EvalCase.model_validate(
        {
            "eval_id": "c",
            "conversation": [TURN],
            "expectations": once,
            "session_input": session,
            "note": "mine",
        }
    )
    assert [*contradictory_extensions(case)] == []
    assert all_extensions(case) == {"expectations": once, "note": "mine"}


def test_expectations_that_no_metric_reads_are_a_warning() -> None:
    stated: list[tuple[str, dict[str, Any]]] = [("expectations", {"calls": []}), ("response_schema", {})]
    for key, value in stated:
        tried: list[tuple[dict[str, Any], bool]] = [(TEXT, True), ({READERS[key]: 1}, False)]
        for criteria, is_reported in tried:
            plan = plan_of({key: value}, criteria)
            assert (f"1 case(s) state `{key}`, which nothing reads" in "".join(plan.warnings)) == is_reported


# --- criteria against all the cases that they score ------------------------------------------------------------------------

TURN_3 = {"tool_expectations": {"threshold": 1, "expectations": {"turn": 3, "calls": ["a"]}}}
HOW = {"final_session_state": {"threshold": 1, "state": {"totl": "text"}}}
THREE = {"conversation": [TURN, TURN, TURN]}
TOTAL = {"final_session_state": {"total": "x"}}


@pytest.mark.parametrize(
    ("criteria", "cases", "problem"),
    [
        pytest.param(TURN_3, [{}], "expectations.turn: it is about turn 3, and no case has more than 1 turn(s)", id="no such turn"),
        pytest.param(HOW, [{}], "`totl` would be compared, which no case states", id="no state"),
        pytest.param(HOW, [TOTAL], "Did you mean 'total'?", id="another key"),
        pytest.param({"response_schema": 1.0}, [{}], "neither the criterion nor any case states a schema", id="no schema"),
    ],
)  # fmt: skip
def test_a_criterion_that_is_about_no_case_is_refused(
    criteria: dict[str, Any], cases: list[dict[str, Any]], problem: str
) -> None:
    with pytest.raises(SetupError) as caught:
        plan_of(cases[0], {**TEXT, **criteria}, *cases[1:])
    assert problem in str(caught.value)
    plan = plan_of(cases[0], {**TEXT, **criteria}, *cases[1:], only=["c0"])
    assert problem in "".join(plan.warnings), "of a part of the cases it is only a warning"


@pytest.mark.parametrize(
    ("criteria", "cases", "warning"),
    [
        pytest.param(TURN_3, [{}, THREE], "is about turn 3, which 1 of 2 cases do not have", id="some have the turn"),
        pytest.param(TURN_3, [THREE, THREE], "", id="all have it"),
        pytest.param(
            {"final_session_state": {"threshold": 1, "state": {"totl": "text", "total": "text"}}}, [TOTAL],
            "state.totl: no case states `totl`. Did you mean 'total'?", id="a typo of a stated key",
        ),
        pytest.param({"response_schema": 1.0}, [{}, {"response_schema": {"type": "object"}}], "", id="a schema in one case"),
        pytest.param({"response_schema": 1.0}, [{"response_schema": {}}], "any JSON fits", id="a schema that allows all"),
    ],
)  # fmt: skip
def test_warning_about_some_cases_names_them(
    criteria: dict[str, Any], cases: list[dict[str, Any]], warning: str
) -> None:
    warnings = "".join(plan_of(cases[0], {**TEXT, **criteria}, *cases[1:]).warnings)
    assert warning in warnings
    assert bool(warning) == bool(warnings)


def test_a_run_of_some_cases_can_be_judged_again(tmp_path: Path) -> None:
    cases = [
        {"eval_id": "a", "conversation": [TURN]},
        {"eval_id": "b", "conversation": [TURN], "response_schema": {}},
    ]
    store = f"sqlite:///{tmp_path / 'runs.db'}"
    config = {"criteria": {**TEXT, "response_schema": 1.0}}
    eval_set = {"eval_set_id": "s", "eval_cases": cases}
    result = proctor.evaluate_sync(lambda text: "a", eval_set, config=config, only={"s": ["a"]}, store=store)
    assert result.passed
    assert proctor.rescore_sync("latest", store=store).passed


def test_sets_that_share_a_config_are_checked_together() -> None:
    config = EvalConfig.model_validate({"criteria": {**TEXT, "response_schema": 1.0}})
    beyond: dict[str, dict[str, Any]] = {"a": {}, "b": {"response_schema": {}}}
    sets = [
        {"eval_set_id": name, "eval_cases": [{"eval_id": "c", "conversation": [TURN], **more}]}
        for name, more in beyond.items()
    ]
    planned = [SetRequest(EvalSetSource(EvalSet.model_validate(each)), config, "config") for each in sets]
    make_plan(planned, RunOptions())
    with pytest.raises(SetupError, match="neither the criterion nor any case"):
        make_plan(planned[:1], RunOptions())


STATE = {
    "final_session_state": {"threshold": 1, "state": {"n": {"match": "number", "value": 5, "tolerance": 1}}}
}


@pytest.mark.parametrize(("number", "passes"), [(5, True), (7, False), (None, False)])
def test_a_state_that_only_the_criterion_expects_decides(number: int | None, passes: bool) -> None:
    def agent(text: str, state: dict[str, Any]) -> str:
        state.update({} if number is None else {"n": number})
        return "a"

    eval_set = {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [TURN]}]}
    for criteria in (STATE, {**TEXT, **STATE}):
        assert proctor.evaluate_sync(agent, eval_set, config={"criteria": criteria}).passed == passes


def rubric(kind: str | None) -> dict[str, Any]:
    typed = {} if kind is None else {"type": kind}
    return {"rubric_id": f"r-{kind}", "rubric_content": {"text_property": "It is polite."}, **typed}


ANSWER, TOOLS = "FINAL_RESPONSE_QUALITY", "TOOL_USE_QUALITY"
JUDGED = {**TEXT, "rubric_based_final_response_quality_v1": 0.5}
OPTIONS: dict[str, Any] = {"judges": RunJudges(find=lambda *_: ScriptedModel([]), default="scripted")}
UNREAD_RUBRICS: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "of the case": ({"rubrics": [rubric(ANSWER)]}, TEXT, [f"rubrics of type {ANSWER}"]),
    "of a turn": ({"conversation": [{**TURN, "rubrics": [rubric(TOOLS)]}]}, TEXT, [f"rubrics of type {TOOLS}"]),
    "without type": ({"rubrics": [rubric(None)]}, TEXT, ["rubrics"]),
    "of a type that no metric has": ({"rubrics": [rubric("OTHER")]}, TEXT, ["rubrics of type OTHER"]),
    "of several types": ({"rubrics": [rubric(ANSWER), rubric(TOOLS)]}, JUDGED, [f"rubrics of type {TOOLS}"]),
    "that are read": ({"rubrics": [rubric(ANSWER)]}, JUDGED, []),
}  # fmt: skip


@pytest.mark.parametrize(("stated", "criteria", "unread"), UNREAD_RUBRICS.values(), ids=UNREAD_RUBRICS)
def test_rubrics_that_no_metric_reads_are_warned_about(
    stated: dict[str, Any], criteria: dict[str, Any], unread: list[str]
) -> None:
    plan = plan_of(stated, criteria, **OPTIONS)
    assert [*plan.sets[0].unread] == unread
    assert [one for one in plan.warnings if "which nothing reads" in one] == [
        f"config: 1 case(s) state `{key}`, which nothing reads: name `{reader_of(key)}` in the criteria"
        for key in unread
    ]


def test_rubrics_of_a_metric_that_is_left_out_are_no_slip() -> None:
    plan = plan_of({"rubrics": [rubric(ANSWER)]}, JUDGED, no_judge=True)
    assert plan.sets[0].unread == {}


@pytest.mark.parametrize("name", ["reason_not_applicable", "why_not"])
def test_a_custom_metric_names_what_a_case_lacks(name: str) -> None:
    class Depth:
        def __init__(self, criterion: object = None) -> None: ...

        facts = MetricFacts(name="depth", description="how deep an answer is", default_threshold=0.5)

        def applies(self, case: EvalCase) -> bool:
            return False

        def score(self, case: CaseView) -> MetricScore:
            raise AssertionError("no case is scored")

    setattr(Depth, name, lambda self, case: "it has no depth")
    METRICS.add("depth", Depth)
    with pytest.raises(SetupError, match="it has no depth"):
        plan_of({}, {"depth": 0.5})
