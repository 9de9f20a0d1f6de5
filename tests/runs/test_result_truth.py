"""`assert` of everything that the public functions return fails where the agent fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

import proctor

TURN = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}
SET = {"eval_set_id": "set", "eval_cases": [{"eval_id": "one", "conversation": [TURN]}]}
METRIC = "response_match_score"
CRITERIA = {"criteria": {METRIC: 0.8}}


def good(_: str) -> str:
    return "hello"


def bad(_: str) -> str:
    return "no idea"


RESULTS: dict[str, Callable[[proctor.RunResult], object]] = {
    "the run": lambda run: run,
    "its outcome": lambda run: run.outcome,
    "a case": lambda run: run.cases[0],
    "the outcome of a case": lambda run: run.cases[0].outcome,
    "the status of a case": lambda run: run.cases[0].status,
    "a metric": lambda run: run.cases[0].metrics[METRIC],
    "an invocation": lambda run: run.cases[0].metrics[METRIC].per_invocation[0],
    "the outcome of a metric in a trial": lambda run: run.cases[0].metrics[METRIC].outcome_in(0),
    "a trial": lambda run: run.cases[0].trials[0],
    "the outcome of a trial": lambda run: run.cases[0].trials[0].outcome,
}


@pytest.mark.parametrize("part", RESULTS.values(), ids=RESULTS)
def test_of_a_run(part: Callable[[proctor.RunResult], object]) -> None:
    assert part(proctor.evaluate_sync(good, SET, config=CRITERIA))
    assert not part(proctor.evaluate_sync(bad, SET, config=CRITERIA))


@pytest.mark.parametrize(("text", "expected"), [("hello", True), ("no idea", False)])
def test_of_scores(text: str, expected: bool) -> None:
    actual = {**TURN, "final_response": {"parts": [{"text": text}]}}
    scores = proctor.score_sync(actual, TURN, criteria=CRITERIA)
    assert bool(scores) is bool(scores[METRIC]) is expected


def test_of_several_agents() -> None:
    assert asyncio.run(proctor.evaluate_matrix([good, good], SET, config=CRITERIA))
    assert not asyncio.run(proctor.evaluate_matrix([good, bad], SET, config=CRITERIA))
