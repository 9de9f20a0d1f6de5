"""`hallucinations_v1` compared with recordings of google-adk: the same labels give the same score."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.judges.base import Question
from proctor.metrics.judged.hallucinations import Hallucinations, grounded_share
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import mean
from tests.metrics.invocations import turn, view as a_view
from tests.metrics.judged.adk_answers import sentence_labels
from tests.metrics.judged.judges import CallFailedError, Repeating, labels, passages
from tests.metrics.recorded import equal, vectors, view


def recorded(shared: Path) -> list[dict[str, Any]]:
    return vectors(shared, "judge_hallucinations.json", 48)


def answers_judged(vector: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Each answer that the recorded judge was asked about, with the labels that its sentences got."""
    found, given = [], iter(vector["judge_outputs"])
    for segments in given:
        text = segments.get("text", "")
        first = re.search(r"<sentence>(.*?) s0</sentence>", text, re.DOTALL)
        validated: dict[str, Any] = next(given, {}) if "<sentence>" in text else {}
        found.append((first[1] if first else "", sentence_labels(validated.get("text", ""))))
    return found


def requested_answers(vector: dict[str, Any]) -> list[tuple[int, str]]:
    """The turn and text of each answer that our metric asks about."""
    asked: list[tuple[int, str]] = []

    def answer(question: Question[Any], number: int) -> Any:
        shown = passages(question)
        assert question.turn is not None
        (text,) = shown["answer"]
        asked.append((question.turn, text))
        return labels(*["supported" for label in shown if label.startswith("sentence ")])

    metric = Hallucinations(BaseCriterion.model_validate(vector["criterion"] | {"judge_model_options": {}}))
    metric.use(Repeating(answer))
    asyncio.run(metric.score(view(vector)))
    return asked


def test_the_same_answers_are_judged(shared: Path) -> None:
    """Where the segmenter itself failed there, its text is not known; the answer is asked about all the same."""
    for number, vector in enumerate(recorded(shared)):
        theirs = [text for text, _ in answers_judged(vector)]
        ours = [text for _, text in requested_answers(vector)]
        assert len(ours) == len(theirs), number
        assert all(label in {"", text} for label, text in zip(theirs, ours, strict=True)), number


def test_labels_come_to_the_recorded_scores(shared: Path) -> None:
    for number, vector in enumerate(recorded(shared)):
        by_turn: dict[int, list[float | None]] = {}
        for (place, _), (_, found) in zip(requested_answers(vector), answers_judged(vector), strict=True):
            by_turn.setdefault(place, []).append(grounded_share(found))
        scores = [_mean(by_turn.get(place, [])) for place in range(len(vector["actual"]))]
        expected = vector["result"]["ok"]
        assert equal(scores, [each["score"] for each in expected["per_invocation"]]), number
        assert equal(_mean(scores), expected["overall_score"]), number


def _mean(values: list[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return mean(known) if known else None


LEFT_OUT = {1, 2, 6, 7, 8, 9, 18, 19, 20, 22, 23, 24, 25, 37, 39, 41, 43, 47}
"""A call failed, or a sentence has no label: google-adk scores the rest; here that is not an answer."""


def _is_whole(vector: dict[str, Any]) -> bool:
    """Whether every sentence that was sent came back with a label."""
    given: Iterator[dict[str, Any]] = iter(vector["judge_outputs"])
    for segments in given:
        sent = segments.get("text", "").count("<sentence>")
        if not sent or len(sentence_labels(next(given, {}).get("text", ""))) != sent:
            return False
    return True


def test_where_google_adk_leaves_something_out_ours_is_an_error(shared: Path) -> None:
    assert {number for number, vector in enumerate(recorded(shared)) if not _is_whole(vector)} == LEFT_OUT


@pytest.mark.parametrize(
    "reply", [labels("supported"), labels("supported", "fine"), CallFailedError()], ids=repr
)
def test_sentence_without_a_label_is_not_an_answer(reply: Any) -> None:
    def answer(question: Question[Any], number: int) -> Any:
        if isinstance(reply, Exception):
            raise reply
        return reply

    metric = Hallucinations()
    metric.use(Repeating(answer))
    score = asyncio.run(metric.score(a_view([turn("It is sunny. It is warm.")])))
    assert score.value is None
    assert score.failure is not None
    assert score.failure.where == "judge"
