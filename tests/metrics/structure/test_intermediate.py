"""`intermediate_response_match`: the texts of agents before the answer."""

from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.common.registry import METRICS
from proctor.errors import CriterionError
from proctor.metrics.text.rouge import rouge_1
from proctor.schema.format.content import Part
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import IntermediateData, Invocation
from tests.metrics.structure.structure_scores import ask, turn

NAME = "intermediate_response_match"
Pairs = list[tuple[str, str]]


def older(texts: Pairs) -> Invocation:
    """What is expected, in the older form: pairs of author and parts."""
    responses = [(author, [Part(text=text)]) for author, text in texts]
    return turn().model_copy(update={"intermediate_data": IntermediateData(intermediate_responses=responses)})


def value(actual: Pairs, expected: Pairs, **options: Any) -> float | None:
    return ask(NAME, [turn(texts=actual)], [older(expected)], **options)[0].value


def why(actual: Pairs, expected: Pairs, **options: Any) -> str:
    return ask(NAME, [turn(texts=actual)], [older(expected)], **options)[1][0].reason


EXPECTED = [("flights", "Three flights to Rome"), ("hotels", "Two hotels")]


@pytest.mark.parametrize(
    ("actual", "options", "score"),
    [
        (EXPECTED, {}, 1.0),
        ([*EXPECTED, ("cars", "One car")], {}, 1.0),
        ([*EXPECTED, ("cars", "One car")], {"measure": "precision"}, 2 / 3),
        ([*EXPECTED, ("cars", "One car")], {"measure": "f"}, 0.8),
        (EXPECTED[:1], {}, 0.5),
        (EXPECTED[:1], {"measure": "precision"}, 1.0),
        ([], {}, 0.0),
        ([], {"measure": "precision"}, 0.0),
        (EXPECTED[::-1], {}, 0.5),
        (EXPECTED[::-1], {"order": False}, 1.0),
        ([("hotels", EXPECTED[0][1]), ("flights", EXPECTED[1][1])], {}, 0.0),
        ([("hotels", EXPECTED[0][1]), ("flights", EXPECTED[1][1])], {"authors": False}, 1.0),
        ([("flights", "I found three"), ("hotels", "Nothing")], {"text": "ignore"}, 1.0),
        ([("flights", "Three flights"), ("hotels", "Two hotels")], {}, (2 / 3 + 1) / 2),
        ([("flights", "Three flights"), ("hotels", " Two hotels\n")], {"text": "exact"}, 0.5),
        ([("flights", "three flights to rome")], {"text": "exact"}, 0.0),
    ],
)
def test_scores(actual: Pairs, options: dict[str, Any], score: float) -> None:
    assert value(actual, EXPECTED, **options) == pytest.approx(score)


@pytest.mark.parametrize(
    ("actual", "options", "reason"),
    [
        (EXPECTED, {}, "every expected intermediate response was given"),
        (EXPECTED[:1], {}, 'the response "Two hotels" of hotels is missing'),
        (
            [EXPECTED[0], ("flights", "Two hotels")],
            {},
            '"Two hotels" came from flights, expected from hotels',
        ),
        (EXPECTED[::-1], {}, "was given in another place, or not as often"),
        (
            [("flights", "Three flights"), EXPECTED[1]],
            {},
            'flights responded "Three flights", expected "Three flights to Rome" (similarity 0.67)',
        ),
        (
            [*EXPECTED, ("cars", "One car")],
            {"measure": "f"},
            'the response "One car" of cars was not expected',
        ),
    ],
)
def test_reasons(actual: Pairs, options: dict[str, Any], reason: str) -> None:
    assert reason in why(actual, EXPECTED, **options)


def test_details_list_the_author_of_each_text() -> None:
    _, (explained,) = ask(NAME, [turn(texts=EXPECTED[:1])], [older(EXPECTED)])
    details = explained.details or {}
    assert [step["kind"] for step in details["responses"]] == ["matched", "missing"]
    assert details["text"] == {
        "expected": "flights: Three flights to Rome\nhotels: Two hotels",
        "actual": "flights: Three flights to Rome",
    }


@pytest.mark.parametrize("author", ["", "model"])
def test_role_in_place_of_an_author_matches_any_author(author: str) -> None:
    assert value([("hotels", "Two hotels")], [(author, "Two hotels")]) == 1.0


def test_expectations_may_be_events_and_only_intermediate_texts_count() -> None:
    expected = turn("Done.", [("hotels", "search", {})], texts=EXPECTED)
    assert ask(NAME, [turn(texts=EXPECTED)], [expected])[0].value == 1.0
    final = turn(
        "Done.", texts=[("hotels", "Done.")]
    )  # an answer that keeps its content, for it also calls a tool
    assert ask(NAME, [final], [older([("hotels", "Done.")])])[0].value == 0.0
    thinking = older([])
    assert isinstance(thinking.intermediate_data, IntermediateData)
    thinking.intermediate_data.intermediate_responses = [("a", [Part(text="Hm.", thought=True)])]
    assert ask(NAME, [turn(texts=EXPECTED)], [thinking])[0].not_applicable


def test_a_turn_that_states_none_is_not_applicable() -> None:
    score, _ = ask(NAME, [turn(texts=EXPECTED), turn(texts=EXPECTED)], [older([]), older(EXPECTED)])
    assert [each.value for each in score.per_invocation] == [None, 1.0]
    assert score.value == 1.0
    assert ask(NAME, [turn(texts=EXPECTED)], None)[0].not_applicable


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "ignore", "authors": False}, "nothing is compared"),
        ({"text": "same"}, "text: Input should be 'rouge', 'exact' or 'ignore'"),
        ({"author": True}, "Did you mean 'authors'"),
    ],
)
def test_mistakes_of_the_criterion(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CriterionError, match=message):
        METRICS.get(NAME)(BaseCriterion(threshold=0.5, **options))


TEXTS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x y z", "x y", "z", "w"])), max_size=4)


def likeness(wanted: tuple[str, str], made: tuple[str, str]) -> float:
    return rouge_1(wanted[1], made[1]).fmeasure if wanted[0] == made[0] else 0.0


def best_of_all(expected: Pairs, actual: Pairs, *, order: bool) -> float:
    """The most that any way of pairing gives, by trying all."""
    best = 0.0
    for size in range(min(len(expected), len(actual)) + 1):
        ways = combinations(range(len(actual)), size) if order else permutations(range(len(actual)), size)
        for made in ways:
            for wanted in combinations(range(len(expected)), size):
                total = sum(likeness(expected[i], actual[j]) for i, j in zip(wanted, made, strict=True))
                best = max(best, total)
    return best


@given(TEXTS, TEXTS.filter(bool), st.booleans())
def test_the_pairs_are_the_best_there_are(actual: Pairs, expected: Pairs, order: bool) -> None:
    best = best_of_all(expected, actual, order=order)
    assert value(actual, expected, order=order) == pytest.approx(best / len(expected), abs=1e-6)


@given(TEXTS.filter(bool), TEXTS)
def test_what_was_expected_matches_itself_and_more_costs_nothing(texts: Pairs, more: Pairs) -> None:
    assert value(texts, texts) == 1.0
    assert value([*texts, *more], texts) == pytest.approx(1.0)
    assert value([*more, *texts], texts) == pytest.approx(1.0)
