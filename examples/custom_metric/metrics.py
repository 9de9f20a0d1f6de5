"""Two metrics of our own, named in `test_config.json`. Each sees one turn at a time; their mean decides."""

from __future__ import annotations

import re

from proctor import BaseCriterion, Invocation
from proctor.schema import text_of


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


def _numbers(invocation: Invocation | None) -> list[float]:
    text = text_of(invocation.final_response) if invocation else ""
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]
