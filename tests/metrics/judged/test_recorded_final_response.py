"""`final_response_match_v2` compared with recordings of google-adk: the same votes, the same scores, or listed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from proctor.errors import MetricError
from proctor.judges.base import Question
from proctor.judges.votes import majority
from proctor.metrics.judged.final_response_match import FinalResponseMatch
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import MetricScore, mean
from tests.metrics.judged.adk_answers import validity
from tests.metrics.judged.judges import CallFailedError, Repeating
from tests.metrics.recorded import equal, vectors, view


def recorded(shared: Path) -> list[dict[str, Any]]:
    return vectors(shared, "judge_final_response_match_v2.json", 84)


def outputs_of(vector: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """What the judge answered, turn by turn."""
    count, given = vector["criterion"]["judge_model_options"]["num_samples"], vector["judge_outputs"]
    return [given[turn * count :][:count] for turn in range(len(vector["actual"]))]


def failed(output: dict[str, Any]) -> bool:
    return "raise" in output or "empty_stream" in output


def votes_of(outputs: list[dict[str, Any]]) -> list[bool]:
    return [each for output in outputs if (each := validity(output.get("text", ""))) is not None]


def test_votes_come_to_the_recorded_scores(shared: Path) -> None:
    """By our majority, where a turn with a failed call has no score, as there."""
    for number, vector in enumerate(recorded(shared)):
        if "error" in vector["result"]:
            continue
        turns = [[] if any(map(failed, each)) else votes_of(each) for each in outputs_of(vector)]
        scores = [float(majority(votes)) if votes else None for votes in turns]
        known = [each for each in scores if each is not None]
        result = vector["result"]["ok"]
        assert equal(scores, [each["score"] for each in result["per_invocation"]]), number
        assert equal(mean(known) if known else None, result["overall_score"]), number


def scored(vector: dict[str, Any]) -> tuple[MetricScore, int]:
    """Return our score for the same answers in our form; an answer that google-adk cannot read is empty."""
    outputs = outputs_of(vector)

    def answer(question: Question[Any], number: int) -> Any:
        output = outputs[question.turn or 0][number]
        if failed(output):
            raise CallFailedError
        valid = validity(output.get("text", ""))
        return {} if valid is None else {"rationale": "r", "verdict": "valid" if valid else "invalid"}

    criterion = {**vector["criterion"], "threshold": 0.5}  # a threshold that nothing fails is refused here
    metric, judges = FinalResponseMatch(BaseCriterion.model_validate(criterion)), Repeating(answer)
    metric.use(judges)
    return asyncio.run(metric.score(view(vector))), judges.asked


def test_the_metric_scores_as_recorded_or_is_listed(shared: Path) -> None:
    errors = set()
    for number, vector in enumerate(recorded(shared)):
        if "error" in vector["result"]:
            continue
        score, asked = scored(vector)
        result = vector["result"]["ok"]
        if score.failure is not None:
            errors.add(number)
        else:
            assert equal(score.value, result["overall_score"]), number
            assert equal(
                [each.value for each in score.per_invocation],
                [each["score"] for each in result["per_invocation"]],
            )
            assert asked <= vector["result"]["judge_calls"]
    assert errors == TOO_FEW_VOTES


TOO_FEW_VOTES = {
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    13,
    14,
    17,
    18,
    21,
    22,
    23,
    24,
    25,
    26,
    27,
    29,
    30,
    32,
    35,
    36,
    37,
    38,
    39,
    40,
    42,
    45,
    46,
    47,
    48,
    49,
    50,
    51,
    54,
    55,
    57,
    60,
    61,
    62,
    63,
    64,
    65,
    66,
    67,
    69,
    70,
    71,
    72,
    73,
    74,
    75,
    76,
    78,
    79,
    80,
}
"""Samples of some turn failed or cannot be read, and could have changed its outcome. google-adk leaves the turn out, or
decides by the others; here an error."""


def test_what_google_adk_refuses_is_refused_or_does_not_apply(shared: Path) -> None:
    refused = [each for each in recorded(shared) if "error" in each["result"]]
    assert len(refused) == 2
    for vector in refused:
        try:
            score, _ = scored(vector)
        except MetricError:
            continue
        assert score.not_applicable or score.failure is not None
