"""`proctor.testing.check_metric`: what it lets pass, and what it finds."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proctor.metrics.base import CaseView, MetricFacts, example_of
from proctor.metrics.builtin import METRICS
from proctor.schema.format.content import text_of
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import Explanation, MetricScore, Score
from proctor.testing import check_metric, sample_views
from tests.metrics.judged.judges import agreeing

AVAILABLE = [*METRICS]


@pytest.mark.nightly(check=10)
@pytest.mark.parametrize("name", [name for name in AVAILABLE if name != "weighted"])
def test_every_built_in_metric_passes_the_check(name: str) -> None:
    assert check_metric(name, judge=agreeing)


def short(actual: Invocation) -> float:
    """Answers are short."""
    return 1.0 if len(text_of(actual.final_response)) < 40 else 0.0


async def same(actual: Invocation, expected: Invocation) -> bool:
    """The answer is the reference."""
    return actual.final_response == expected.final_response


@pytest.mark.parametrize("function", [short, same])
def test_a_function_that_is_right(function: Any) -> None:
    scores = check_metric(function)
    assert scores["as expected"].value == 1.0
    assert scores["no turns"].not_applicable


class Right:
    """A metric class that is right; the wrong ones below differ in one thing."""

    facts = MetricFacts(name="mine", description="Mine.", default_threshold=0.5, kind="custom")

    def __init__(self, criterion: Any = None) -> None:
        self.asked = 0

    def score(self, case: CaseView) -> Any:
        return MetricScore(0.5, [Score(0.5) for _ in case.actual])


def test_a_class_that_is_right() -> None:
    assert check_metric(Right)["several turns"].value == 0.5
    assert check_metric(Right()) == check_metric(Right, 0.7)


class OutOfRange(Right):
    def score(self, case: CaseView) -> Any:
        return MetricScore(1.5)


class NotANumber(Right):
    def score(self, case: CaseView) -> Any:
        return MetricScore(0.0, [Score(float("nan")) for _ in case.actual])


class Undecided(Right):
    def score(self, case: CaseView) -> Any:
        return MetricScore()


class Silent(Right):
    def score(self, case: CaseView) -> Any:
        return MetricScore(not_applicable=True)


class Miscounting(Right):
    def score(self, case: CaseView) -> Any:
        return MetricScore(0.5, [Score(0.5)])


class Counting(Right):
    def score(self, case: CaseView) -> Any:
        self.asked += 1
        return MetricScore(self.asked / 1000)


class Meddling(Right):
    def score(self, case: CaseView) -> Any:
        for one in case.actual:
            one.final_response = None
        return MetricScore(0.5)


class Stumbling(Right):
    def score(self, case: CaseView) -> Any:
        turns: Any = case.actual  # not every turn has an answer: that is the mistake
        return MetricScore(sum(len(one.final_response.parts) for one in turns) / 10)


class Bare(Right):
    def score(self, case: CaseView) -> Any:
        return 0.5


class Unprintable(Right):
    def score(self, case: CaseView) -> Any:
        return MetricScore(0.5, details={"case": case})


class Wordless(Right):
    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        return Explanation("")


class Nameless(Right):
    facts = MetricFacts(name="mine", description="", default_threshold=2.0)


@pytest.mark.parametrize(
    ("metric", "problem"),
    [
        (OutOfRange, "as expected: it: 1.5 is outside its range of 0 to 1"),
        (NotANumber, "as expected: turn 1: nan is not a score"),
        (Undecided, "as expected: it: there is no score; use `not_applicable=True` with a reason"),
        (Silent, "as expected: it: it does not apply, and gives no reason"),
        (Miscounting, "no turns: it gave 1 scores for 0 turns"),
        (Counting, "when it was asked again"),
        (Meddling, "as expected: it changed what it was given"),
        (Stumbling, "no answer: it raised AttributeError"),
        (Bare, "as expected: it returned float, not a MetricScore"),
        (Unprintable, "as expected: it: its details are no JSON"),
        (Wordless, "the explanation of turn 1 gives no reason"),
        (Nameless, "facts: state in one sentence what it measures"),
        (Nameless, "facts: the default threshold 2 decides nothing within the range"),
    ],
)
def test_common_mistakes_are_reported(metric: Any, problem: str) -> None:
    with pytest.raises(AssertionError) as caught:
        check_metric(metric)
    assert problem in str(caught.value)


def test_metric_with_a_model_may_vary() -> None:
    assert check_metric(Counting, deterministic=False)


def test_views_of_ones_own() -> None:
    view = sample_views(Right.facts)["as expected"]
    assert "mine too" in check_metric(Right, views={"mine too": view})


@pytest.mark.slow
def test_the_sample_package_tries_its_metrics(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "examples/custom_metric"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout


def test_a_metric_that_needs_no_record_is_tried_without_one() -> None:
    assert "nothing recorded" in check_metric("known_tools", example_of(Right.facts)["mine"])
    assert "nothing recorded" not in check_metric("exact_match")
