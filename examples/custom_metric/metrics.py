"""Three metrics of our own, named in `test_config.json`: two functions, which see one turn at a time, and a class.

`test_metrics.py` tries them on conversations that metrics stumble over.
"""

from __future__ import annotations

import re

from proctor import BaseCriterion, Invocation
from proctor.metrics.base import CaseView, MetricFacts
from proctor.schema import text_of
from proctor.schema.results.score import MetricScore, Score, mean_score


def response_brevity(
    actual_invocation: Invocation,
    expected_invocation: Invocation | None,  # noqa: ARG001 - the documented signature; what is not used may be left out
    criterion: BaseCriterion,
) -> float:
    """Score 1 for an answer within `max_words` words (an option of the criterion), less the longer it is."""
    most = getattr(criterion, "max_words", 20)
    words = len(text_of(actual_invocation.final_response).split())
    return 1.0 if words <= most else most / words


async def same_numbers(actual_invocation: Invocation, expected_invocation: Invocation | None) -> float:
    """Score 1 if the answer has the numbers of the reference, in any wording; a metric may be async."""
    return float(_numbers(actual_invocation) == _numbers(expected_invocation))


class NamesUnit:
    """Whether an answer with a number names its unit: a class with separate facts, and reasons."""

    facts = MetricFacts(
        name="names_unit", description="Numbers have a unit.", kind="custom", default_threshold=1.0
    )

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        """Take the criterion; this metric has no options."""

    def score(self, case: CaseView) -> MetricScore:
        """Score 1 for each answer whose numbers have a word behind them; one without numbers does not count."""
        return mean_score([_named(text_of(one.final_response)) for one in case.actual])


def _named(answer: str) -> Score:
    if not re.search(r"\d", answer):
        return Score(reason="the answer has no number", not_applicable=True)
    bare = re.search(r"\b\d++(?:\.\d++)?+(?!\s*[^\W\d])", answer)
    return Score(0.0, f"{bare[0]} has no unit") if bare else Score(1.0, "every number has its unit")


def _numbers(invocation: Invocation | None) -> list[float]:
    text = text_of(invocation.final_response) if invocation else ""
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]
