"""Any answer of a judge, or none, gives a score that votes decided, or an error; never a 0 or a pass by default."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from proctor.common.registry import load_object
from proctor.judges.answer_schema import check_schema
from proctor.judges.base import Question, UnusableAnswerError
from proctor.metrics.base import example_of
from proctor.metrics.builtin import METRICS
from proctor.models.base import ModelOptions
from proctor.schema.format.case import ConversationScenario
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import MetricScore
from tests.metrics.invocations import turn, view
from tests.metrics.judged.judges import CallFailedError, Repeating, agreeing

JUDGED = [name for name, path in METRICS.items() if "judge" in load_object(path).facts.needs]
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.floats() | st.sampled_from(["yes", "no", "valid", "safe", "supported", "5", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["verdicts", "sentences", "number", "verdict", "label", "rationale", "grade", "harm", "evidence"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def scored(name: str, answer: Any) -> MetricScore:
    factory = load_object(METRICS[name])
    example = example_of(factory.facts)[name]
    criterion = BaseCriterion.model_validate(example if isinstance(example, dict) else {"threshold": example})
    metric = factory(criterion)
    metric.use(Repeating(answer))
    turns = [turn("It is so. It is not.", [("f", {})]), turn("Yes.")]
    scenario = ConversationScenario(starting_prompt="q", conversation_plan="p")
    found: MetricScore = asyncio.run(metric.score(view(turns, turns, scenario=scenario)))
    return found


def best(question: Question[Any]) -> dict[str, Any]:
    """The answer of a judge that finds nothing wrong."""
    return agreeing((), ModelOptions(schema=question.form.schema))


@pytest.mark.parametrize("name", JUDGED)
def test_a_judge_that_finds_nothing_wrong_passes(name: str) -> None:
    score = scored(name, lambda question, number: best(question))
    assert (score.failure, score.value) == (None, load_object(METRICS[name]).facts.maximum)


@pytest.mark.parametrize("name", JUDGED)
@given(st.data())
@settings(max_examples=10, deadline=None)
def test_any_answer(name: str, data: st.DataObject) -> None:
    def answer(question: Question[Any], number: int) -> Any:
        drawn = data.draw(ANY_JSON)
        try:
            check_schema(question.form.schema, drawn)
            question.form.read(drawn)
        except UnusableAnswerError:
            return drawn
        raise CallFailedError  # a lucky answer: it would be a vote

    score = scored(name, answer)
    assert score.failure is not None
    assert score.value is None
    asked = [each for each in score.per_invocation if not each.not_applicable]
    assert all(each.value is None or name.startswith("per_turn") for each in asked)


def spoiled(answer: dict[str, Any], how: int) -> Any:
    """A good answer with one thing wrong."""
    changed = copy.deepcopy(answer)
    items = next((value for value in changed.values() if isinstance(value, list)), None)
    if items is None or how == 0:
        changed.pop(next(iter(changed)))
    elif how == 1:
        items.pop()
    elif how == 2:
        items.append(items[0])
    elif how == 3:
        items[0].pop("rationale")
    else:
        items[0]["number"] = 0
    return changed


@pytest.mark.parametrize("how", range(5))
@pytest.mark.parametrize("name", JUDGED)
def test_one_thing_wrong_with_every_answer(name: str, how: int) -> None:
    score = scored(name, lambda question, number: spoiled(best(question), how))
    assert score.failure is not None
    assert score.value is None
