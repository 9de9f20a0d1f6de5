"""A recorded opening before a simulated user: who speaks, and which turns are compared with the recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.errors import SetupProblems
from proctor.files.yaml.writer import write_yaml
from proctor.schema.format.case import EvalSet
from proctor.schema.results.run_result import CaseResult
from proctor.schema.serialize import case_hash, to_adk_json

SCENARIO = {"starting_prompt": "To Rome, please.", "conversation_plan": "Book a journey to Rome."}


def opening_turn(ask: str, expect: str | None = None, calls: list[str] | None = None) -> dict[str, Any]:
    """A turn of an opening: without an expectation it states nothing."""
    turn: dict[str, Any] = {"user_content": {"role": "user", "parts": [{"text": ask}]}}
    if expect is not None:
        turn["final_response"] = {"role": "model", "parts": [{"text": expect}]}
    if calls is not None:
        turn["intermediate_data"] = {"tool_uses": [{"name": name, "args": {}} for name in calls]}
    return turn


def a_set(*opening: Any, **case: Any) -> dict[str, Any]:
    state = {"final_session_state": {"heard": 1}}
    fields = {"eval_id": "rome", "conversation_scenario": SCENARIO, "opening": list(opening), **state, **case}
    return {"eval_set_id": "trips", "eval_cases": [fields]}


def agent(message: str, session: Any) -> str:
    session.state["heard"] = 1
    return "Booked." if "Rome" in message else "Where to?"


def play(eval_set: Any, user: Any = lambda so_far: None, **criteria: Any) -> CaseResult:
    run = proctor.evaluate_sync(agent, eval_set, config={"criteria": criteria}, user=user)
    return run.cases[0]


def messages(case: CaseResult) -> list[str]:
    trial = case.trials[0].trial
    assert trial is not None
    return [turn.user_content.joined_text() for turn in trial.turns]


def test_opening_precedes_the_starting_prompt_and_the_simulated_user() -> None:
    heard: list[int] = []

    def user(so_far: Any) -> str | None:
        heard.append(len(so_far))
        return "Thanks." if len(so_far) == 3 else None

    case = play(a_set("I want to travel.", opening_turn("By train.", "Where to?")), user)
    assert messages(case) == ["I want to travel.", "By train.", "To Rome, please.", "Thanks."]
    assert heard == [3, 4]  # no model is asked for a turn of the file
    trial = case.trials[0].trial
    assert trial is not None
    assert trial.played_user is not None
    assert (trial.played_user.opening, [each.turn for each in trial.played_user.replies]) == (2, [3, 4])


def test_behind_an_opening_the_starting_prompt_may_be_empty() -> None:
    scenario = {"starting_prompt": "", "conversation_plan": "Book."}
    user = lambda so_far: "Rome!" if len(so_far) == 1 else None  # noqa: E731 - it is one expression
    assert messages(play(a_set("Hello", conversation_scenario=scenario), user)) == ["Hello", "Rome!"]


@pytest.mark.parametrize("most", [1, 2, 5])
def test_the_limit_of_turns_counts_what_is_played(most: int) -> None:
    config = {"criteria": {}, "user_simulator_config": {"max_allowed_invocations": most}}
    run = proctor.evaluate_sync(agent, a_set("one", "two", "three"), config=config, user=lambda _: "more")
    assert len(messages(run.cases[0])) == 3 + most


MATCH = {"response_match_score": 1.0}


@pytest.mark.parametrize(
    ("opening", "score", "outcome"),
    [
        pytest.param([opening_turn("Hi", "Where to?")], 1.0, "passed", id="as recorded"),
        pytest.param([opening_turn("Hi", "Something else")], 0.0, "failed", id="another answer"),
        pytest.param(
            [opening_turn("Hi", "Where to?"), opening_turn("Hm", "No")], 0.5, "failed", id="one of two"
        ),
        pytest.param(["Hi", opening_turn("Hm", "Where to?")], 1.0, "passed", id="a text states nothing"),
    ],
)
def test_metrics_with_a_reference_judge_the_turns_that_state_something(
    opening: list[Any], score: float, outcome: str
) -> None:
    case = play(a_set(*opening), **MATCH)
    found = case.metrics["response_match_score"]
    assert (found.score, found.outcome, case.outcome) == (score, outcome, outcome)


def test_turns_without_expectations_are_not_applicable_and_give_the_reason() -> None:
    case = play(a_set("Hi", opening_turn("Hm", "No")), **MATCH)
    found = case.metrics["response_match_score"].per_trial[0]
    assert found is not None
    scores = found.per_invocation
    assert [(each.value, each.not_applicable) for each in scores] == [
        (None, True),
        (0.0, False),
        (None, True),
    ]
    assert "neither an answer nor calls" in scores[0].reason
    assert "Where to?" in json.dumps(scores[1].details)  # it is explained as ever
    assert "played" in scores[2].reason


def test_calls_are_compared_with_those_of_the_opening() -> None:
    ok = play(a_set(opening_turn("Hi", calls=[])), tool_trajectory_avg_score=1.0)
    missed = play(a_set(opening_turn("Hi", calls=["search"])), tool_trajectory_avg_score=1.0)
    assert (ok.outcome, missed.outcome) == ("passed", "failed")


def test_rubrics_of_a_turn_of_the_opening_are_asked_about_there() -> None:
    asked: list[str] = []

    def judge(messages: Any) -> str:
        asked.append(messages[-1].text)
        return "none of your business"

    rubric = {
        "rubric_id": "polite",
        "rubric_content": {"text_property": "It greets."},
        "type": "FINAL_RESPONSE_QUALITY",
    }
    opening = [opening_turn("Good morning"), {**opening_turn("Hm"), "rubrics": [rubric]}]
    config = {"criteria": {"rubric_based_final_response_quality_v1": {"threshold": 0.5, "rubrics": []}}}
    run = proctor.evaluate_sync(agent, a_set(*opening), config=config, user=lambda _: None, judge=judge)
    assert "judge unusable answer in turn 2" in run.cases[0].reason
    assert all("It greets." in one and "Hm" in one for one in asked)


def test_simulated_user_is_not_scored_by_the_recorded_turns() -> None:
    quality = "per_turn_user_simulator_quality_v1"
    options: Any = {
        "user": lambda so_far: None,
        "judge": lambda _: "nonsense",
        "config": {"criteria": {quality: 0.5}},
    }
    run = proctor.evaluate_sync(agent, a_set("Hi", "Hm"), **options)
    assert run.outcome == "error"
    score = run.cases[0].metrics[quality].per_trial[0]
    assert score is not None
    assert [each.not_applicable for each in score.per_invocation] == [True, True, False]
    nothing = {"starting_prompt": "", "conversation_plan": "Say nothing."}
    run = proctor.evaluate_sync(agent, a_set("Hi", conversation_scenario=nothing), **options)
    assert "judge" in run.cases[0].reason  # it is asked whether it was time to end


def test_a_case_with_another_opening_is_another_case() -> None:
    one, other, none = (EvalSet.model_validate(a_set(*turns)).eval_cases[0] for turns in (["Hi"], ["Ho"], []))
    assert len({case_hash(one), case_hash(other), case_hash(none)}) == 3


def test_an_opening_that_states_nothing_leaves_reference_metrics_out() -> None:
    found = play(a_set("Hi", "Hm"), **MATCH).metrics["response_match_score"]
    assert (found.score, found.outcome) == (None, "not_applicable")


def test_an_opening_alone_decides_no_scenario() -> None:
    with pytest.raises(SetupProblems, match="nothing decides it"):
        play(a_set(opening_turn("Hi", "Where to?"), final_session_state={}), **MATCH)


def test_each_turn_of_the_lowest_score_counts_as_in_recorded_cases() -> None:
    lowest = {"response_match_score": {"threshold": 1.0, "aggregate": "min"}}
    case = play(a_set(opening_turn("Hi", "Where to?"), opening_turn("Hm", "No")), **lowest)
    assert case.metrics["response_match_score"].score == 0.0


# --- the file ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        pytest.param(
            {"conversation": [opening_turn("Hi")], "conversation_scenario": None},
            "`opening` precedes a `conversation_scenario`",
            id="before a recorded conversation",
        ),
        pytest.param(
            {"opening": [{"ask": "Hi"}]}, r"opening\[0\].*user_content", id="a turn without a message"
        ),
        pytest.param({"opening": "Hi"}, "opening", id="no list"),
    ],
)
def test_invalid_opening_is_reported_with_its_location(
    case: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    file = tmp_path / "trips.evalset.json"
    file.write_text(json.dumps(a_set("Hi", **case), indent=1), encoding="utf-8")
    with pytest.raises(proctor.EvalFileError, match=problem) as error:
        proctor.load_eval_set(file)
    assert f"{file}:" in str(error.value)


def test_an_opening_survives_both_forms_of_files(tmp_path: Path) -> None:
    first = EvalSet.model_validate(a_set("Hi", opening_turn("Hm", "Where to?", [])))
    as_yaml = tmp_path / "trips.evalset.yaml"
    as_yaml.write_text(write_yaml(first), encoding="utf-8")
    assert "opening:\n      - Hi\n      - ask: Hm" in as_yaml.read_text(encoding="utf-8")
    as_json = tmp_path / "trips.evalset.json"
    as_json.write_text(to_adk_json(proctor.load_eval_set(as_yaml)), encoding="utf-8")
    assert proctor.load_eval_set(as_json) == first


@pytest.mark.needs_adk
@pytest.mark.filterwarnings("ignore")
def test_google_adk_reads_a_case_with_an_opening_and_keeps_it() -> None:
    from google.adk.evaluation.eval_set import EvalSet as Theirs

    ours = EvalSet.model_validate(a_set("Hi", opening_turn("Hm", "Where to?", [])))
    theirs = Theirs.model_validate_json(to_adk_json(ours))
    assert theirs.eval_cases[0].conversation_scenario.starting_prompt == SCENARIO["starting_prompt"]
    assert (
        EvalSet.model_validate_json(theirs.model_dump_json()).eval_cases[0].opening
        == ours.eval_cases[0].opening
    )


def test_a_case_without_an_opening_is_written_as_ever() -> None:
    recorded = EvalSet.model_validate(
        {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": []}]}
    )
    assert "opening" not in to_adk_json(recorded, full=True)


# --- blessing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_what_the_agent_did_in_an_opening_can_be_blessed(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    eval_set = EvalSet.model_validate(
        a_set("Hi", opening_turn("Hm", "Which town?", ["look"]), opening_turn("So", "Which?"))
    )
    file = tmp_path / f"trips.evalset.{suffix}"
    file.write_text(to_adk_json(eval_set) if suffix == "json" else write_yaml(eval_set), encoding="utf-8")
    config = {"criteria": {"response_match_score": 1.0, "tool_trajectory_avg_score": 1.0}}
    options: Any = {"config": config, "user": lambda so_far: None, "store": tmp_path / "runs.sqlite3"}
    assert proctor.evaluate_sync(agent, file, **options).outcome == "failed"
    (blessing,) = proctor.bless(store=tmp_path / "runs.sqlite3")
    blessing.write()
    assert (blessing.cases, blessing.refused) == (["rome"], [])
    opening = proctor.load_eval_set(file).eval_cases[0].opening or []
    assert [turn.final_response and turn.final_response.joined_text() for turn in opening] == [
        None, "Where to?", "Where to?",
    ]  # fmt: skip
    assert opening[1].tool_calls == []
    assert proctor.evaluate_sync(agent, file, **options).passed


def test_a_played_conversation_is_nothing_to_bless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file, store = tmp_path / "trips.evalset.json", tmp_path / "runs.sqlite3"
    file.write_text(json.dumps(a_set("Hi", final_session_state={})), encoding="utf-8")
    config = {"criteria": {"trajectory_rules": {"threshold": 1.0, "rules": [{"never": "look"}]}}}
    assert proctor.evaluate_sync(agent, file, config=config, user=lambda _: None, store=store).passed
    with pytest.raises(
        SetupProblems, match="a conversation with a simulated user cannot become an expectation"
    ):
        proctor.bless(cases=["rome"], store=store)
