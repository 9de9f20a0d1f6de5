"""The rubric metrics compared with recordings of google-adk: the same votes give the same scores, or are listed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from proctor.common.registry import METRICS, load_object
from proctor.errors import MetricError, SetupError
from proctor.judges.base import Question
from proctor.metrics.judged.checklist import Checked
from proctor.metrics.judged.rubrics.base import (
    LocatedRubric,
    RubricResult,
    for_turn,
    rubric_results,
    share,
    with_places,
)
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.rubric import Rubric
from proctor.schema.results.score import MetricScore
from tests.metrics.judged.adk_answers import rubric_verdicts
from tests.metrics.judged.judges import CallFailedError, Repeating
from tests.metrics.recorded import equal, invocations, vectors, view

TYPES = {
    "rubric_based_final_response_quality_v1": "FINAL_RESPONSE_QUALITY",
    "rubric_based_tool_use_quality_v1": "TOOL_USE_QUALITY",
    "rubric_based_multi_turn_trajectory_quality_v1": "TRAJECTORY_QUALITY",
}
CLASSES = {
    "rubric_based_final_response_quality_v1": "proctor.metrics.judged.rubrics.final_response:RubricFinalResponse",
    "rubric_based_tool_use_quality_v1": "proctor.metrics.judged.rubrics.tool_use:RubricToolUse",
    "rubric_based_multi_turn_trajectory_quality_v1": "proctor.metrics.judged.rubrics.trajectory:RubricTrajectory",
}
OF_THE_LAST_TURN = {39, 42, 48, 71, 77, 87, 100}
"""google-adk holds every answer against the list of the last turn; here each against its own (adk-weaknesses 18a)."""

TOO_FEW_VOTES = {
    4,
    5,
    6,
    11,
    12,
    13,
    14,
    15,
    16,
    17,
    18,
    19,
    20,
    25,
    26,
    27,
    28,
    29,
    30,
    31,
    32,
    33,
    34,
    36,
    40,
    43,
    44,
    49,
    51,
    56,
    62,
    65,
    67,
    70,
    73,
    76,
    80,
    83,
    86,
    89,
    97,
    105,
    111,
    112,
    116,
    118,
    120,
    122,
    130,
    132,
    134,
}
"""Samples that give no yes or no for some rubric: google-adk's mean leaves the rubric out; here an error,
if the missing votes could have changed the verdict on some rubric."""
DECIDED_BY_THE_OTHERS = {104}
"""Some of the samples failed, or leave a rubric out. google-adk drops the turn, or the rubric from that sample; here the
other samples decide, whole."""


def recorded(shared: Path) -> list[dict[str, Any]]:
    return vectors(shared, "judge_rubrics.json", 137)


def lists_of(vector: dict[str, Any]) -> list[list[LocatedRubric]]:
    common = with_places(
        [Rubric.model_validate(each) for each in vector["criterion"].get("rubrics", [])], "criterion"
    )
    turns = invocations(vector["actual"]) or []
    return [
        for_turn(common, (), with_places(turn.rubrics, "turn"), TYPES[vector["metric"]]) for turn in turns
    ]


def outputs_of(vector: dict[str, Any]) -> dict[int, list[dict[str, Any]]]:
    """What the judge answered, by turn: of a whole conversation only about the last."""
    count, turns = (
        vector["criterion"]["judge_model_options"].get("num_samples", 5),
        range(len(vector["actual"])),
    )
    asked = turns[-1:] if "multi_turn" in vector["metric"] else turns
    given = iter(vector["judge_outputs"])
    return {turn: [next(given) for _ in range(count)] for turn in asked}


def vote_of(output: dict[str, Any], rubrics: Sequence[LocatedRubric]) -> Checked:
    """One sample as google-adk reads it; without an entry where it finds no verdict."""
    answers = rubric_verdicts(output.get("text", ""), {each.rubric_id: each.text for each in rubrics})
    return [
        {"number": number, "verdict": "yes" if verdict else "no", "rationale": rationale}
        for number, each in enumerate(rubrics, 1)
        for verdict, rationale in [answers.get(each.rubric_id, (None, ""))]
        if verdict is not None
    ]


def aggregated(vector: dict[str, Any], lists: Sequence[Sequence[LocatedRubric]]) -> dict[str, Any]:
    """What our rules make of those votes, where a turn with a failed call has none, as there."""
    found: dict[int, list[RubricResult]] = {}
    for turn, outputs in outputs_of(vector).items():
        if not any("raise" in each for each in outputs):
            found[turn] = rubric_results(lists[turn], [vote_of(each, lists[turn]) for each in outputs])
    scores = [share(found[turn]) if turn in found else None for turn in range(len(lists))]
    return {
        "overall_score": share(each for turn in found.values() for each in turn),
        "scores": scores,
        "rubrics": _rubrics(found, len(lists)),
    }


def _rubrics(found: dict[int, list[RubricResult]], turns: int) -> list[list[tuple[str, float | None, str]]]:
    return [
        [
            (each.rubric_id, each.score, each.tally.rationale)
            for each in found.get(turn, [])
            if each.score is not None
        ]
        for turn in range(turns)
    ]


def theirs(vector: dict[str, Any]) -> dict[str, Any]:
    result = vector["result"]["ok"]
    turns = result["per_invocation"]
    return {
        "overall_score": result["overall_score"],
        "scores": [each["score"] for each in turns],
        "rubrics": [_recorded_scores(each["rubric_scores"]) for each in turns],
    }


def _recorded_scores(scores: Any) -> list[tuple[str, float | None, str]]:
    return [
        (each["rubric_id"], each["score"], each["rationale"])
        for each in scores or []
        if each["score"] is not None
    ]


def same(ours: dict[str, Any], adks: dict[str, Any]) -> bool:
    numbers = all(equal(ours[key], adks[key]) for key in ("overall_score", "scores"))
    return numbers and [sorted(each) for each in ours["rubrics"]] == [
        sorted(each) for each in adks["rubrics"]
    ]


def computed(shared: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    return ((number, each) for number, each in enumerate(recorded(shared)) if "ok" in each["result"])


def test_votes_come_to_the_recorded_scores_or_are_listed(shared: Path) -> None:
    other = {
        number
        for number, each in computed(shared)
        if not same(aggregated(each, lists_of(each)), theirs(each))
    }
    assert other == OF_THE_LAST_TURN


def test_what_is_listed_is_the_list_of_the_last_turn_and_nothing_else(shared: Path) -> None:
    for number, vector in computed(shared):
        lists = lists_of(vector)
        assert same(aggregated(vector, [lists[-1]] * len(lists)), theirs(vector)), number


# --- the metrics themselves ---------------------------------------------------------------------------------------------


def scored(vector: dict[str, Any]) -> tuple[MetricScore, Repeating]:
    """Return the result of the metric for the same outputs in our form; an output without a rubric is not an answer."""
    lists, outputs = lists_of(vector), outputs_of(vector)

    def answer(question: Question[Any], number: int) -> Any:
        assert question.turn is not None
        output = outputs[question.turn][number]
        if "raise" in output:
            raise CallFailedError
        entries = vote_of(output, lists[question.turn])
        return {"verdicts": [{**entry, "evidence": ""} for entry in entries]}

    judges = Repeating(answer)
    metric = load_object(CLASSES[vector["metric"]])(BaseCriterion.model_validate(vector["criterion"]))
    metric.use(judges)
    return asyncio.run(metric.score(view(vector))), judges


def _incomplete(vector: dict[str, Any]) -> bool:
    """Return whether some sample failed, or lacks some rubric of its turn: for us no vote."""
    lists = lists_of(vector)
    return any(
        "raise" in each or len(vote_of(each, lists[turn])) < len(lists[turn])
        for turn, outputs in outputs_of(vector).items()
        for each in outputs
    )


def test_the_metrics_score_as_recorded_where_every_vote_is_whole(shared: Path) -> None:
    compared = 0
    for number, vector in computed(shared):
        if number in OF_THE_LAST_TURN or _incomplete(vector):
            continue
        score, judges = scored(vector)
        expected = theirs(vector)
        assert score.failure is None
        assert equal(score.value, expected["overall_score"]), number
        assert equal([each.value for each in score.per_invocation], expected["scores"]), number
        assert judges.asked <= vector["result"]["judge_calls"]
        compared += 1
    assert compared == 47


@pytest.mark.slow
def test_incomplete_votes_are_an_error_and_never_a_number(shared: Path) -> None:
    """google-adk's mean leaves out what has no verdict; here such a vote does not count, and too few decide nothing."""
    errors, other = set(), set()
    for number, vector in computed(shared):
        if number in OF_THE_LAST_TURN or not _incomplete(vector):
            continue
        score, _ = scored(vector)
        assert (score.value is None) == (score.failure is not None), number
        if score.failure is not None:
            errors.add(number)
        elif not equal(score.value, vector["result"]["ok"]["overall_score"]):
            other.add(number)
    assert errors == TOO_FEW_VOTES
    assert other == DECIDED_BY_THE_OTHERS


def test_what_google_adk_refuses_is_refused_or_left_out(shared: Path) -> None:
    """No rubrics at all, or an id twice: an error. A turn without rubrics among others with some: not applicable."""
    refused = [each for each in recorded(shared) if "error" in each["result"]]
    assert len(refused) == 27
    for vector in refused:
        lists = lists_of(vector)[-1:] if "multi_turn" in vector["metric"] else lists_of(vector)
        ids = [[each.rubric_id for each in one] for one in lists]
        if not any(ids) or any(len(each) != len({*each}) for each in ids):
            with pytest.raises((MetricError, SetupError)):
                scored(vector)
        else:
            assert [] in ids


def test_every_metric_of_the_vectors_is_the_one_that_is_registered(shared: Path) -> None:
    assert {each["metric"] for each in recorded(shared)} == {*CLASSES}
    assert all(METRICS.get(name) is load_object(path) for name, path in CLASSES.items())
