"""adk-rs's runner in Python: its recorded cases come out as recorded, or are listed with the reason."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from proctor import Content, Event, Session, SetupError, SetupProblems
from proctor.compat.adk_rs import (
    EvalCase,
    EvalRunner,
    EvalScore,
    EvalSet,
    EvalStatus,
    Invocation,
    ResponseMatch,
    TrajectoryMatch,
    load_eval_set_from_file,
    load_eval_set_from_str,
)


def turn(ask: str = "q", answer: str = "sunny", *calls: str) -> dict[str, Any]:
    return {
        "user_content": {"role": "user", "parts": [{"text": ask}]},
        "final_response": {"role": "model", "parts": [{"text": answer}]},
        "intermediate_data": {
            "tool_uses": [{"name": call, "args": {}} for call in calls],
            "intermediate_responses": [],
        },
    }


def a_set(*turns: dict[str, Any], **more: Any) -> EvalSet:
    return EvalSet.model_validate(
        {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": list(turns), **more}]}
    )


def sunny(text: str) -> str:
    return "It is sunny today."


class Scripted:
    """Emits the recorded events, one list for each turn."""

    def __init__(self, streams: list[list[dict[str, Any]]]) -> None:
        self.streams = iter(streams)

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        for event in next(self.streams):
            yield Event.from_adk(event)


# --- as recorded -------------------------------------------------------------------------------------------------------

DIFFERENT = {
    "edge/empty_conversation": "a case without turns decides nothing and is refused; there it passes",
}


def recorded(shared: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        (shared / "golden" / "sister" / "adk_rs_runner.json").read_text()
    )["cases"]
    return found


@pytest.mark.slow
def test_every_recorded_case_comes_out_as_recorded_or_is_listed(shared: Path) -> None:
    same, other = 0, {}
    for vector in recorded(shared):
        case = EvalCase.model_validate({"eval_id": "c", "conversation": vector["conversation"]})
        evaluators = [
            TrajectoryMatch(vector["trajectory_threshold"]),
            ResponseMatch(vector["response_threshold"]),
        ]
        runner = EvalRunner(Scripted(vector["streams"]), "app", "user", evaluators)
        try:
            result = runner.run_case("s", case).result
        except SetupProblems as refused:
            other[vector["id"]] = str(refused)
            continue
        theirs = vector["expected_result"]
        compared: dict[str, Any] = {
            name: (score.score, score.status.value, score.details["per_invocation"])
            for name, score in result.scores.items()
        }
        wanted = {
            name: (
                pytest.approx(score["score"]),
                score["status"],
                pytest.approx(score["details"]["per_invocation"]),
            )
            for name, score in theirs["scores"].items()
        }
        if compared == wanted and result.overall_status == theirs["overall_status"]:
            same += 1
        else:
            other[vector["id"]] = f"{compared} instead of {theirs}"
    assert {*other} == {*DIFFERENT}, other
    assert same == 51 - len(DIFFERENT)


# --- a metric alone ----------------------------------------------------------------------------------------------------


def invocation(*, parts: Any = None, calls: Any = None) -> Invocation:
    document: dict[str, Any] = {"user_content": {"parts": [{"text": "q"}]}}
    if parts is not None:
        document["final_response"] = {"role": "model", "parts": parts}
    if calls is not None:
        document["intermediate_data"] = {"tool_uses": calls}
    return Invocation.model_validate(document)


def asked_alone(vector: dict[str, Any]) -> EvalScore:
    if "expected_parts" in vector:
        return ResponseMatch(vector["threshold"]).evaluate(
            invocation(parts=vector["expected_parts"]), invocation(parts=vector["actual_parts"])
        )
    return TrajectoryMatch(1.0).evaluate(
        invocation(calls=vector["expected"]), invocation(calls=vector["actual"])
    )


@pytest.mark.parametrize(("file", "count"), [("adk_rs_response.json", 116), ("adk_rs_trajectory.json", 104)])
def test_a_metric_alone_scores_as_recorded(shared: Path, file: str, count: int) -> None:
    vectors = json.loads((shared / "golden" / "sister" / file).read_text())["cases"]
    different = {}
    for vector in vectors:
        if vector.get("threshold") == 0.0:  # nothing could fail: refused here
            with pytest.raises(ValueError, match="cannot fail"):
                asked_alone(vector)
            continue
        wanted = vector["expected_result"]
        score = asked_alone(vector)
        close = score.score == pytest.approx(wanted["score"])
        if not close or (score.status, score.details) != (wanted["status"], wanted["details"]):
            different[vector["id"]] = (score, wanted)
    assert different == {}
    assert len(vectors) == count


RIGHT, WRONG = invocation(parts=[{"text": "It is sunny"}]), invocation(parts=[{"text": "rain"}])


def test_a_metric_alone_has_the_name_of_its_score() -> None:
    assert ResponseMatch(0.8).name() == "final_response_match_v1"
    assert TrajectoryMatch().name() == "tool_trajectory_avg_score"


def test_a_score_is_there_at_once_and_can_be_awaited() -> None:
    async def awaited() -> EvalScore:
        at_once = ResponseMatch(0.8).evaluate(RIGHT, RIGHT)
        score: EvalScore = await ResponseMatch(0.8).evaluate(RIGHT, RIGHT)
        assert at_once == score
        return score

    plain = ResponseMatch(0.8).evaluate(RIGHT, RIGHT)
    assert (plain.score, plain.status, plain.details) == (1.0, "PASSED", {"expected_tokens": 3, "hit": 3})
    assert asyncio.run(awaited()) == asyncio.run(ResponseMatch(0.8).evaluate(RIGHT, RIGHT)) == plain
    assert ResponseMatch(0.8).evaluate(RIGHT, WRONG).status is EvalStatus.FAILED


@pytest.mark.parametrize(
    ("metric", "arguments", "message"),
    [
        (ResponseMatch(0.8), ("It is sunny", RIGHT), "ResponseMatch.evaluate: expected: expected an Invocation"),
        (ResponseMatch(0.8), (RIGHT, None), "ResponseMatch.evaluate: actual: expected an Invocation"),
        (TrajectoryMatch(0.0), (RIGHT, RIGHT), "cannot fail"),
        (ResponseMatch(1.5), (RIGHT, RIGHT), "cannot pass"),
        (ResponseMatch(float("nan")), (RIGHT, RIGHT), "threshold"),
        (ResponseMatch("much"), (RIGHT, RIGHT), "threshold"),  # type: ignore[arg-type]  # on purpose
    ],
)  # fmt: skip
def test_what_a_metric_alone_cannot_score_is_refused(metric: Any, arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metric.evaluate(*arguments)


def test_a_metric_within_an_evaluator_of_ones_own() -> None:
    class Half:
        def name(self) -> str:
            return "half"

        def evaluate(self, expected: Invocation, actual: Invocation) -> EvalScore:
            return EvalScore(ResponseMatch(0.8).evaluate(expected, actual).score / 2, EvalStatus.FAILED)

    [result] = EvalRunner(sunny, "a", "u", [Half()]).run_set(a_set(turn())).result.results
    assert (result.scores["half"].score, result.overall_status) == (0.5, EvalStatus.FAILED)


def test_a_metric_whose_rule_is_replaced_is_not_scored_by_the_old_one() -> None:
    class Lenient(ResponseMatch):
        def evaluate(self, expected: Invocation, actual: Invocation) -> EvalScore:
            return EvalScore(1.0, EvalStatus.PASSED)

    with pytest.raises(SetupError, match="is the name of a metric of Proctor"):
        EvalRunner(sunny, "a", "u", [Lenient()]).run_set(a_set(turn()))


@pytest.mark.parametrize("session", [{}, {"state": {"x": 1}}, {"app_name": None}])
def test_a_session_need_not_name_app_and_user(session: dict[str, Any]) -> None:
    eval_set = load_eval_set_from_str(json.dumps(json.loads(a_set(turn()).model_dump_json()) | {
        "eval_cases": [{"eval_id": "c", "conversation": [turn()], "session_input": session}]
    }))  # fmt: skip
    report = EvalRunner(sunny, "a", "u", [ResponseMatch(0.5)]).run_set(eval_set).result
    assert report.results[0].overall_status is EvalStatus.PASSED


# --- the documents' example --------------------------------------------------------------------------------------------


def test_the_documents_example(tmp_path: Path) -> None:
    path = tmp_path / "hello_world.evalset.json"
    path.write_text(a_set(turn(), turn(answer="sunny")).model_dump_json())
    eval_set = load_eval_set_from_file(path).result
    runner = EvalRunner(sunny, "hello_world", "eval-user", [TrajectoryMatch(1.0), ResponseMatch(0.5)])
    report = runner.run_set(eval_set).result
    assert [(each.eval_case_id, each.overall_status) for each in report.results] == [("c", EvalStatus.FAILED)]
    assert report.results[0].scores["final_response_match_v1"] == EvalScore(
        1.0, EvalStatus.PASSED, {"per_invocation": [1.0, 1.0]}
    )
    assert json.loads(report.to_json())["results"][0]["scores"]["tool_trajectory_avg_score"] == {
        "score": 0.0,
        "status": "FAILED",
        "details": {"per_invocation": [0.0, 0.0]},
    }


def test_awaited_it_does_the_same() -> None:
    async def main() -> EvalStatus:
        runner = EvalRunner(sunny, "a", "u", [ResponseMatch(0.5)])
        report = await runner.run_set(load_eval_set_from_str(a_set(turn()).model_dump_json()))
        return report.results[0].overall_status

    assert asyncio.run(main()) is EvalStatus.PASSED


def test_the_session_has_the_constructors_names_and_the_cases_state() -> None:
    seen = []

    def look(text: str, session: Session) -> str:
        seen.append((session.app_name, session.user_id, dict(session.state)))
        return "sunny"

    session = {"app_name": "other", "user_id": "other", "state": {"x": 1}}
    EvalRunner(look, "app", "user", [ResponseMatch()]).run_set(a_set(turn(), session_input=session))
    assert seen == [("app", "user", {"x": 1})]


def test_one_turn_below_the_threshold_fails_the_case() -> None:
    report = (
        EvalRunner(sunny, "a", "u", [ResponseMatch(0.5)])
        .run_set(a_set(turn(), turn(answer="rain and storm")))
        .result
    )
    score = report.results[0].scores["final_response_match_v1"]
    assert (score.score, score.status) == (0.5, EvalStatus.FAILED)


# --- evaluators of one's own -------------------------------------------------------------------------------------------


class Polite:
    """Whether the answer is polite."""

    def __init__(self, status: EvalStatus = EvalStatus.PASSED) -> None:
        self.status = status

    def name(self) -> str:
        return "polite"

    def evaluate(self, expected: Invocation, actual: Invocation) -> EvalScore:
        assert expected.user_content == actual.user_content
        return EvalScore(0.7, self.status, {"reason": "says please"})


class PoliteLater(Polite):
    async def evaluate(self, expected: Invocation, actual: Invocation) -> EvalScore:  # type: ignore[override]  # either form
        return super().evaluate(expected, actual)


class Broken(Polite):
    def evaluate(self, expected: Invocation, actual: Invocation) -> EvalScore:
        raise RuntimeError("no dictionary")


class NoScoreObject(Polite):
    def evaluate(self, expected: Invocation, actual: Invocation) -> EvalScore:
        return 0.7  # type: ignore[return-value]  # on purpose


class NoNumber(Polite):
    def __init__(self, score: Any) -> None:
        super().__init__()
        self.score = score

    def evaluate(self, expected: Invocation, actual: Invocation) -> EvalScore:
        return EvalScore(self.score, EvalStatus.PASSED)


OWN = {
    "NaN": (NoNumber(float("nan")), EvalStatus.ERROR, EvalStatus.FAILED),
    "no score": (NoNumber(None), EvalStatus.ERROR, EvalStatus.FAILED),
    "plain": (Polite(), EvalStatus.PASSED, EvalStatus.PASSED),
    "async": (PoliteLater(), EvalStatus.PASSED, EvalStatus.PASSED),
    "failed": (Polite(EvalStatus.FAILED), EvalStatus.FAILED, EvalStatus.FAILED),
    "error": (Polite(EvalStatus.ERROR), EvalStatus.ERROR, EvalStatus.FAILED),
    "raises": (Broken(), EvalStatus.ERROR, EvalStatus.FAILED),
    "another type": (NoScoreObject(), EvalStatus.ERROR, EvalStatus.FAILED),
}


@pytest.mark.parametrize(("evaluator", "status", "overall"), OWN.values(), ids=OWN)
def test_score_of_a_custom_evaluator_counts(
    evaluator: Polite, status: EvalStatus, overall: EvalStatus
) -> None:
    [result] = (
        EvalRunner(sunny, "a", "u", [ResponseMatch(0.5), evaluator]).run_set(a_set(turn())).result.results
    )
    assert (result.scores["polite"].status, result.overall_status) == (status, overall)
    if status is not EvalStatus.ERROR:
        assert result.scores["polite"].score == 0.7
    assert result.scores["final_response_match_v1"].status is EvalStatus.PASSED


def test_it_is_known_only_while_its_runner_is_at_work() -> None:
    from proctor.common.registry import METRICS

    EvalRunner(sunny, "a", "u", [Polite()]).run_set(a_set(turn()))
    assert "polite" not in METRICS


# --- never green by accident -------------------------------------------------------------------------------------------


def test_agent_that_raises_fails_its_case_with_the_reason() -> None:
    def breaks(text: str) -> str:
        raise ConnectionError("down")

    report = EvalRunner(breaks, "a", "u", [ResponseMatch()]).run_set(a_set(turn())).result
    assert report.results[0].overall_status is EvalStatus.FAILED
    assert report.run.exit_code == 3
    assert "ConnectionError: down" in report.to_json()


def test_no_evaluators_and_two_of_one_name_are_refused() -> None:
    with pytest.raises(SetupError, match="nothing would decide"):
        EvalRunner(sunny, "a", "u", [])
    with pytest.raises(SetupError, match="two evaluators are called"):
        EvalRunner(sunny, "a", "u", [ResponseMatch(), ResponseMatch(0.5)])


def test_reserved_name_is_refused() -> None:
    class Sly(Polite):
        def name(self) -> str:
            return "response_match_score"

    with pytest.raises(SetupError, match="is the name of a metric of Proctor"):
        EvalRunner(sunny, "a", "u", [Sly()]).run_set(a_set(turn()))


def test_an_empty_set_is_refused() -> None:
    with pytest.raises(SetupError):
        EvalRunner(sunny, "a", "u", [ResponseMatch()]).run_set(EvalSet(eval_set_id="s", eval_cases=[]))
